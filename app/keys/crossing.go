package keys

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Crossing is the report of a gateway that a key crossed a limit of its quota
// (docs/wire/gateway-nodes.md#quota-trigger). It does not have the key.
type Crossing struct {
	Org     tenant.ID `json:"org_id"`
	KeyHash string    `json:"key_hash"`
	Limit   float64   `json:"trigger_limit"`    // percent of the quota
	Usage   float64   `json:"usage_percentage"` // percent of the quota
	Hashed  bool      `json:"hashed"`           // gateways know keys by their hashes
	At      time.Time `json:"at"`
}

// crossings is the kind of the last report of each organisation: each write of the
// record is an event.
var crossings = &store.Kind[Crossing]{
	Name: key.QuotaTrigger, Noun: "quota trigger",
	ID:  func(c Crossing) string { return string(c.Org) },
	Org: func(c Crossing) tenant.ID { return c.Org },
}

// crossed is the payload that receivers get.
type crossed struct {
	Action  string  `json:"action"`
	KeyHash string  `json:"key_hash,omitempty"`
	Limit   float64 `json:"trigger_limit"`
	Usage   float64 `json:"usage_percentage"`
}

// Crossings returns the registration of the reports about quotas, with their events.
func Crossings() crud.Registration {
	return crud.Facts[Crossing]{
		Kind: crossings,
		Events: &crud.Events[Crossing]{Names: []string{Event, HashedEvent}, Of: func(_, after *Crossing) []deliver.Event {
			if after == nil {
				return nil
			}
			message := crossed{key.QuotaTrigger, after.KeyHash, after.Limit, after.Usage}
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

// Crossed stores a report, so that the receivers in an audience get an event. It drops
// reports without a receiver, and those about organisations that do not exist.
func Crossed(ctx context.Context, st store.Store, audience deliver.Audience, c Crossing) error {
	scope, err := tenant.Of(c.Org)
	if err != nil {
		return nil
	}
	var lanes []deliver.Lane
	if err := st.View(ctx, scope, func(r store.Reader) error {
		for _, event := range []string{Event, HashedEvent} {
			more, err := audience.Lanes(ctx, r, c.Org, event)
			if err != nil {
				return err
			}
			lanes = append(lanes, more...)
		}
		return nil
	}); err != nil || len(lanes) == 0 {
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
