package apps

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// How often requests are looked for that were to be approved at once, and the age from
// which the process that took one is dead: its own attempt is over by then.
const (
	lookEvery = time.Minute
	leftAfter = 5 * time.Minute
)

// Run approves the access requests that were to be approved at once when the process that
// took them died between the two, until ctx ends. Of those that cannot be approved
// administrators are told (docs/wire/portal-apps.md#access-requests).
func (s *Service) Run(ctx context.Context) error {
	for look := 0; s.Scope.Org() != "" && retry.Sleep(ctx, lookEvery) == nil; look++ {
		left, err := s.left(ctx, look == thorough)
		if err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "access requests that were to be approved at once cannot be looked for; trying again", "error", err)
		}
		for _, id := range left {
			// Busy: another process does it. Open: it goes on by itself.
			if err := s.Approve(ctx, s.Scope, id); err != nil && !slices.Contains([]string{CodeBusy, CodeOpen}, fault.CodeOf(err)) && ctx.Err() == nil && s.await(ctx, s.Scope, id) {
				s.Log.WarnContext(ctx, "an access request that was to be approved at once waits for administrators", "org_id", string(s.Scope.Org()), "access_request", int64(id), "error", err)
			}
		}
	}
	return ctx.Err()
}

// thorough is the look, counted from the start, that goes through all requests: those that an
// older version wrote are not in the index. Those that it left are old enough by then.
const thorough = int(leftAfter / lookEvery)

// left returns the requests that wait for a process that is gone. What goes on with their
// apps is settled first.
func (s *Service) left(ctx context.Context, all bool) (out []table.ID, err error) {
	var old []request.Request
	q := store.Query{Index: byHaste, Value: hasty}
	if all {
		q = store.Query{}
	}
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		old, err = Requests.Values(ctx, r, q)
		return err
	})
	for _, req := range old {
		if err != nil {
			break
		}
		// A time further ahead than that was set by a clock that has been put back since.
		if !hastens(req) || s.Now().Sub(req.UpdatedAt).Abs() < leftAfter {
			continue
		}
		_, open := s.Intents.Current(ctx, s.Scope, about(req.AppID))
		switch {
		case fault.KindOf(open) == fault.NotFound:
			out = append(out, req.ID)
		case open != nil:
			err = open
		}
	}
	return out, err
}

// approveAtOnce approves a request whose plan says so. When that fails the request waits for
// an administrator like any other, who is told: waits says so. One that was rejected meanwhile,
// with its plan or a product, does not.
func (s *Service) approveAtOnce(ctx context.Context, scope tenant.Scope, id table.ID) (waits bool, err error) {
	if err = s.Approve(ctx, scope, id); err != nil {
		waits = s.await(context.WithoutCancel(ctx), scope, id)
	}
	return waits, err
}

// await makes a request that was to be approved at once one that waits for an administrator,
// and reports whether it was one.
func (s *Service) await(ctx context.Context, scope tenant.Scope, id table.ID) (waits bool) {
	_, failed := s.Store.Update(ctx, scope, func(w store.Writer) error {
		_, err := portal.Edit(ctx, w, Requests, id, s.Stamp(s.Scope), func(req request.Request) (request.Request, error) {
			waits = hastens(req)
			req.ProvisionImmediately = req.ProvisionImmediately && !waits
			return req, nil
		})
		return absentFine(err)
	})
	if failed != nil {
		s.Log.WarnContext(ctx, "administrators are not told of an access request that waits for them", "org_id", string(scope.Org()), "access_request", int64(id), "error", failed)
	}
	return waits && failed == nil
}
