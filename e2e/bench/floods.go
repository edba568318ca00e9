package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const adminSecret = "admin-secret-of-the-benchmark"

// flooders is how many clients of one organisation write at once, each with the largest
// allowed write.
const flooders = 4

// flood is one kind of write of maximum size. Bodies alternate between two versions, so
// that every write changes everything; turn 0 is the initial state.
type flood struct {
	id, what       string
	method, create string // method and path of turn 0
	replace        string // path of the later turns; %s: the identifier from the answer to turn 0
	body           func(w *world, client, turn int) string
}

var floods = []flood{
	{id: "rights", what: "replaces policies with the most access rights", method: "POST", create: "/api/portal/policies", replace: "/api/portal/policies/%s",
		body: func(_ *world, client, turn int) string {
			return rights(fmt.Sprintf("flood-%d", client), capOfRights(), turn)
		}},
	{id: "bytes", what: "replaces OAS APIs of 32 MiB", method: "POST", create: "/api/apis/oas", replace: "/api/apis/oas/%s",
		body: func(_ *world, client, turn int) string {
			return at("bytes", client, described(`"`+strings.Repeat(fmt.Sprint(turn), 32<<20-1000)+`"`))
		}},
	{id: "oas", what: "replaces OAS APIs of 5,000 paths", method: "POST", create: "/api/apis/oas", replace: "/api/apis/oas/%s",
		body: func(_ *world, client, turn int) string { return at("paths", client, manyPaths(5_000, turn)) }},
	{id: "import", what: "imports 10,000 policies", method: "POST", create: "/admin/policies/import", replace: "/admin/policies/import",
		body: func(w *world, client, turn int) string { return manyPolicies(w, 10_000, client, turn) }},
}

// at sets the listen path of a description.
func at(flood string, client int, description string) string {
	return strings.Replace(description, `"/n/"`, fmt.Sprintf(`"/%s-%d/"`, flood, client), 1)
}

// manyPaths returns a description with n paths, all of which are converted.
func manyPaths(n, turn int) string {
	var paths, operations strings.Builder
	for i := range n {
		fmt.Fprintf(&paths, `,"/p%[1]d/{id}":{"get":{"operationId":"get%[1]d","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"%[2]d"}}}}`, i, turn)
		fmt.Fprintf(&operations, `,"get%d":{"enforceTimeout":{"enabled":true,"value":%d}}`, i, 2+turn)
	}
	return fmt.Sprintf(`{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{%s},"x-tyk-api-gateway":{"info":{"name":"n","state":{"active":true}},`+
		`"upstream":{"url":"http://a.example"},"server":{"listenPath":{"value":"/n/"}},"middleware":{"operations":{%s}}}}`, paths.String()[1:], operations.String()[1:])
}

func manyPolicies(w *world, n, client, turn int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"id":"p%[1]d-%[2]d","name":"p%[1]d-%[2]d","org_id":%[3]q,"rate":%[4]d,"per":1,"access_rights":{"api-%[2]d":{"versions":["Default"]}}}`, client, i, w.org, turn+1)
	}
	return `{"Data":[` + b.String()[1:] + `]}`
}

// rows measures small writes of another organisation, first alone and then during the
// flood.
func (f flood) rows(ctx context.Context, b *bench, k backend, flooded, other *world) ([]row, error) {
	quiet, err := other.writes(ctx, b.samples())
	if err != nil {
		return nil, err
	}
	loaded, n, refused, err := f.during(ctx, flooded, other, b.samples())
	if err != nil {
		return nil, err
	}
	meanwhile := grouped(int64(n)) + " meanwhile"
	if refused > 0 {
		meanwhile += fmt.Sprintf(", %s refused", grouped(int64(refused)))
	}
	times := percentile(loaded, 0.99) / percentile(quiet, 0.99)
	return []row{
		{figure: k.name + ": small write, quiet, p99", value: significant(1e3 * percentile(quiet, 0.99)), unit: "ms"},
		{id: "fairness/" + k.name + "/" + f.id, figure: fmt.Sprintf("%s: small write while another organisation %s (%s), p99", k.name, f.what, meanwhile),
			value: significant(1e3 * percentile(loaded, 0.99)), unit: "ms", ratios: []ratio{{times, "p99 when quiet"}, {percentile(loaded, 1) / percentile(quiet, 1), "the longest when quiet"}}, aim: atMost(times, fairly, "× quiet p99")},
	}, nil
}

// during returns the times of other's writes while w floods the service, and the numbers
// of large writes in total and refused; a flood may be refused. Writing continues until
// several large writes have been stored.
func (f flood) during(ctx context.Context, w, other *world, n int) (took delays, total, declined int, err error) {
	bodies := [flooders][3]string{}
	ids := [flooders]string{}
	for i := range flooders {
		for turn := range bodies[i] {
			bodies[i][turn] = f.body(w, i, turn)
		}
		if ids[i], err = w.ask(ctx, f.method, f.create, bodies[i][0]); err != nil {
			return nil, 0, 0, err
		}
	}
	flooding, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	var done, refused atomic.Int64
	errs := make([]error, flooders)
	for i := range flooders {
		running.Go(func() {
			for turn := 1; flooding.Err() == nil; turn++ {
				method, path := "PUT", strings.Replace(f.replace, "%s", ids[i], 1)
				if f.replace == f.create {
					method = f.method
				}
				_, err := w.ask(flooding, method, path, bodies[i][1+turn%2])
				if errors.Is(err, errBusy) && flooding.Err() == nil {
					refused.Add(1)
					continue
				}
				if err != nil {
					if flooding.Err() == nil {
						errs[i] = err
					}
					return
				}
				done.Add(1)
			}
		})
	}
	for began := time.Now(); err == nil && len(took) < n || done.Load() < 2*flooders && time.Since(began) < time.Minute; {
		var some delays
		some, err = other.writes(ctx, 10)
		took = append(took, some...)
	}
	total = int(done.Load())
	cancel()
	running.Wait()
	return took, total, int(refused.Load()), errors.Join(append(errs, err)...)
}

// errBusy is the error of a request that may be repeated later.
var errBusy = errors.New("busy")

// ask sends a request through the whole chain, without a network, and returns the
// identifier in the answer, if any.
func (w *world) ask(ctx context.Context, method, path, body string) (string, error) {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set("Authorization", w.token)
	r.Header.Set("Admin-Auth", adminSecret)
	r.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	if rec.Code == http.StatusServiceUnavailable {
		return "", fmt.Errorf("%w: %s %s: %.300s", errBusy, method, path, rec.Body)
	}
	if rec.Code != http.StatusOK {
		return "", fmt.Errorf("%s %s: %d %.300s", method, path, rec.Code, rec.Body)
	}
	var made struct {
		ID      string
		Message string
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &made); err != nil {
		return "", err
	}
	return cmp.Or(made.ID, made.Message), nil
}
