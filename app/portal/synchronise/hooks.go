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

// Providers finds the dashboard of a provider of a portal by its number.
type Providers func(ctx context.Context, portal tenant.Scope, id table.ID) (Provider, error)

// Carrier is a record that has a policy at a dashboard: a product, a plan.
type Carrier[T any] interface {
	table.Row[T]
	Record() sync.Record
	Take(r sync.Record) T
}

// carried is what a write has done at the dashboard before it is stored.
type carried struct {
	provider  Provider
	seen, now sync.Record // the record as it was stored and, if all goes well, will be
	made      bool        // a policy that was not there before
}

// keeper keeps the policies of a kind of records in step with what administrators do.
type keeper[T Carrier[T]] struct {
	kind      *store.Kind[T]
	providers Providers
	of        func(T) table.ID // the provider of a record
}

// Hooks carry what administrators do with a record to the dashboard of its provider
// before it is stored; what concerns the portal alone makes no call. A write that ends
// between the two is finished by the next run: a policy without its record becomes one,
// a record without its policy is hidden. A hook that calls these keeps Change.Memo.
func Hooks[T Carrier[T]](kind *store.Kind[T], providers Providers, provider func(T) table.ID) portal.Hooks[T] {
	k := keeper[T]{kind, providers, provider}
	return portal.Hooks[T]{Turn: k.turn, Prepare: k.prepare, Failed: k.failed, Before: k.before, After: k.after}
}

// wanted returns what a write wants of a record, and its provider.
func (k keeper[T]) wanted(c *portal.Change[T]) (want sync.Record, of table.ID) {
	if c.Op != store.Deleted {
		return c.New.Record(), k.of(c.New)
	}
	want = c.Old.Record()
	want.Deleted = true
	return want, k.of(c.Old)
}

// turn keeps runs of the synchronisation away from a write that the dashboard hears of:
// one that begins between the policy and the record would make a record of its own.
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
		// The policy was there. One that was renamed in the portal while the dashboard did not
		// answer may have it.
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

// apart refuses a CID that a record of the other kind has: synchronisation knows products
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

// Explain says to the administrator why the dashboard has not taken a change.
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

// before puts what both sides have agreed on into the record. When the record has
// changed meanwhile it keeps what it says now: the next run tells the dashboard.
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

// after ends what synchronisation has to do with a deleted record: its policy is gone.
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

// failed takes a policy back whose record was not stored, unless it was stored after all:
// the answer of the store may have been lost.
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
		_ = m.provider.Dashboard.Delete(ctx, m.now.Ref) // what stays, the next run finds
	}
}
