// Package prometheus implements the port to metrics: it counts and times operations, reads gauges,
// and serves them to a Prometheus server.
package prometheus

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gatehouse-io/gatehouse/ports/observe"
)

// buckets are upper bounds in seconds: from a read in memory to a request that exceeds its
// deadline. Each bucket costs a series per operation and status.
var buckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 2.5, 10}

// Observer implements observe.Observer. It has a registry of its own, so that
// several can live in one process. Safe for concurrent use; make one with New.
type Observer struct {
	registry  *prometheus.Registry
	durations *prometheus.HistogramVec
	inFlight  *prometheus.GaugeVec
	ended     cache[outcome, prometheus.Observer]
	running   cache[string, prometheus.Gauge]
}

var _ observe.Observer = (*Observer)(nil)

// outcome holds the labels of the series of finished operations.
type outcome struct {
	operation string
	status    int
}

// New returns an Observer with these metrics, and those of the Go runtime and
// the process:
//
//	gatehouse_operation_duration_seconds{operation,status}  histogram; its _count is the number of operations
//	gatehouse_operations_in_flight{operation}               gauge
//
// operation is the ID of the operation, status the exact code that was answered.
func New() *Observer {
	o := &Observer{
		registry: prometheus.NewRegistry(),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gatehouse_operation_duration_seconds", Help: "Time from the start of an operation to its response.", Buckets: buckets,
		}, []string{"operation", "status"}),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "gatehouse_operations_in_flight", Help: "Operations that are running.",
		}, []string{"operation"}),
	}
	o.registry.MustRegister(o.durations, o.inFlight, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return o
}

// Begin implements observe.Observer.
func (o *Observer) Begin(ctx context.Context, operation string) (context.Context, func(status int)) {
	running := o.running.get(operation, func() prometheus.Gauge { return o.inFlight.WithLabelValues(operation) })
	running.Inc()
	start := time.Now()
	return ctx, func(status int) {
		running.Dec()
		o.ended.get(outcome{operation, status}, func() prometheus.Observer {
			return o.durations.WithLabelValues(operation, strconv.Itoa(status))
		}).Observe(time.Since(start).Seconds())
	}
}

// AddGauges adds gauges that are read at every scrape, concurrently with other calls. It panics if
// a name is taken or empty.
func (o *Observer) AddGauges(gauges ...observe.Gauge) {
	for _, g := range gauges {
		o.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: g.Name, Help: g.Help}, g.Value))
	}
}

// Handler answers scrapes. A gauge that cannot be read is left out of the answer; the others are
// still served.
func (o *Observer) Handler() http.Handler {
	return promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}
