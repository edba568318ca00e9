package otel

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// recorded returns an Observer and its finished spans.
func recorded(t *testing.T) (*Observer, *tracetest.InMemoryExporter) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	o := observer(Config{ServiceName: "gatehouse", Version: "1.2.3"}, sdktrace.WithSyncer(spans))
	t.Cleanup(func() {
		if err := o.provider.Shutdown(t.Context()); err != nil {
			t.Log(err)
		}
	})
	return o, spans
}

func TestBegin(t *testing.T) {
	for _, c := range []struct {
		status int
		want   codes.Code
	}{
		{200, codes.Unset}, {404, codes.Unset}, {499, codes.Unset}, {500, codes.Error}, {503, codes.Error},
	} {
		o, spans := recorded(t)
		ctx, end := o.Begin(t.Context(), "clientidps.get")
		if !trace.SpanContextFromContext(ctx).IsSampled() {
			t.Errorf("%d: the operation does not run in its span", c.status)
		}
		end(c.status)
		got := spans.GetSpans()
		if len(got) != 1 {
			t.Fatalf("%d: %d spans", c.status, len(got))
		}
		s := got[0]
		if s.Name != "clientidps.get" || s.SpanKind != trace.SpanKindServer || s.Status.Code != c.want {
			t.Errorf("%d: span %q, kind %v, status %v", c.status, s.Name, s.SpanKind, s.Status.Code)
		}
		if len(s.Attributes) != 1 || s.Attributes[0] != attribute.Int("http.response.status_code", c.status) {
			t.Errorf("%d: attributes %v", c.status, s.Attributes)
		}
	}
}

func TestBeginInside(t *testing.T) {
	o, spans := recorded(t)
	ctx, endOuter := o.Begin(t.Context(), "outer")
	_, endInner := o.Begin(ctx, "inner")
	endInner(200)
	endOuter(200)
	got := spans.GetSpans()
	if len(got) != 2 || got[0].Parent.SpanID() != got[1].SpanContext.SpanID() {
		t.Errorf("spans are not nested: %v", got)
	}
}

func TestResource(t *testing.T) {
	o, spans := recorded(t)
	_, end := o.Begin(t.Context(), "users.list")
	end(200)
	set := spans.GetSpans()[0].Resource.Set()
	for key, want := range map[attribute.Key]string{"service.name": "gatehouse", "service.version": "1.2.3"} {
		if got, _ := set.Value(key); got.AsString() != want {
			t.Errorf("%s is %q, want %q", key, got.AsString(), want)
		}
	}
}

func TestMiddleware(t *testing.T) {
	const traceID, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for name, c := range map[string]struct {
		header       string
		joins, keeps bool
	}{
		"no header":       {"", false, true},
		"malformed":       {"00-nothing-of-use-01", false, true},
		"version ff":      {"ff-" + traceID + "-" + parent + "-01", false, true},
		"sampled":         {"00-" + traceID + "-" + parent + "-01", true, true},
		"later version":   {"01-" + traceID + "-" + parent + "-01-more", true, true},
		"not sampled":     {"00-" + traceID + "-" + parent + "-00", true, false},
		"all-zero trace":  {"00-00000000000000000000000000000000-" + parent + "-01", false, true},
		"all-zero parent": {"00-" + traceID + "-0000000000000000-01", false, true},
	} {
		o, spans := recorded(t)
		var id string
		h := o.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			ctx, end := o.Begin(r.Context(), "users.list")
			id = trace.SpanContextFromContext(ctx).TraceID().String()
			end(200)
		}))
		r := httptest.NewRequest(http.MethodGet, "/api/users", nil)
		if c.header != "" {
			r.Header.Set("Traceparent", c.header)
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
		if got := id == traceID; got != c.joins {
			t.Errorf("%s: trace %s; joins: %v", name, id, got)
		}
		got := spans.GetSpans()
		if (len(got) == 1) != c.keeps {
			t.Errorf("%s: %d spans kept", name, len(got))
		}
		if c.joins && c.keeps && got[0].Parent.SpanID().String() != parent {
			t.Errorf("%s: parent %s", name, got[0].Parent.SpanID())
		}
	}
}

func TestMiddlewareTracestate(t *testing.T) {
	o, spans := recorded(t)
	h := o.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, end := o.Begin(r.Context(), "users.list")
		end(200)
	}))
	r := httptest.NewRequest(http.MethodGet, "/api/users", nil)
	r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	r.Header.Set("Tracestate", "vendor=value")
	h.ServeHTTP(httptest.NewRecorder(), r)
	if got := spans.GetSpans()[0].SpanContext.TraceState().Get("vendor"); got != "value" {
		t.Errorf("tracestate is lost: %q", got)
	}
}

func BenchmarkBegin(b *testing.B) {
	o := observer(Config{ServiceName: "gatehouse"}, sdktrace.WithSpanProcessor(tracetest.NewSpanRecorder()))
	b.ReportAllocs()
	for b.Loop() {
		_, end := o.Begin(b.Context(), "clientidps.get")
		end(200)
	}
}
