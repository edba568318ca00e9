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

// How often requests are checked that should have been approved at once, and the age from which
// the process that handled one counts as dead: its own attempt is over by then.
const (
	lookEvery = time.Minute
	leftAfter = 5 * time.Minute
)

// Run approves, until ctx ends, access requests that should have been approved at once but
// whose process died in between. Administrators are notified about requests that cannot be
// approved (docs/wire/portal-apps.md#access-requests).
func (s *Service) Run(ctx context.Context) error {
	for look := 0; s.Scope.Org() != "" && retry.Sleep(ctx, lookEvery) == nil; look++ {
		left, err := s.left(ctx, look == thorough)
		if err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "access requests that were to be approved at once cannot be looked for; trying again", "error", err)
		}
		for _, id := range left {
			// Busy: another process is approving it. Open: the saga continues by itself.
			if err := s.Approve(ctx, s.Scope, id); err != nil && !slices.Contains([]string{CodeBusy, CodeOpen}, fault.CodeOf(err)) && ctx.Err() == nil && s.await(ctx, s.Scope, id) {
				s.Log.WarnContext(ctx, "an access request that was to be approved at once waits for administrators", "org_id", string(s.Scope.Org()), "access_request", int64(id), "error", err)
			}
		}
	}
	return ctx.Err()
}

// thorough is the number of the check, counted from the start, that reads all requests:
// requests written by an older version are not in the index. They are old enough by then.
const thorough = int(leftAfter / lookEvery)

// left returns the requests whose process is gone, except those of apps with a running saga.
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
		// A time further in the future was set by a clock that has been put back since.
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

// approveAtOnce approves a request if its plan says so. When that fails, waits is true: the
// request waits for an administrator, who is notified. A request that was rejected meanwhile,
// with its plan or a product, does not wait.
func (s *Service) approveAtOnce(ctx context.Context, scope tenant.Scope, id table.ID) (waits bool, err error) {
	if err = s.Approve(ctx, scope, id); err != nil {
		waits = s.await(context.WithoutCancel(ctx), scope, id)
	}
	return waits, err
}

// await turns a request that should have been approved at once into one that waits for an
// administrator, and reports whether it was such a request.
func (s *Service) await(ctx context.Context, scope tenant.Scope, id table.ID) (waits bool) {
	_, failed := s.Store.Update(ctx, scope, func(w store.Writer) error {
		_, err := portal.Edit(ctx, w, Requests, id, s.Stamp(s.Scope), func(req request.Request) (request.Request, error) {
			waits = hastens(req)
			req.ProvisionImmediately = req.ProvisionImmediately && !waits
			return req, nil
		})
		return fault.AbsentFine(err)
	})
	if failed != nil {
		s.Log.WarnContext(ctx, "administrators are not told of an access request that waits for them", "org_id", string(scope.Org()), "access_request", int64(id), "error", failed)
	}
	return waits && failed == nil
}
