package apps

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Leave deletes the apps of a user who is about to be deleted, one after the other. Apps
// with credentials go first, so that the others stay when a credential cannot be revoked.
// It is people.Follower.Leave.
func (s *Service) Leave(ctx context.Context, in tenant.Scope, u account.User, force bool) error {
	began := s.Now()
	return s.leave(ctx, in, u, func(ctx context.Context, in tenant.Scope, app table.ID) error {
		d := removal{App: app, Force: force}
		if s.Now().Sub(began) >= 2*forcedPatience {
			d.Patience = shortPatience
		}
		return s.remove(ctx, in, d)
	})
}

// leave deletes the apps of a user with a function, in the order of Leave.
func (s *Service) leave(ctx context.Context, in tenant.Scope, u account.User, end func(context.Context, tenant.Scope, table.ID) error) error {
	var keyed, others []application.App
	err := s.Store.View(ctx, in, func(r store.Reader) error {
		keyed, others = nil, nil
		all, err := Owned(ctx, r, u.ID)
		for _, a := range all {
			held, err := credentialsOf(ctx, r, a.ID)
			switch {
			case err != nil:
				return err
			case len(held) > 0:
				keyed = append(keyed, a)
			default:
				others = append(others, a)
			}
		}
		return err
	})
	for _, a := range append(keyed, others...) {
		if err == nil {
			err = fault.AbsentFine(end(ctx, in, a.ID))
		}
	}
	return err
}

// Follow adjusts the visibility of a user's apps to the user's new organisation or teams,
// and deletes the plans' request counts of deleted users. It is people.Follower.Follow.
func Follow(ctx context.Context, w store.Writer, at crud.Stamp, before, after *account.User) error {
	if before == nil {
		return nil
	}
	if after == nil {
		switch left, err := Owned(ctx, w, before.ID); {
		case err != nil:
			return err
		case len(left) > 0: // its credentials would have no owner, but still work
			return fault.New(fault.Invalid, people.CodeMore, "the user has got another app meanwhile: delete the user again")
		}
		all, err := allowances.Values(ctx, w, store.Query{Index: byUser, Value: before.ID.Key()})
		for _, v := range all {
			if err == nil {
				_, err = allowances.Delete(ctx, w, v.Key(), nil)
			}
		}
		return err
	}
	if before.OrganisationID == after.OrganisationID && slices.Equal(before.Teams, after.Teams) {
		return nil
	}
	home, err := homeOf(ctx, w, after.OrganisationID)
	if err != nil {
		return err
	}
	all, err := Owned(ctx, w, after.ID)
	for _, a := range all {
		if err == nil && a.Settled(*after, home).Visibility != a.Visibility {
			_, err = portal.Edit(ctx, w, Kind, a.ID, at, func(a application.App) (application.App, error) { return a.Settled(*after, home), nil })
		}
	}
	return err
}

// HandOver transfers the apps of a user to another user of the organisation, with their
// access requests and credentials: gateways know apps, but not their owners. It is
// people.Follower.HandOver.
func HandOver(ctx context.Context, w store.Writer, at crud.Stamp, from, to table.ID) error {
	all, err := Owned(ctx, w, from)
	for _, a := range all {
		if err != nil {
			break
		}
		c := &portal.Change[application.App]{Op: store.Updated, Old: a, New: a}
		c.New.UserID = to
		if err = settle(ctx, w, c); err == nil {
			_, err = portal.Edit(ctx, w, Kind, a.ID, at, func(application.App) (application.App, error) { return c.New, nil })
		}
	}
	return err
}
