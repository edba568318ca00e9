package http

import (
	"cmp"
	"context"
	nethttp "net/http"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// lost answers requests that no row takes (docs/wire/errors.md#standard-errors). They pass
// the same chain as operations, in the dialect of the surface their path is on.
func (c *Config) lost() func(nethttp.ResponseWriter, *nethttp.Request, []string) {
	unknown, method := map[operation.Surface]nethttp.Handler{}, map[operation.Surface]nethttp.Handler{}
	for s := range dialects {
		unknown[s] = c.refuse(s, fault.New(fault.NotFound, operation.CodeNoRoute, "Not Found"))
		method[s] = c.refuse(s, fault.New(fault.Invalid, operation.CodeNoMethod, "Method not allowed"))
	}
	return func(w nethttp.ResponseWriter, r *nethttp.Request, allowed []string) {
		surface := cmp.Or(c.Home, surfaceOf(r.URL.EscapedPath()))
		if len(allowed) == 0 && surface == operation.Portal && r.Method == nethttp.MethodOptions && !strings.HasPrefix(r.URL.Path, "/portal") {
			allowed = []string{nethttp.MethodGet, nethttp.MethodHead} // there may be a page, which these may ask for
		}
		if len(allowed) == 0 {
			unknown[surface].ServeHTTP(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		method[surface].ServeHTTP(w, r)
	}
}

// refuse is a row that only ever answers with one fault. Observers and logs see
// them all under one name.
func (c *Config) refuse(s operation.Surface, f *fault.Error) nethttp.Handler {
	faults := map[string]operation.Answer{operation.CodeNoMethod: {Status: nethttp.StatusMethodNotAllowed}}
	if s == operation.Portal {
		faults = operation.PortalFaults()
	}
	spec := &operation.Spec{ID: "unrouted", Surface: s, Public: true, Style: operation.Style{Faults: faults}}
	return c.serve(&row{spec: spec, dialect: dialectOf(s), deadline: c.Deadline,
		do: func(context.Context, *operation.Call) (any, error) { return nil, f }})
}
