// Package integrity holds the rules about references between resources: what a
// reference is, and what deleting its target means.
package integrity

import "github.com/gatehouse-io/gatehouse/core/fault"

// Target names a resource inside one organisation.
type Target struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// Ref is a reference held by a resource.
type Ref struct {
	Target
	Field    string `json:"field"` // JSON path of the reference in the holder
	OnDelete Rule   `json:"on_delete"`
}

// Rule says what happens to the holder when the target goes.
type Rule uint8

// The rules of deletion.
const (
	Restrict Rule = iota // the target stays as long as it is referred to
	Tolerate             // nothing: the reference dangles
)

// Dangling returns a fault that names the first reference to an unknown target.
// References with the rule Tolerate never count.
func Dangling(refs []Ref, exists func(Target) bool) error {
	for _, r := range refs {
		if r.OnDelete != Tolerate && !exists(r.Target) {
			return fault.New(fault.Invalid, "reference.dangling", "%s %q does not exist", r.Kind, r.ID).At(r.Field)
		}
	}
	return nil
}
