// Package integrity holds the rules for references between resources, and for the deletion of
// their targets.
package integrity

import "github.com/gatehouse-io/gatehouse/core/fault"

// Target identifies a resource of an organisation.
type Target struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// Ref is a reference in a resource, its holder.
type Ref struct {
	Target
	Field    string `json:"field"` // JSON path of the reference in the holder
	OnDelete Rule   `json:"on_delete"`
}

// Rule says what happens when the target is deleted.
type Rule uint8

// The rules of deletion.
const (
	Restrict Rule = iota // the target cannot be deleted while a holder refers to it
	Tolerate             // nothing: the reference dangles
)

// Dangling returns a fault for the first reference to an unknown target. References with the
// rule Tolerate are ignored.
func Dangling(refs []Ref, exists func(Target) bool) error {
	for _, r := range refs {
		if r.OnDelete != Tolerate && !exists(r.Target) {
			return fault.New(fault.Invalid, "reference.dangling", "%s %q does not exist", r.Kind, r.ID).At(r.Field)
		}
	}
	return nil
}
