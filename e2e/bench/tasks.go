package main

import (
	"context"
	"fmt"
)

// task is an operation on a catalogue of any size.
type task struct {
	figure string
	flat   bool // its time must not depend on the size of the catalogue
	linear bool // its time may grow at most linearly with the catalogue
	do     func(ctx context.Context, c *catalogue, n int) error
	// between runs after each operation and is not timed.
	between func(ctx context.Context, c *catalogue, n int) error
}

// spare is the number of a record outside of all catalogues.
const spare = 1_000_000

// tasks are the measured operations.
var tasks = []task{
	{figure: "API, OAS: create", do: send("POST", "/api/apis/oas", func(*catalogue, int) string { return oasAPI(spare) }),
		between: send("DELETE", fmt.Sprintf("/api/apis/api-%d", spare), nothing)},
	{figure: "API, classic: create", do: send("POST", "/api/apis", func(*catalogue, int) string { return classicAPI(spare) }),
		between: send("DELETE", fmt.Sprintf("/api/apis/api-%d", spare), nothing)},
	{figure: "API, OAS: replace", do: changeAPI},
	{figure: "API: list, first page", flat: true, do: send("GET", "/api/apis", nothing)},
	{figure: "API: list, last page", flat: true, do: lastPage("/api/apis?p=%d")},
	{figure: "API: search by name", linear: true, do: search("/api/apis/search?q=Orders+%d")},
	{figure: "API: list by category, sorted by name", linear: true, do: send("GET", "/api/apis?category=shop&sort=name", nothing)},
	{figure: "API: feed after one change", do: send("GET", "/system/apis", nothing), between: changeAPI},
	{figure: "policy: create", do: send("POST", "/api/portal/policies", func(*catalogue, int) string { return policy(spare, 1) }),
		between: send("DELETE", fmt.Sprintf("/api/portal/policies/policy-%d", spare), nothing)},
	{figure: "policy: replace", do: changePolicy},
	{figure: "policy: list, first page", flat: true, do: send("GET", "/api/portal/policies", nothing)},
	{figure: "policy: list, last page", flat: true, do: lastPage("/api/portal/policies?p=%d")},
	{figure: "policy: search by name", linear: true, do: search("/api/portal/policies/search?q=Policy+%d")},
	{figure: "policy: list by state, sorted by name", linear: true, do: send("GET", "/api/portal/policies/search?state=active&sort=-name", nothing)},
	{figure: "policy: list by authentication of its APIs", linear: true, do: send("GET", "/api/portal/policies/search?auth_type=authToken", nothing)},
	{figure: "policy: feed after one change", do: send("GET", "/system/policies", nothing), between: changePolicy},
}

func nothing(*catalogue, int) string { return "" }

func send(method, path string, body func(*catalogue, int) string) func(context.Context, *catalogue, int) error {
	return func(ctx context.Context, c *catalogue, n int) error { return c.ask(ctx, method, path, body(c, n)) }
}

func lastPage(format string) func(context.Context, *catalogue, int) error {
	return func(ctx context.Context, c *catalogue, _ int) error {
		return c.ask(ctx, "GET", fmt.Sprintf(format, c.size/perPage), "")
	}
}

// search searches for one record.
func search(format string) func(context.Context, *catalogue, int) error {
	return func(ctx context.Context, c *catalogue, _ int) error {
		return c.ask(ctx, "GET", fmt.Sprintf(format, c.size-1), "")
	}
}

// changeAPI replaces an OAS API in the middle of a catalogue by another version.
func changeAPI(ctx context.Context, c *catalogue, n int) error {
	i := c.size/2 + 1
	body := fmt.Sprintf(`{"x-run":%d,%s`, n, oasAPI(i)[1:])
	return c.ask(ctx, "PUT", fmt.Sprintf("/api/apis/oas/api-%d", i), body)
}

// changePolicy replaces a policy likewise.
func changePolicy(ctx context.Context, c *catalogue, n int) error {
	return c.ask(ctx, "PUT", fmt.Sprintf("/api/portal/policies/policy-%d", c.size/2), policy(c.size/2, n+1))
}

func (t task) contestant(c *catalogue) contestant {
	out := contestant{name: fmt.Sprintf("%s, %d", t.figure, c.size), do: func(ctx context.Context, _, n int) error { return t.do(ctx, c, n) }}
	if t.between != nil {
		out.between = func(ctx context.Context, n int) error { return t.between(ctx, c, n) }
	}
	return out
}

// catalogueTable turns results into rows: for each task the sizes in order, each
// compared with the one before.
func catalogueTable(all []*catalogue, results []series) (rows []row) {
	for i, t := range tasks {
		for k, c := range all {
			s := results[i*len(all)+k]
			r := row{id: fmt.Sprintf("catalogue/%s/%d", t.figure, c.size), figure: fmt.Sprintf("%s, %s APIs and policies", t.figure, grouped(int64(c.size))),
				value: milliseconds(s.each()), unit: "ms"}
			if t.between == nil {
				r.allocs = median(s.allocs)
			}
			if k > 0 {
				times := 1 / s.over(results[i*len(all)+k-1])
				of := "time at " + grouped(int64(all[k-1].size))
				r.ratios = []ratio{{times, of}}
				if c.size >= many {
					switch {
					case t.flat:
						r.aim = atMost(times, flat, "× "+of)
					case t.linear:
						r.aim = atMost(times, linear, "× "+of)
					}
				}
			}
			rows = append(rows, r)
		}
	}
	for _, c := range all {
		r := row{id: "catalogue/heap", figure: fmt.Sprintf("heap per API, half of them OAS, %s APIs", grouped(int64(c.size))), value: significant(c.perAPI / 1e3), unit: "kB",
			ratios: []ratio{{c.perAPI / c.perDoc, "length of the stored document"}}}
		if c.size >= many {
			r.aim = atMost(c.perAPI/1e3, heapPerAPI, "kB")
		}
		rows = append(rows, r)
	}
	return rows
}
