package synchronise

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Providers returns the dashboard of a portal's provider by its number.
type Providers func(ctx context.Context, portal tenant.Scope, id table.ID) (Provider, error)

// Carrier is a record with a policy at a dashboard: a product or a plan.
type Carrier[T any] interface {
	table.Row[T]
	Record() sync.Record
	Take(r sync.Record) T
}

// carried is what a write has done at the dashboard before it is stored.
type carried struct {
	provider  Provider
	seen, now sync.Record // the stored record and the record to store
	made      bool        // a policy was created
}

// keeper synchronises the policies of a kind of records with the changes of administrators.
type keeper[T Carrier[T]] struct {
	kind      *store.Kind[T]
	providers Providers
	of        func(T) table.ID // the provider of a record
}

// Hooks send administrators' changes of a record to the dashboard of its provider before they
// are stored; changes that concern only the portal make no call. If a write is interrupted in
// between, the next run completes it: a policy without a record becomes a record, a record
// without its policy is hidden. A hook that calls these hooks must preserve Change.Memo.
func Hooks[T Carrier[T]](kind *store.Kind[T], providers Providers, provider func(T) table.ID) portal.Hooks[T] {
	k := keeper[T]{kind, providers, provider}
	return portal.Hooks[T]{Turn: k.turn, Prepare: k.prepare, Failed: k.failed, Before: k.before, After: k.after}
}

// wanted returns the new state of a record in a write, and its provider.
func (k keeper[T]) wanted(c *portal.Change[T]) (want sync.Record, of table.ID) {
	if c.Op != store.Deleted {
		return c.New.Record(), k.of(c.New)
	}
	want = c.Old.Record()
	want.Deleted = true
	return want, k.of(c.Old)
}

// turn blocks synchronisation runs during a write that calls the dashboard: a run that begins
// between the policy and the record would create a second record.
func (k keeper[T]) turn(ctx context.Context, c *portal.Change[T], write func(context.Context) error) error {
	want, of := k.wanted(c)
	if !want.Pending() {
		return write(ctx)
	}
	p, err := k.providers(ctx, c.Scope, of)
	if err != nil {
		return err
	}
	return p.InTurn(ctx, write)
}

func (k keeper[T]) prepare(ctx context.Context, c *portal.Change[T]) error {
	was := sync.Record{}
	if c.Op != store.Created {
		was = c.Old.Record()
	} else if err := c.Store.View(ctx, c.Scope, func(r store.Reader) error { return k.apart(ctx, r, c) }); err != nil {
		return err
	}
	want, of := k.wanted(c)
	if !want.Pending() {
		return nil
	}
	p, err := k.providers(ctx, c.Scope, of)
	if err != nil {
		return err
	}
	now, made, err := Carry(ctx, p, want)
	if err == nil && want.Agreed == nil && !made {
		// The policy existed before. It may belong to a record that was renamed in the portal
		// while the dashboard did not answer.
		err = c.Store.View(ctx, c.Scope, func(r store.Reader) error {
			for other, err := range k.kind.Find(ctx, r, store.Query{}) {
				if err != nil {
					return err
				}
				if o := other.Value.Record(); o.CID != now.CID && o.Ref.ObjectID == now.Ref.ObjectID {
					return fault.New(fault.Invalid, sync.CodeShared, "another %s of the portal has the policy %s: choose another name", now.Kind, now.Terms.Name)
				}
			}
			return nil
		})
	}
	if err != nil {
		return Explain(err)
	}
	c.Memo = carried{p, was, now, made && c.Op == store.Created}
	return nil
}

// apart refuses a CID that a record of the other kind has: synchronisation identifies products
// and plans by it.
func (k keeper[T]) apart(ctx context.Context, r store.Reader, c *portal.Change[T]) error {
	base := c.New.Table().Base(&c.New)
	for _, kind := range []string{catalogue.ProductKind, catalogue.PlanKind} {
		taken, err := portal.HasCID(ctx, r, kind, base.CID)
		if err != nil {
			return err
		}
		if taken && kind != k.kind.Name {
			return table.Problems{"CID has already been taken"}.Err()
		}
	}
	return nil
}

// Explain converts an error of the dashboard into a fault for the administrator.
func Explain(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind != fault.Unavailable {
		return err
	}
	for _, known := range []error{dashboard.ErrGone, dashboard.ErrRefused, dashboard.ErrChanged, dashboard.ErrUnreachable} {
		if errors.Is(err, known) {
			return fault.New(fault.Invalid, CodeCarry, "%s", err.Error()).Because(err)
		}
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return fault.New(fault.Invalid, CodeCarry, "%s", f.Message).Because(err)
	}
	return err
}

// before copies the state agreed with the dashboard into the record. If the record has changed
// meanwhile it stays as it is: the next run updates the dashboard.
func (k keeper[T]) before(ctx context.Context, w store.Writer, c *portal.Change[T]) error {
	if c.Op == store.Created {
		if err := k.apart(ctx, w, c); err != nil {
			return err
		}
	}
	m, ok := c.Memo.(carried)
	switch {
	case !ok, c.Op == store.Deleted:
	case c.Op == store.Created, c.Old.Record().Equal(m.seen):
		c.New = c.New.Take(m.now)
	}
	return nil
}

// after removes a deleted record from synchronisation: its policy is gone.
func (k keeper[T]) after(ctx context.Context, w store.Writer, c *portal.Change[T]) error {
	if c.Op != store.Deleted {
		return nil
	}
	_, err := k.kind.Edit(ctx, w, k.kind.ID(c.Old), nil, func(v T) (T, error) {
		r := v.Record()
		r.Ref, r.Agreed = sync.Ref{}, nil
		return v.Take(r), nil
	})
	return err
}

// failed deletes a new policy whose record was not stored, unless it was stored after all: the
// answer of the store may have been lost.
func (k keeper[T]) failed(ctx context.Context, c *portal.Change[T]) {
	m, ok := c.Memo.(carried)
	if !ok || !m.made {
		return
	}
	err := c.Store.View(ctx, c.Scope, func(r store.Reader) error {
		_, err := portal.Find(ctx, r, k.kind, m.now.CID)
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		_ = m.provider.Dashboard.Delete(ctx, m.now.Ref) // if this fails, the next run finds the policy
	}
}
