package webhooks

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/webhook"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Audience has the webhooks of a portal as receivers of events. Each webhook is a lane,
// named by its number.
type Audience struct{ *Service }

var _ deliver.Audience = Audience{}

// Name implements deliver.Audience: portals that share a store deliver their own events.
func (a Audience) Name() string { return string(a.Scope.Org()) }

// Lanes implements deliver.Audience: a webhook gets no events from before it was created.
func (a Audience) Lanes(ctx context.Context, r store.Reader, org tenant.ID, name string) (out []deliver.Lane, err error) {
	if org != a.Scope.Org() {
		return nil, nil
	}
	for w, err := range Kind.Find(ctx, r, store.Query{Index: byEvent, Value: topic(org, name)}) {
		if err != nil {
			return nil, err
		}
		out = append(out, deliver.Lane{Name: w.Value.ID.String(), Since: w.Value.CreatedAt, Seen: w.Rev})
	}
	return out, nil
}

// Body implements deliver.Audience.
func (Audience) Body(e deliver.Event) ([]byte, error) {
	by, _ := account.OfPrincipal(e.By)
	return event.Encode(e.Name, e.Message, by, e.At)
}

// Target implements deliver.Audience.
func (a Audience) Target(ctx context.Context, r store.Reader, _ tenant.ID, lane string) (deliver.Target, error) {
	w, err := portal.Find(ctx, r, Kind, lane)
	if err != nil {
		return deliver.Target{}, err
	}
	to := a.target(w)
	list, err := headersOf(ctx, r, w.ID)
	for _, h := range list {
		if to.Header[h.Name], err = a.value(h); err != nil {
			break
		}
	}
	return to, err
}

// target returns how to reach a webhook, without its custom headers.
func (s *Service) target(w webhook.Webhook) deliver.Target {
	return deliver.Target{URL: w.URL, Method: w.Method, Header: map[string]string{}, Secret: s.Secret, Timeout: time.Duration(w.Seconds()) * time.Second}
}
