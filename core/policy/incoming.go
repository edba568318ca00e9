package policy

import (
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Incoming is a complete policy from a file or another control plane.
type Incoming struct {
	Draft
	// Names are the identifiers by which the same policy may be stored already, the preferred one
	// first.
	Names []string
}

// NewIncoming parses an incoming policy. A database ID of another form counts as absent, and
// becomes the id if there is none.
func NewIncoming(text []byte) (Incoming, error) {
	d, err := NewDraft(text)
	if err != nil {
		return Incoming{}, err
	}
	in := Incoming{Draft: d}
	for _, name := range []string{d.node.Get("id").Text(), d.ID()} {
		if name != "" {
			in.Names = append(in.Names, name)
		}
	}
	if !shape.IsObjectID(d.ID()) {
		if d.ID() != "" && d.node.Get("id").Text() == "" {
			d.node.Set("id", d.node.Get("_id"))
		}
		d.node.Delete("_id")
	}
	return in, nil
}

// New makes a new policy. The policy's own times stay. id is the database ID, unless the
// policy has one that no stored policy has.
func (in Incoming) New(id string, org tenant.ID, now time.Time, r Checks) (Policy, error) {
	p, err := New(id, org, now, in.Draft, r)
	if err != nil {
		return p, err
	}
	n, err := p.Node()
	if err != nil {
		return p, err
	}
	in.date(n)
	return Load(n.JSON())
}

// Over makes the policy that replaces a stored one. If it has no time of the last change, the
// stored time stays unless there is another difference.
func (in Incoming) Over(old Policy, now time.Time, r Checks) (Policy, error) {
	p, err := old.Replace(in.Draft, now, r)
	if err != nil {
		return p, err
	}
	n, err := p.Node()
	if err != nil {
		return p, err
	}
	before, err := old.Node()
	if err != nil {
		return p, err
	}
	if stamped := n.Get("last_updated"); !in.date(n) && before.Get("last_updated") != nil {
		if n.Set("last_updated", before.Get("last_updated")); !n.Equal(before) {
			n.Set("last_updated", stamped)
		}
	}
	return Load(n.JSON())
}

// date sets the policy's own times in a document, and reports whether the time of the last
// change is among them.
func (in Incoming) date(n *doc.Node) bool {
	if v := in.node.Get("date_created"); v.Is(doc.TypeString) {
		if _, err := time.Parse(time.RFC3339Nano, v.Text()); err == nil {
			n.Set("date_created", v)
		}
	}
	v := in.node.Get("last_updated")
	brings := v.Is(doc.TypeString) && v.Text() != ""
	if brings {
		n.Set("last_updated", v)
	}
	return brings
}

// CheckIncoming returns all values in an incoming policy that a gateway could not decode. A
// database ID of another form counts as absent.
func CheckIncoming(n *doc.Node) []shape.Problem {
	n = n.Clone()
	if n.Get("_id").Is(doc.TypeString) {
		n.Delete("_id")
	}
	return Table.Check(n)
}

// Same reports whether two policies are equal except for order and spelling.
func (p Policy) Same(q Policy) bool {
	x, errX := p.Node()
	y, errY := q.Node()
	return errX == nil && errY == nil && x.Equal(y)
}
