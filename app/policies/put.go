package policies

import (
	"context"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CheckTypes says everything in a policy that comes from somewhere else and that
// a gateway could not decode. A database ID of another form counts as absent.
func CheckTypes(n *doc.Node) []shape.Problem {
	n = n.Clone()
	if n.Get("_id").Is(doc.TypeString) {
		n.Delete("_id")
	}
	return policy.Table.Check(n)
}

// Put stores a policy that comes whole from somewhere else inside the unit of work of
// one organisation: over the one with the same id, or else the same _id, or else
// as a new one, under its _id if that is free. Times that it brings stay. The operation
// is empty when nothing changes: what is stored already is not written again.
func (s *Service) Put(ctx context.Context, w store.Writer, org tenant.ID, text []byte) (store.Op, error) {
	d, err := policy.NewDraft(text)
	if err != nil {
		return "", err
	}
	n, err := doc.ParseNode(text)
	if err != nil {
		return "", err
	}
	old, err := stored(ctx, w, n.Get("id").Text(), d.ID())
	if err != nil {
		return "", err
	}
	l := newLookup(s.APIs, apidef.Viewer{All: true})
	if err := l.fetch(ctx, w, d.APIs()); err != nil {
		return "", err
	}
	p, err := s.incoming(ctx, w, old, org, n, s.rules(l))
	if err != nil {
		return "", err
	}
	switch {
	case old == nil:
		return store.Created, taken(Kind.Insert(ctx, w, p))
	case same(*old, p):
		return "", nil
	}
	_, err = Kind.Edit(ctx, w, old.ID(), nil, func(policy.Policy) (policy.Policy, error) { return p, nil })
	return store.Updated, taken(err)
}

// stored returns the policy with an id or, if there is none, with a database ID.
func stored(ctx context.Context, r store.Reader, id, databaseID string) (*policy.Policy, error) {
	for _, name := range []string{id, databaseID} {
		if name == "" {
			continue
		}
		p, err := Kind.Get(ctx, r, name)
		if err == nil {
			return &p.Value, nil
		}
		if fault.KindOf(err) != fault.NotFound {
			return nil, err
		}
	}
	return nil, nil
}

// incoming makes the policy that is stored: a new one, or a replacement.
func (s *Service) incoming(ctx context.Context, r store.Reader, old *policy.Policy, org tenant.ID, n *doc.Node, rules policy.Rules) (p policy.Policy, err error) {
	now := s.Now()
	n = n.Clone()
	wanted := strings.ToLower(n.Get("_id").Text())
	if !shape.IsObjectID(wanted) {
		if wanted != "" && n.Get("id").Text() == "" {
			n.Set("id", n.Get("_id"))
		}
		n.Delete("_id")
		wanted = ""
	}
	if old == nil && wanted != "" {
		if _, err := Kind.Get(ctx, r, wanted); fault.KindOf(err) != fault.NotFound {
			n.Delete("_id")
		}
	}
	d, err := policy.NewDraft(n.JSON())
	if err != nil {
		return p, err
	}
	if old == nil {
		p, err = policy.New(s.NewID(), org, now, d, rules)
	} else {
		p, err = old.Replace(d, now, rules)
	}
	if err != nil {
		return p, err
	}
	return dated(p, old, n)
}

// dated gives a policy the times that it brings, and leaves the time of the last
// change alone if there is none: a new one is only worth a change.
func dated(p policy.Policy, old *policy.Policy, given *doc.Node) (policy.Policy, error) {
	n, err := p.Node()
	if err != nil {
		return p, err
	}
	if v := given.Get("date_created"); v.Is(doc.TypeString) {
		if _, err := time.Parse(time.RFC3339Nano, v.Text()); err == nil {
			n.Set("date_created", v)
		}
	}
	if v := given.Get("last_updated"); v.Is(doc.TypeString) && v.Text() != "" {
		n.Set("last_updated", v)
		return policy.Load(n.JSON())
	}
	if old == nil {
		return policy.Load(n.JSON())
	}
	before, err := old.Node()
	if err != nil {
		return p, err
	}
	if now, then := n.Get("last_updated"), before.Get("last_updated"); then != nil {
		if n.Set("last_updated", then); !n.Equal(before) {
			n.Set("last_updated", now)
		}
	}
	return policy.Load(n.JSON())
}

// same reports whether two policies say the same, in whatever order and spelling.
func same(a, b policy.Policy) bool {
	x, errX := a.Node()
	y, errY := b.Node()
	return errX == nil && errY == nil && x.Equal(y)
}
