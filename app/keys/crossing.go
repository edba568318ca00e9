package keys

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Crossing is what a gateway reports when a key crosses a limit of its quota
// (docs/wire/gateway-nodes.md#quota-trigger). It does not hold the key.
type Crossing struct {
	Org     tenant.ID `json:"org_id"`
	KeyHash string    `json:"key_hash"`
	Limit   float64   `json:"trigger_limit"`    // percent of the quota
	Usage   float64   `json:"usage_percentage"` // percent of the quota
	Hashed  bool      `json:"hashed"`           // gateways know keys by their hashes
	At      time.Time `json:"at"`
}

// crossings keeps the latest of each organisation: each write of it is an event.
var crossings = &store.Kind[Crossing]{
	Name: "quota_trigger", Noun: "quota trigger",
	ID:  func(c Crossing) string { return string(c.Org) },
	Org: func(c Crossing) tenant.ID { return c.Org },
}

// QuotaAction is what events say that has happened to a key that crossed a limit.
const QuotaAction = "quota_trigger"

// crossed is what receivers are told.
type crossed struct {
	Action  string  `json:"action"`
	KeyHash string  `json:"key_hash,omitempty"`
	Limit   float64 `json:"trigger_limit"`
	Usage   float64 `json:"usage_percentage"`
}

// Crossings is what reports of quotas bring: events of keys.
func Crossings() crud.Registration {
	return crud.Facts[Crossing]{
		Kind: crossings,
		Events: &crud.Events[Crossing]{Names: []string{Event, HashedEvent}, Of: func(_, after *Crossing) []deliver.Event {
			if after == nil {
				return nil
			}
			message := crossed{QuotaAction, after.KeyHash, after.Limit, after.Usage}
			out := []deliver.Event{{Name: Event, Message: message}}
			if after.Hashed {
				out = append(out, deliver.Event{Name: HashedEvent, Message: message})
			}
			return out
		}},
		Sample: func(at crud.Stamp) (Crossing, error) {
			return Crossing{Org: at.Org, Limit: 80, Usage: 80, At: at.Now()}, nil
		},
	}.Registration()
}

// Listens reports whether an organisation names a receiver of one of some events.
type Listens func(ctx context.Context, r store.Reader, org tenant.ID, events ...string) (bool, error)

// Crossed stores a report, so that receivers hear of it. Where nobody listens it is
// forgotten, and so are reports about organisations that do not exist.
func Crossed(ctx context.Context, st store.Store, listens Listens, c Crossing) error {
	scope, err := tenant.Of(c.Org)
	if err != nil {
		return nil
	}
	heard := false
	if err := st.View(ctx, scope, func(r store.Reader) (err error) {
		heard, err = listens(ctx, r, c.Org, Event, HashedEvent)
		return err
	}); err != nil || !heard {
		return err
	}
	_, err = st.Update(ctx, scope, func(w store.Writer) error {
		_, err := crossings.Edit(ctx, w, string(c.Org), nil, func(Crossing) (Crossing, error) { return c, nil })
		if fault.KindOf(err) == fault.NotFound {
			return crossings.Insert(ctx, w, c)
		}
		return err
	})
	return err
}
