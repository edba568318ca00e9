package serve

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/ports/observe"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// gaugeTimeout bounds how long a scrape waits for the store.
const gaugeTimeout = 2 * time.Second

// asked returns the function of a gauge that reads from the store: -1 while the store
// does not respond.
func asked[T any](read func(context.Context) (T, error), value func(T) float64) func() float64 {
	return func() float64 {
		ctx, cancel := context.WithTimeout(context.Background(), gaugeTimeout)
		defer cancel()
		now, err := read(ctx)
		if err != nil {
			return -1
		}
		return value(now)
	}
}

// gauges are the metrics of the state of the service.
func gauges(a *app.App, primary any) (out []observe.Gauge) {
	if changes, ok := a.Store().(store.ChangeLog); ok {
		out = append(out, observe.Gauge{Name: "gatehouse_head_revision", Help: "Revision of the last commit; -1 while the store does not respond.",
			Value: asked(changes.Head, func(head store.Revision) float64 { return float64(head) })})
	}
	if in, ok := primary.(store.Inspector); ok {
		out = append(out, observe.Gauge{
			Name: "gatehouse_damaged_records", Help: "Damaged records, which are left out; `gatehouse check` lists them. -1 while the store does not respond.",
			Value: asked(in.Damaged, func(found []store.Damage) float64 { return float64(len(found)) }),
		})
	}
	for _, feed := range a.Feeds() {
		out = append(out, observe.Gauge{
			Name: "gatehouse_feed_left_out_" + feed, Help: "Records left out of the feed of " + feed + " because gateways could not read them; -1 while the store does not respond.",
			Value: asked(func(ctx context.Context) (int, error) { return a.LeftOut(ctx, feed) }, func(n int) float64 { return float64(n) }),
		})
	}
	out = append(out,
		observe.Gauge{Name: "gatehouse_intents_open", Help: "Changes at gateways that are not done yet; -1 while the store does not respond.",
			Value: asked(a.Intents, func(s intents.Status) float64 { return float64(s.Active) })},
		observe.Gauge{Name: "gatehouse_intents_failed", Help: "Failed changes at gateways that wait for an admin; GET /api/gateway/intents lists them. -1 while the store does not respond.",
			Value: asked(a.Intents, func(s intents.Status) float64 { return float64(s.Rest) })},
		observe.Gauge{Name: "gatehouse_intents_oldest_seconds", Help: "Age of the oldest change at gateways that is not done yet, 0 if there is none; -1 while the store does not respond.",
			Value: asked(a.Intents, func(s intents.Status) float64 {
				if s.Oldest.IsZero() {
					return 0
				}
				return time.Since(s.Oldest).Seconds()
			})})
	out = append(out, deliveryGauges(a)...)
	for name := range a.Relays() {
		out = append(out, observe.Gauge{
			Name: "gatehouse_announcements_behind_" + name, Help: "Commits that are not announced to " + name + " yet, in the process that announces them.",
			Value: func() float64 { return float64(a.Relays()[name].Lag) },
		})
	}
	return out
}

// deliveryGauges are the metrics of events that have not reached their external
// receivers.
func deliveryGauges(a *app.App) []observe.Gauge {
	return []observe.Gauge{
		{Name: "gatehouse_deliveries_pending", Help: "Events that wait for delivery to external receivers; -1 while the store does not respond.",
			Value: asked(a.Deliveries, func(b delivery.Backlog) float64 { return float64(b.Pending) })},
		{Name: "gatehouse_deliveries_failed", Help: "Events whose delivery to external receivers has finally failed; an operator can send them again. -1 while the store does not respond.",
			Value: asked(a.Deliveries, func(b delivery.Backlog) float64 { return float64(b.Failed) })},
	}
}
