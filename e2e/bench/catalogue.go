package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// counts are the numbers of APIs and of policies that a service is measured with.
var counts = []int{100, 1_000, 10_000, 100_000}

// many is the number of records from which there are aims.
const many = 10_000

// flat is how many times slower a page of a list may be than with a tenth of the
// records.
const flat = 1.5

// linear is the same for a list with a filter, which reads every record: ten times, and
// somewhat more when the records no longer fit into a cache.
const linear = 15

// heapPerAPI is the maximum memory of an API in kilobytes.
const heapPerAPI = 12

// perPage is the service's default page size.
const perPage = 10

// catalogue is a service with as many APIs as policies.
type catalogue struct {
	*world
	size   int
	perAPI float64 // bytes of heap
	perDoc float64 // bytes of the stored document
}

// catalogueRows measures APIs and policies for different numbers of them.
func catalogueRows(ctx context.Context, b *bench) (rows []row, err error) {
	sizes := counts
	if b.short {
		sizes = counts[:2]
	}
	var all []*catalogue
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.stop(ctx))
		}
	}()
	var cs []contestant
	for _, n := range sizes {
		c, err := newCatalogue(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("%d records: %w", n, err)
		}
		all = append(all, c)
		b.say("  catalogue: %d APIs and policies are there", n)
	}
	for _, t := range tasks {
		for _, c := range all {
			cs = append(cs, t.contestant(c))
		}
	}
	results, err := b.race(ctx, "catalogue", cs...)
	if err != nil {
		return nil, err
	}
	return catalogueTable(all, results), nil
}

// newCatalogue starts a service with APIs, every other one of them an OAS API, and with
// policies.
func newCatalogue(ctx context.Context, size int) (*catalogue, error) {
	w, err := newWorld(ctx)
	if err != nil {
		return nil, err
	}
	c := &catalogue{world: w, size: size}
	before := heap()
	for i := range size {
		method, path, body := "POST", "/api/apis/oas", oasAPI(i)
		if i%2 == 0 {
			path, body = "/api/apis", classicAPI(i)
		}
		if err := c.ask(ctx, method, path, body); err != nil {
			return nil, errors.Join(err, w.stop(ctx))
		}
	}
	c.perAPI = (heap() - before) / float64(size)
	if c.perDoc, err = c.documents(ctx); err != nil {
		return nil, errors.Join(err, w.stop(ctx))
	}
	for i := range size {
		if err := c.ask(ctx, "POST", "/api/portal/policies", policy(i, 100)); err != nil {
			return nil, errors.Join(err, w.stop(ctx))
		}
	}
	return c, nil
}

// documents returns the average size of the stored document of an API, in bytes.
func (c *catalogue) documents(ctx context.Context) (mean float64, err error) {
	err = c.Store().View(ctx, c.scope, func(r store.Reader) error {
		for rec, err := range r.Scan(ctx, store.Query{Kind: apidef.Kind}) {
			if err != nil {
				return err
			}
			mean += float64(len(rec.Doc)) / float64(c.size)
		}
		return nil
	})
	return mean, err
}

// heap returns the bytes that are in use.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// ask sends a request as the admin, or as a node, and discards the answer.
func (c *catalogue) ask(ctx context.Context, method, path, body string) error {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set("Authorization", c.token)
	if strings.HasPrefix(path, "/system/") {
		r.Header.Set("Authorization", nodeSecret)
		r.Header.Set("Accept-Encoding", "gzip")
		r.Header.Set("x-tyk-nodeid", "node")
	}
	a := &unread{header: http.Header{}}
	c.ServeHTTP(a, r)
	if a.status != http.StatusOK {
		return fmt.Errorf("%s %s: answer %d: %.300s", method, path, a.status, a.text)
	}
	return nil
}

// unread discards an answer, except what an error message needs.
type unread struct {
	header http.Header
	status int
	text   []byte
}

func (n *unread) Header() http.Header { return n.header }

func (n *unread) WriteHeader(status int) { n.status = status }

func (n *unread) Write(b []byte) (int, error) {
	if n.status == 0 {
		n.status = http.StatusOK
	}
	if n.status != http.StatusOK {
		n.text = append(n.text, b...)
	}
	return len(b), nil
}

// classicAPI returns the body of a classic API of medium size.
func classicAPI(i int) string {
	return fmt.Sprintf(`{"api_definition":{"name":"Orders %[1]d #shop","api_id":"api-%[1]d","slug":"orders-%[1]d","active":true,"use_keyless":false,"auth":{"auth_header_name":"Authorization"},`+
		`"proxy":{"listen_path":"/orders-%[1]d/","target_url":"http://orders-%[1]d.internal:8080/","strip_listen_path":true},"tags":["edge"],`+
		`"version_data":{"not_versioned":true,"default_version":"","versions":{"Default":{"name":"Default","use_extended_paths":true,"global_headers":{"x-shop":"%[1]d"},`+
		`"extended_paths":{"white_list":[{"path":"/orders","method_actions":{"GET":{"action":"no_action","code":200,"data":"","headers":{}}}}]}}}}}}`, i)
}

// oasAPI returns the body of an OAS API of medium size.
func oasAPI(i int) string {
	var paths strings.Builder
	for p := range 5 {
		fmt.Fprintf(&paths, `,"/orders/%[1]d/{id}":{"get":{"operationId":"get%[1]d","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],`+
			`"responses":{"200":{"description":"An order","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Order"}}}}}}}`, p)
	}
	return fmt.Sprintf(`{"openapi":"3.0.3","info":{"title":"Orders %[1]d","version":"1.0.0"},"paths":{%[2]s},`+
		`"components":{"schemas":{"Order":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"amount":{"type":"number"},"note":{"type":"string","maxLength":200}}}}},`+
		`"x-tyk-api-gateway":{"info":{"id":"api-%[1]d","name":"Orders %[1]d","state":{"active":true}},"server":{"listenPath":{"value":"/orders-%[1]d/","strip":true}},`+
		`"upstream":{"url":"http://orders-%[1]d.internal:8080/"},"middleware":{"operations":{"get0":{"enforceTimeout":{"enabled":true,"duration":"1.5s","value":2}}}}}}`, i, paths.String()[1:])
}

// policy returns the body of a policy for one API.
func policy(i, rate int) string {
	return fmt.Sprintf(`{"id":"policy-%[1]d","name":"Policy %[1]d","active":true,"rate":%[2]d,"per":60,"quota_max":-1,"tags":["paid"],`+
		`"access_rights":{"api-%[1]d":{"api_id":"api-%[1]d","api_name":"Orders %[1]d","versions":["Default"]}}}`, i, rate)
}
