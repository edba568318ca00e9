package apps

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// maxTicket is how long what says which call this is may be.
const maxTicket = 100

// numbered is a call that says which it is: when its caller sends it once more, because the
// answer was lost or somebody has pressed a button twice, what it has made is answered again.
type numbered struct {
	Number string `header:"Idempotency-Key" doc:"Says which call this is, in 100 characters at most: the same call once more makes nothing, and gets what the first one has made."`
}

// ticket returns what stands for the call of a user, or below an app; "": it does not say which
// it is.
func (n numbered) ticket(of table.ID) (string, error) {
	switch {
	case n.Number == "":
		return "", nil
	case len(n.Number) > maxTicket:
		return "", table.Problems{"Idempotency-Key is too long (the maximum is 100 characters)"}.Err()
	}
	return of.Key() + "/" + n.Number, nil
}

// ticketed is what a record is found by that a call with a ticket has made.
func ticketed(ticket string) []string {
	if ticket == "" {
		return nil
	}
	return []string{store.Indexed(ticket)}
}

// madeBy returns what the call with a ticket has made before, if it has.
func madeBy[T any](ctx context.Context, r store.Reader, kind *store.Kind[T], ticket string) (out T, made bool, err error) {
	if ticket == "" {
		return out, false, nil
	}
	v, err := kind.ByKey(ctx, r, byTicket, store.Indexed(ticket))
	if fault.KindOf(err) == fault.NotFound {
		return out, false, nil
	}
	return v.Value, err == nil, err
}

// How often, and with which pause, a call that is sent once more looks whether the first one is
// through: five seconds in all.
const (
	looks    = 50
	lookTime = 100 * time.Millisecond
)

// awaited waits a while for another call that approves a request at once.
func (s *Service) awaited(ctx context.Context, req request.Request) {
	for range looks {
		err := s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
			req, err = portal.Find(ctx, r, Requests, req.ID.String())
			return err
		})
		if err != nil || !hastens(req) || retry.Sleep(ctx, lookTime) != nil {
			return
		}
	}
}
