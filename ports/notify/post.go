package notify

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Post announces signals when the unit of work commits, even if it writes nothing else. It is
// for operations that only announce, and for those that affect more than the records they
// write. History keeps the payloads, so they hold no secret: PostSealed is for payloads with
// secrets.
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

// PostSealed announces a signal about a subject with a secret payload. The payload is stored
// encrypted; only sinks get it in plain text.
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
	// Units of work for all organisations replace only notices without an organisation.
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

// PostReferrers announces a change of every API that refers to a target, such as a webhook,
// because gateways get the target as part of the API. t maps a change of a referrer to its
// signals. It needs the scope of one organisation.
func PostReferrers(ctx context.Context, w store.Writer, t signal.Table, to integrity.Target) error {
	var changes []signal.Change
	for rec, err := range w.Referrers(ctx, to) {
		if err != nil {
			return err
		}
		changes = append(changes, signal.Change{Op: signal.Updated, Kind: rec.Kind, ID: rec.ID, Key: func(index string) string {
			if index == signal.Quiet { // the value is of an earlier change
				return ""
			}
			return store.Change{Keys: rec.Keys}.Key(index)
		}})
	}
	return Post(ctx, w, t.Of(changes)...)
}
