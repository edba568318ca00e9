package identity_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// pieces is a store that notes how many records each unit of work removes, and calls
// before at the start of each.
type pieces struct {
	store.Store
	removed []int
	before  func(unit int)
}

type countingWriter struct {
	store.Writer
	n *int
}

func (w countingWriter) Delete(ctx context.Context, kind, id string) error {
	*w.n++
	return w.Writer.Delete(ctx, kind, id)
}

func (p *pieces) Update(ctx context.Context, s tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	if p.before != nil {
		p.before(len(p.removed))
	}
	n := 0
	rev, err := p.Store.Update(ctx, s, func(w store.Writer) error {
		n = 0
		return fn(countingWriter{w, &n})
	})
	p.removed = append(p.removed, n)
	return rev, err
}

// purging returns a house in which an organisation has n users, the store that counts,
// and a function that deletes the organisation.
func purging(t *testing.T, n int) (*house, *pieces, func(query string) error) {
	h := open(t)
	h.organisation(t, acme)
	h.organisation(t, other)
	for i := range n {
		h.user(t, fmt.Sprintf(`{"org_id":%q,"email_address":"u%d@acme.example"}`, acme, i))
	}
	h.user(t, fmt.Sprintf(`{"org_id":%q,"email_address":"u@other.example"}`, other))
	p := &pieces{Store: h.Store}
	tools := crud.Tools{Store: p, NewID: h.NewID, Now: h.Now, PageSize: 2, Kinds: []string{"organisation", "user", "never"}}
	for _, o := range identity.Organisations(nil, nil).Registration().Operations(tools) {
		if o.ID == "admin.organisations.delete" {
			h.ops[o.ID] = o
		}
	}
	return h, p, func(query string) error {
		_, err := h.ask(t, "admin.organisations.delete", operation.Call{Scope: tenant.Everyone("test"), Path: map[string]string{"orgID": acme}, Query: map[string][]string{"purge": {query}}}, "")
		return err
	}
}

func (h *house) users(t *testing.T) (n int) {
	t.Helper()
	if err := h.Store.View(t.Context(), tenant.Everyone("test"), func(r store.Reader) (err error) {
		n, err = r.Count(t.Context(), store.Query{Kind: "user"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPurge: a purge removes records in batches, touches no other organisation, and
// continues where it stopped.
func TestPurge(t *testing.T) {
	h, p, remove := purging(t, 250)
	wants(t, remove("false"), 0, "")
	if n := h.users(t); n != 251 {
		t.Errorf("%d users stay, want all", n)
	}
	wants(t, remove("true"), 0, "")
	if n := h.users(t); n != 1 {
		t.Errorf("%d users stay, want the one of the other organisation", n)
	}
	for i, n := range p.removed {
		if n > 100 {
			t.Errorf("unit of work %d removes %d records", i, n)
		}
	}
	wants(t, remove("true"), fault.NotFound, "organisation.not_found")
}

// TestPurgeOfWhatComesBack: a purge stops as soon as the organisation exists again.
func TestPurgeOfWhatComesBack(t *testing.T) {
	h, p, remove := purging(t, 250)
	p.before = func(unit int) {
		if unit == 3 { // after the organisation, the remaining records of its kind, and its first hundred users
			h.organisation(t, acme)
		}
	}
	wants(t, remove("true"), fault.Conflict, "organisation.purge")
	if n := h.users(t); n != 151 {
		t.Errorf("%d users stay, want 151", n)
	}
}
