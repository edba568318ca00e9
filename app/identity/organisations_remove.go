package identity

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

const (
	codePurge = identity.OrganisationKind + ".purge"
	// purgeAtOnce is how many records one unit of work removes: other writers get their
	// turn in between.
	purgeAtOnce = 100
)

type removeIn struct {
	ID    string `path:"orgID" doc:"Identifier of the organisation."`
	Purge bool   `query:"purge" doc:"true: all records of the organisation are removed as well."`
	Match operation.Match
}

// Remove deletes an organisation and, if the request asks for it, all records that
// belong to it.
func (o organisationRows) Remove(ctx context.Context, in removeIn) (operation.Receipt, error) {
	if in.Purge && store.Rehearsing(ctx) {
		return operation.Receipt{}, fault.New(fault.Invalid, codePurge, "a purge cannot be rehearsed; leave out purge or dry_run").At("purge")
	}
	scope, err := tenant.Of(tenant.ID(in.ID))
	if err != nil {
		return operation.Receipt{}, err
	}
	_, err = o.Store.Update(ctx, scope, func(w store.Writer) error {
		_, err := organisations.Delete(ctx, w, in.ID, in.Match.Check)
		return err
	})
	if in.Purge && (err == nil || fault.KindOf(err) == fault.NotFound) {
		n, failed := o.purge(ctx, scope)
		if failed != nil || n > 0 {
			err = failed
		}
		if err == nil && o.purged != nil {
			err = o.purged(ctx, scope)
		}
	}
	return operation.Receipt{Message: o.Words.Deleted}, err
}

// Exists reports whether an organisation exists.
func Exists(ctx context.Context, st store.Store, org tenant.ID) (there bool, err error) {
	scope, err := tenant.Of(org)
	if err != nil {
		return false, err
	}
	err = st.View(ctx, scope, func(r store.Reader) error {
		_, err := organisations.Get(ctx, r, string(org))
		there = err == nil
		return fault.AbsentFine(err)
	})
	return there, err
}

// purge removes the records of an organisation that is gone, and returns how many
// there were. It stops when somebody has created the organisation anew meanwhile.
func (o organisationRows) purge(ctx context.Context, scope tenant.Scope) (n int, err error) {
	for _, kind := range o.Kinds {
		for more := true; more; {
			var ids []string
			_, err := o.Store.Update(ctx, scope, func(w store.Writer) error {
				ids = nil
				switch _, err := organisations.Get(ctx, w, string(w.Scope().Org())); {
				case err == nil:
					return fault.New(fault.Conflict, codePurge, "the organisation was created anew meanwhile; delete it again to purge it")
				case fault.KindOf(err) != fault.NotFound:
					return err
				}
				for rec, err := range w.Scan(ctx, store.Query{Kind: kind, Limit: purgeAtOnce}) {
					if err != nil {
						return err
					}
					ids = append(ids, rec.ID)
				}
				for _, id := range ids {
					if err := w.Delete(ctx, kind, id); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return n, err
			}
			n, more = n+len(ids), len(ids) == purgeAtOnce
		}
	}
	return n, nil
}
