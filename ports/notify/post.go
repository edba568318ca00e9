package notify

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Post announces signals when the unit of work commits, whatever else it writes,
// if anything: for operations whose purpose is the announcement, and for those
// that concern more than the records they write. Payloads are kept in history,
// so they hold no secret: PostSealed is for those that do.
func Post(ctx context.Context, w store.Writer, signals ...signal.Signal) error {
	for _, s := range signals {
		if s.Command.Sealed() {
			return fmt.Errorf("notify: the payload of %s must be sealed", s.Command)
		}
		if err := post(ctx, w, signal.Notice{Command: s.Command, Payload: s.Payload}); err != nil {
			return err
		}
	}
	return nil
}

// PostSealed announces a signal about a subject whose payload is secret. It is encrypted
// wherever it is kept; only sinks get it in the clear.
func PostSealed(ctx context.Context, w store.Writer, seal func(plain string) (string, error), subject string, s signal.Signal) error {
	sealed, err := seal(s.Payload)
	if err != nil {
		return err
	}
	return post(ctx, w, signal.Notice{Command: s.Command, Subject: subject, Secret: sealed})
}

func post(ctx context.Context, w store.Writer, n signal.Notice) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	rec := store.Record{Org: w.Scope().Org(), Kind: signal.NoticeKind, ID: n.ID(), Doc: text}
	for index, value := range n.Keys() {
		if value != "" {
			rec.Keys = append(rec.Keys, store.Key{Index: index, Value: value})
		}
	}
	// Units of work for everyone replace notices of no organisation.
	for old, err := range w.Scan(ctx, store.Query{Kind: rec.Kind, ID: rec.ID}) {
		if err != nil {
			return err
		}
		if old.Org == rec.Org {
			rec.Rev = old.Rev
			break
		}
	}
	return w.Put(ctx, rec)
}

// PostReferrers announces a change of every API that refers to a target, such as
// a webhook: gateways get what the target says as part of the API. t says what a change
// of a referrer announces. It needs the scope of one organisation.
func PostReferrers(ctx context.Context, w store.Writer, t signal.Table, to integrity.Target) error {
	var changes []signal.Change
	for rec, err := range w.Referrers(ctx, to) {
		if err != nil {
			return err
		}
		changes = append(changes, signal.Change{Op: signal.Updated, Kind: rec.Kind, ID: rec.ID, Key: func(index string) string {
			if index == signal.Quiet { // of an earlier change
				return ""
			}
			return store.Change{Keys: rec.Keys}.Key(index)
		}})
	}
	return Post(ctx, w, t.Of(changes)...)
}
