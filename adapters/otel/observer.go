// Package otel implements the port to traces with OpenTelemetry: every operation is a
// span, part of the caller's trace if there is one. Spans are sent to a collector over
// OTLP/HTTP.
package otel

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/gatehouse-io/gatehouse/ports/observe"
)

// Config says where spans go, and which service they belong to.
type Config struct {
	// Endpoint is the base URL of the collector, "http://localhost:4318";
	// "/v1/traces" is appended unless it is there already. A user and password in
	// it are sent as basic authentication.
	Endpoint string
	// ServiceName and Version are the resource attributes service.name and
	// service.version.
	ServiceName, Version string
}

// Observer implements observe.Observer. It touches no global state of
// OpenTelemetry, so that an embedding program keeps its own. Safe for concurrent
// use.
type Observer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

var _ observe.Observer = (*Observer)(nil)

// tracesPath is the path where collectors accept traces (OTLP specification,
// OTLP/HTTP).
const tracesPath = "/v1/traces"

// errEndpoint does not quote the endpoint, which may contain a password.
var errEndpoint = errors.New("otel: the endpoint must be a URL such as http://localhost:4318")

// Bounds that limit the effect of an unreachable collector.
const (
	exportTimeout   = 10 * time.Second // one batch with all its retries
	shutdownTimeout = 5 * time.Second
)

// New returns an Observer that sends its spans in batches, in the background. It does
// not wait for the collector: while the collector is away, operations go on and spans
// are dropped. It fails if Endpoint is not a URL. Sampling, batching and TLS follow the
// standard OTEL_* environment variables; by default every trace that begins here, or
// that the caller samples, is sampled.
func New(ctx context.Context, cfg Config) (*Observer, error) {
	u, err := url.Parse(cfg.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errEndpoint
	}
	base := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), tracesPath)
	opts := []otlptracehttp.Option{
		otlptracehttp.WithEndpointURL(u.Scheme + "://" + u.Host + base + tracesPath),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: time.Second, MaxInterval: 5 * time.Second, MaxElapsedTime: exportTimeout,
		}),
	}
	if u.User != nil {
		password, _ := u.User.Password()
		basic := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
		opts = append(opts, otlptracehttp.WithHeaders(map[string]string{"Authorization": "Basic " + basic}))
	}
	exporter, err := otlptracehttp.New(ctx, opts...)
	if err != nil {
		return nil, fmt.Errorf("otel: trace exporter: %w", err)
	}
	return observer(cfg, sdktrace.WithBatcher(exporter, sdktrace.WithExportTimeout(exportTimeout))), nil
}

func observer(cfg Config, destination sdktrace.TracerProviderOption) *Observer {
	who := resource.NewSchemaless(attribute.String("service.name", cfg.ServiceName), attribute.String("service.version", cfg.Version))
	p := sdktrace.NewTracerProvider(destination, sdktrace.WithResource(who))
	return &Observer{provider: p, tracer: p.Tracer("github.com/gatehouse-io/gatehouse", trace.WithInstrumentationVersion(cfg.Version))}
}

// Begin implements observe.Observer: a server span named by the operation, with
// the attribute http.response.status_code; 500 and above are errors (OpenTelemetry
// semantic conventions for HTTP server spans).
func (o *Observer) Begin(ctx context.Context, operation string) (context.Context, func(status int)) {
	ctx, span := o.tracer.Start(ctx, operation, trace.WithSpanKind(trace.SpanKindServer))
	return ctx, func(status int) {
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Middleware lets operations join the caller's trace: it reads traceparent and
// tracestate (W3C Trace Context). A malformed header is ignored, as the recommendation
// says.
func (o *Observer) Middleware(next http.Handler) http.Handler {
	var w3c propagation.TraceContext
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := w3c.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		if ctx != r.Context() {
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// Shutdown sends the waiting spans, for at most 5 s or until ctx ends, and stops. It
// returns an error if that failed. Operations that end later are not sent.
func (o *Observer) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	// The provider's own Shutdown also sends, but only logs that it failed.
	if err := errors.Join(o.provider.ForceFlush(ctx), o.provider.Shutdown(ctx)); err != nil {
		return fmt.Errorf("otel: send the last spans: %w", err)
	}
	return nil
}
