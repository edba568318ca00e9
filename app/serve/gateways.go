package serve

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/gateway/remote"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/health"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/observe"
)

// maxGateway bounds an answer of a gateway: the list of all its keys.
const maxGateway = 64 << 20

// gatewayControl returns the way to the gateways that the settings name; without any, what
// lives in gateways stays in our own store.
func (c *Composition) gatewayControl(s config.Settings, ob observe.Observer) []app.Option {
	urls := s.Gateway.URLs()
	if len(urls) == 0 {
		return nil
	}
	client := remote.New(fetch.New(fetch.Config{MaxBytes: maxGateway, Timeout: s.Gateway.Timeout}), remote.Config{
		URLs: urls, Secret: s.Gateway.Secret.Reveal(), Timeout: s.Gateway.Timeout, Observer: ob,
	})
	c.gateways = client
	watch := &gatewayWatch{gateways: client}
	return []app.Option{app.WithGatewayControl(client.Control()), app.WithChecks(health.Check{Name: "gateways", Type: "system", Run: watch.check})}
}

// gatewayWatch looks after gateways for probes of health, which anybody may call: it asks
// them once in a while, however often it is asked itself.
type gatewayWatch struct {
	gateways gateway.Installation

	mu   sync.Mutex
	last time.Time
}

// watchPause is the time between questions to gateways.
const watchPause = 10 * time.Second

// check warns while a gateway does not answer: all but keys, OAuth clients and certificates
// goes on without.
func (w *gatewayWatch) check(ctx context.Context) (health.Status, error) {
	if w.mu.TryLock() { // else another probe is asking
		if time.Since(w.last) > watchPause {
			w.gateways.Probe(ctx)
			w.last = time.Now()
		}
		w.mu.Unlock()
	}
	all := w.gateways.Status()
	if n := gatewaysAway(all); n > 0 {
		return health.Warn, fmt.Errorf("%d of %d gateways do not answer", n, len(all))
	}
	return health.Pass, nil
}

// gatewaysAway counts gateways whose last call was not answered.
func gatewaysAway(all []gateway.Status) (n int) {
	for _, s := range all {
		if s.Asked && !s.Answers {
			n++
		}
	}
	return n
}

// gatewayGauges are the numbers about gateways; nil: there are none.
func gatewayGauges(in gateway.Installation) []observe.Gauge {
	if in == nil {
		return nil
	}
	return []observe.Gauge{{
		Name: "gatehouse_gateways_away", Help: "Gateways of tyk_api_config.Host that did not answer the last call to their control API.",
		Value: func() float64 { return float64(gatewaysAway(in.Status())) },
	}}
}

// showGateways asks all gateways whether they are there, and writes a line about each.
func (c *Composition) showGateways(ctx context.Context, out io.Writer) {
	if c.gateways == nil {
		return
	}
	for _, s := range c.gateways.Probe(ctx) {
		if s.Answers {
			fmt.Fprintf(out, "gateway %s: answers\n", s.URL)
		} else {
			fmt.Fprintf(out, "gateway %s: does not answer: %s\n", s.URL, s.Trouble)
		}
	}
}
