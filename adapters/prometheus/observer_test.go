package prometheus_test

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/prometheus"
	"github.com/gatehouse-io/gatehouse/ports/observe"
)

// scrape returns the lines that a Prometheus server would read.
func scrape(t *testing.T, o *prometheus.Observer) []string {
	t.Helper()
	server := httptest.NewServer(o.Handler())
	defer server.Close()
	res, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("scrape: %d, %v", res.StatusCode, err)
	}
	return strings.Split(string(text), "\n")
}

func expect(t *testing.T, lines []string, want ...string) {
	t.Helper()
	all := strings.Join(lines, "\n") + "\n"
	for _, w := range want {
		if !strings.Contains(all, "\n"+w) {
			t.Errorf("no line begins with %q", w)
		}
	}
}

func TestObserver(t *testing.T) {
	o := prometheus.New()
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "kept")
	for _, status := range []int{200, 200, 404} {
		got, end := o.Begin(ctx, "clientidps.get")
		if got.Value(key{}) != "kept" {
			t.Error("the context is lost")
		}
		end(status)
	}
	_, end := o.Begin(ctx, "clientidps.list")
	expect(t, scrape(t, o),
		`gatehouse_operation_duration_seconds_count{operation="clientidps.get",status="200"} 2`,
		`gatehouse_operation_duration_seconds_count{operation="clientidps.get",status="404"} 1`,
		`gatehouse_operation_duration_seconds_bucket{operation="clientidps.get",status="200",le="10"} 2`,
		`gatehouse_operations_in_flight{operation="clientidps.get"} 0`,
		`gatehouse_operations_in_flight{operation="clientidps.list"} 1`,
		`# TYPE gatehouse_operation_duration_seconds histogram`,
		"go_goroutines ", "process_start_time_seconds ")
	end(500)
	expect(t, scrape(t, o),
		`gatehouse_operation_duration_seconds_count{operation="clientidps.list",status="500"} 1`,
		`gatehouse_operations_in_flight{operation="clientidps.list"} 0`)
}

func TestAddGauges(t *testing.T) {
	o := prometheus.New()
	head := 41.0
	o.AddGauges(
		observe.Gauge{Name: "gatehouse_head_revision", Help: "Revision of the last commit.", Value: func() float64 { return head }},
		observe.Gauge{Name: "gatehouse_nodes", Help: "Live nodes.", Value: func() float64 { return -1 }})
	expect(t, scrape(t, o), "gatehouse_head_revision 41", "gatehouse_nodes -1", "# HELP gatehouse_nodes Live nodes.")
	head = 42
	expect(t, scrape(t, o), "gatehouse_head_revision 42")
}

func TestAddGaugesTwice(t *testing.T) {
	o := prometheus.New()
	g := observe.Gauge{Name: "gatehouse_nodes", Help: "Live nodes.", Value: func() float64 { return 0 }}
	o.AddGauges(g)
	defer func() {
		if recover() == nil {
			t.Error("a name is taken twice")
		}
	}()
	o.AddGauges(g)
}

// TestObserversAreSeparate: embedders may run several in one process.
func TestObserversAreSeparate(t *testing.T) {
	one, two := prometheus.New(), prometheus.New()
	_, end := one.Begin(t.Context(), "users.list")
	end(200)
	for _, line := range scrape(t, two) {
		if strings.Contains(line, "users.list") {
			t.Errorf("another observer's operation: %s", line)
		}
	}
}

func TestObserverConcurrently(t *testing.T) {
	const workers, each = 8, 200
	o := prometheus.New()
	operations := []string{"a.list", "a.get", "b.list", "b.get"}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range each {
				_, end := o.Begin(t.Context(), operations[i%4])
				end(200 + i%2)
			}
		})
	}
	wg.Wait()
	expect(t, scrape(t, o),
		`gatehouse_operation_duration_seconds_count{operation="a.list",status="200"} 400`,
		`gatehouse_operation_duration_seconds_count{operation="a.get",status="201"} 400`,
		`gatehouse_operations_in_flight{operation="b.get"} 0`)
}

func BenchmarkBegin(b *testing.B) {
	o := prometheus.New()
	b.ReportAllocs()
	for b.Loop() {
		_, end := o.Begin(b.Context(), "clientidps.get")
		end(200)
	}
}
