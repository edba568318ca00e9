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

// maxGateway bounds a response of a gateway, such as the list of all its keys, in
// bytes.
const maxGateway = 64 << 20

// gatewayControl returns the options to control the gateways in the settings. Without
// gateways, the resources that gateways store are kept in our own store.
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

// gatewayWatch checks gateways for health probes. Everybody may call the probes, so it
// calls the gateways only once in a while, however often it is called itself.
type gatewayWatch struct {
	gateways gateway.Installation

	mu   sync.Mutex
	last time.Time
}

// watchPause is the time between calls of gateways.
const watchPause = 10 * time.Second

// check returns a warning while a gateway does not respond: everything works except
// keys, OAuth clients and certificates.
func (w *gatewayWatch) check(ctx context.Context) (health.Status, error) {
	if w.mu.TryLock() { // otherwise another probe is calling the gateways
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

// gatewaysAway counts the gateways that did not respond to their last call.
func gatewaysAway(all []gateway.Status) (n int) {
	for _, s := range all {
		if s.Asked && !s.Answers {
			n++
		}
	}
	return n
}

// gatewayGauges are the metrics of gateways; nil: there are none.
func gatewayGauges(in gateway.Installation) []observe.Gauge {
	if in == nil {
		return nil
	}
	return []observe.Gauge{{
		Name: "gatehouse_gateways_away", Help: "Gateways of tyk_api_config.Host that did not respond to the last call of their control API.",
		Value: func() float64 { return float64(gatewaysAway(in.Status())) },
	}}
}

// showGateways calls all gateways, and writes a line about each.
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
