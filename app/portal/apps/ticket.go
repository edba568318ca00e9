package apps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// maxTicket is the maximum length of a ticket in bytes.
const maxTicket = 100

// numbered is a call with a ticket, an idempotency key: if the caller repeats the call, because
// the answer was lost or a button was pressed twice, it gets the record that the first call
// made.
type numbered struct {
	Number string `header:"Idempotency-Key" doc:"Identifies the request, in 100 characters at most. If the same request is sent again with the same key, nothing is created, and the response is that of the first request. A different request with the same key is refused with 422."`
}

// ticket returns the index value for the ticket, scoped to a user or an app; "": the call has
// no ticket.
func (n numbered) ticket(of table.ID) (string, error) {
	switch {
	case n.Number == "":
		return "", nil
	case len(n.Number) > maxTicket:
		return "", table.Problems{"Idempotency-Key is too long (the maximum is 100 characters)"}.Err()
	}
	return of.Key() + "/" + n.Number, nil
}

// said returns a hash of the members of a body that two calls with the same ticket must share;
// "": the call has no ticket. How an access request is carried out does not count: a page that is
// sent again finds other credentials.
func said(ticket string, member func(string) any, names ...string) string {
	if ticket == "" {
		return ""
	}
	all := make([]any, len(names))
	for i, name := range names {
		all[i] = member(name)
	}
	text, _ := json.Marshal(all) // members come from JSON
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// same refuses a call whose ticket belongs to a call with another body. before is the hash of
// that one; "": it is not known.
func same(before, now string) error {
	if before == "" || before == now {
		return nil
	}
	return table.Problems{"Idempotency-Key came with something else before: send another one"}.Err()
}

// ticketed returns the index values for a record that a call with a ticket has made.
func ticketed(ticket string) []string {
	if ticket == "" {
		return nil
	}
	return []string{store.Indexed(ticket)}
}

// madeBy returns the record that an earlier call with the ticket has made, if there is one.
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

// How many times, and with which pause, a repeated call checks whether the first one is done:
// five seconds in all.
const (
	looks    = 50
	lookTime = 100 * time.Millisecond
)

// awaited waits a while for another call that is approving a request.
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
