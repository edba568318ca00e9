package http

import (
	"cmp"
	"context"
	nethttp "net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/redact"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// asked is the part of a request that determines the answer when no row takes it.
type asked struct {
	surface operation.Surface
	method  string
	waits   bool // a portal path whose answer differs until the portal is set up
}

// lost answers requests that no row takes (docs/wire/errors.md#standard-errors). They pass the same
// chain as operations, in the dialect of the surface of their path.
func (c *Config) lost(ops []operation.Operation) func(nethttp.ResponseWriter, *nethttp.Request, []string) {
	unknown, method := map[asked]nethttp.Handler{}, map[asked]nethttp.Handler{}
	hiding := veil{}
	for i := range ops {
		before := ""
		for segment := range strings.SplitSeq(ops[i].Path, "/") {
			if name, open := operation.Placeholder(segment); open && (redact.Name(name) || slices.Contains(ops[i].Redact, name)) {
				hiding[before] = true
			}
			before = segment
		}
	}
	for s := range dialects {
		for _, m := range append(slices.Clone(verbs), other) {
			for _, waits := range []bool{false, true} {
				a := asked{s, m, waits}
				unknown[a] = c.refuse(a, hiding, fault.New(fault.NotFound, operation.CodeNoRoute, "Not Found"))
				method[a] = c.refuse(a, hiding, fault.New(fault.Invalid, operation.CodeNoMethod, "Method not allowed"))
			}
		}
	}
	portal, early := false, Paths{}
	for i := range ops {
		portal = portal || isPortalAPI(ops[i].Path)
		if ops[i].Early {
			early.Add(ops[i])
		}
	}
	return func(w nethttp.ResponseWriter, r *nethttp.Request, allowed []string) {
		a := asked{cmp.Or(c.Home, surfaceOf(r.URL.EscapedPath())), known(r.Method), portal && isPortalAPI(r.URL.EscapedPath()) && !early.Has(r)}
		if len(allowed) == 0 && a.surface == operation.Portal && r.Method == nethttp.MethodOptions && !strings.HasPrefix(r.URL.Path, "/portal") {
			allowed = []string{nethttp.MethodGet, nethttp.MethodHead} // there may be a page at the path, for these methods
		}
		if len(allowed) == 0 {
			unknown[a].ServeHTTP(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		method[a].ServeHTTP(w, r)
	}
}

// refuse serves a row that always answers with the same fault. Observers and logs see all such rows
// under one name.
func (c *Config) refuse(a asked, hiding veil, f *fault.Error) nethttp.Handler {
	faults := map[string]operation.Answer{operation.CodeNoMethod: {Status: nethttp.StatusMethodNotAllowed}}
	if a.surface == operation.Portal {
		faults = operation.PortalFaults()
	}
	spec := &operation.Spec{ID: "unrouted", Summary: "Unknown path or method", Surface: a.surface, Method: a.method, Intent: access.Write, Style: operation.Style{Faults: faults},
		Permission: access.AnyUser, EvenExpired: true, Unrouted: true}
	if a.method == nethttp.MethodGet || a.method == nethttp.MethodHead || a.method == nethttp.MethodOptions {
		spec.Intent = access.Read
	}
	do := func(_ context.Context, call *operation.Call) (any, error) {
		call.RawPath = hiding.over(call.RawPath)
		return nil, f
	}
	spec.Public = a.waits                                                             // the guard checks whether the surface is set up, and not the caller
	if a.waits || a.surface == operation.Management || a.surface == operation.Admin { // every request to the last two is audited
		do = c.Guard(do)
	}
	return c.serve(&row{spec: spec, dialect: dialectOf(a.surface), session: operation.SessionCookie, deadline: c.Deadline, do: do})
}

// veil removes possible secrets from paths that no row takes: it has the segments that precede
// secrets in the paths of rows.
type veil map[string]bool

// over returns a path without the segments where rows have secrets, the segments after names of
// secrets, and segments that look like keys.
func (v veil) over(path string) string {
	segments := strings.Split(path, "/")
	before := ""
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			plain = segment
		}
		if segment != "" && (v[before] || redact.Name(before) || redact.Opaque(plain)) {
			segments[i] = redact.Hidden
		}
		if segment != "" {
			before = plain
		}
	}
	return strings.Join(segments, "/")
}
