package identity

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Listeners are the addresses that organisations name in their event_options: one for
// each event (docs/wire/deliveries.md#events-of-an-organisation).
type Listeners struct{}

var _ deliver.Audience = Listeners{}

// Name implements deliver.Audience.
func (Listeners) Name() string { return identity.OrganisationKind }

// Lanes implements deliver.Audience: a lane has the name of its event.
func (Listeners) Lanes(ctx context.Context, r store.Reader, org tenant.ID, event string) ([]string, error) {
	switch o, err := organisations.Locate(ctx, r, string(org)); {
	case fault.KindOf(err) == fault.NotFound:
		return nil, nil
	case err != nil || o.Value.EventOptions[event].Webhook == "":
		return nil, err
	}
	return []string{event}, nil
}

// told is what a listener is told.
type told struct {
	Event     string    `json:"event"`
	Org       tenant.ID `json:"org_id"`
	Timestamp time.Time `json:"timestamp"`
	By        string    `json:"by"`
	Message   any       `json:"message"`
}

// Body implements deliver.Audience.
func (Listeners) Body(e deliver.Event) ([]byte, error) {
	return json.Marshal(told{e.Name, e.Org, e.At.UTC(), e.By, e.Message})
}

// Target implements deliver.Audience.
func (Listeners) Target(ctx context.Context, r store.Reader, org tenant.ID, lane string) (deliver.Target, error) {
	o, err := organisations.Locate(ctx, r, string(org))
	if err != nil {
		return deliver.Target{}, err
	}
	to := o.Value.EventOptions[lane]
	if to.Webhook == "" {
		return deliver.Target{}, fault.New(fault.NotFound, missingOrganisation, "organisation %s names no address for %s", org, lane)
	}
	return deliver.Target{URL: to.Webhook, Secret: to.Secret}, nil
}
