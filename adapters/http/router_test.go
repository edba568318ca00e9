package http

import (
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

func routes(t testing.TB, patterns ...string) *router {
	t.Helper()
	rt := &router{lost: func(w nethttp.ResponseWriter, _ *nethttp.Request, allowed []string) { fmt.Fprint(w, "lost ", allowed) }}
	for _, p := range patterns {
		method := "GET"
		if p[0] != '/' {
			_, _ = fmt.Sscan(p, &method, &p)
		}
		if err := rt.handle(&operation.Spec{Method: method, Path: p}, nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			fmt.Fprint(w, method, " ", p)
			for _, name := range []string{"id", "key", "a", "b"} {
				if v := r.PathValue(name); v != "" {
					fmt.Fprintf(w, " %s=%s", name, v)
				}
			}
		})); err != nil {
			t.Fatal(err)
		}
	}
	return rt
}

// TestPaths: paths are matched by their form, with and without a trailing slash.
func TestPaths(t *testing.T) {
	var p Paths
	for _, spec := range []operation.Spec{{Path: "/api/a/{id}"}, {Method: "PUT", Path: "/api/a/{id}"}, {Method: "POST", Path: "/api/b", Alone: true}, {Path: "/files/{path}", Tail: true}} {
		p.Add(operation.Operation{Spec: spec})
	}
	for path, want := range map[string]bool{"/api/a/7": true, "/api/a/7/": true, "/api/a": false, "/api/a/7/x": false, "/api/b": true, "/files/x/y": true, "/": false} {
		if got := p.Has(httptest.NewRequestWithContext(t.Context(), "DELETE", path, nil)); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// A tail matches paths that no other pattern matches. TestRouterAlone: a path with
// Alone is unknown to other methods.
func TestRouterAlone(t *testing.T) {
	var allowed []string
	lost := false
	rt := &router{lost: func(_ nethttp.ResponseWriter, _ *nethttp.Request, methods []string) { allowed, lost = methods, true }}
	for _, spec := range []operation.Spec{{Method: "POST", Path: "/api/portal/css", Alone: true}, {Method: "GET", Path: "/api/portal/{any}/x"}} {
		if err := rt.handle(&spec, nethttp.NotFoundHandler()); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		method, path string
		lost         bool
		allowed      []string
	}{
		{"POST", "/api/portal/css", false, nil},
		{"GET", "/api/portal/css/", true, nil},
		{"PUT", "/api/portal/css/x", true, []string{"GET", "HEAD"}},
	} {
		allowed, lost = nil, false
		rt.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), c.method, c.path, nil))
		if lost != c.lost || !slices.Equal(allowed, c.allowed) {
			t.Errorf("%s %s: lost %v, allowed %v", c.method, c.path, lost, allowed)
		}
	}
}

func TestRouterTail(t *testing.T) {
	rt := routes(t, "/api/examples", "/api/examples/{id}/readme")
	err := rt.handle(&operation.Spec{Method: "GET", Path: "/api/examples/{a}", Tail: true}, nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		fmt.Fprint(w, "tail ", r.PathValue("a"))
	}))
	if err != nil || rt.handle(&operation.Spec{Method: "GET", Path: "/api/examples/{b}", Tail: true}, nil) == nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"GET /api/examples": "GET /api/examples", "GET /api/examples/": "GET /api/examples", "GET /api/examples/x": "tail x",
		"GET /api/examples/x/y/z": "tail x/y/z", "GET /api/examples/x%2Fy": "tail x/y", "GET /api/examples/x%252Fy/": "tail x%2Fy",
		"GET /api/examples/x/readme": "GET /api/examples/{id}/readme id=x", "GET /api/examples/x/y/readme": "tail x/y/readme",
		"HEAD /api/examples/x": "tail x", "POST /api/examples/x/y": "lost [GET HEAD]", "GET /api/examples//x": "lost []",
	} {
		method, path, _ := strings.Cut(path, " ")
		r := httptest.NewRequest(method, "/", nil)
		r.URL.Path, r.URL.RawPath = path, path
		if u, err := url.PathUnescape(path); err == nil {
			r.URL.Path = u
		}
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, r)
		if got := w.Body.String(); got != want {
			t.Errorf("%s %s: %s, want %s", method, path, got, want)
		}
	}
}

func TestRouter(t *testing.T) {
	rt := routes(t, "/", "/api/apis", "/api/apis/{id}", "/api/apis/{id}/access", "/api/apis/oas/{id}", "/api/apis/{id}/keys/{key}", "/api/apis/oas/{id}/export",
		"PUT /api/apis/oas/{id}", "PATCH /api/apis/{a}/{b}", "POST /api/apis", "HEAD /api/apis/head", "/api/apis/head", "/portal-api/tags", "POST /portal-api/tags", "/{a}/{b}/literal", "/api/{a}/literal/{b}")
	for _, tt := range [][2]string{
		{"GET /api/apis/oas/access", "GET /api/apis/oas/{id} id=access"},
		{"GET /api/apis/x/access", "GET /api/apis/{id}/access id=x"},
		{"GET /api/apis/oas/x/export", "GET /api/apis/oas/{id}/export id=x"},
		{"GET /api/apis/oas/keys/y", "GET /api/apis/{id}/keys/{key} id=oas key=y"},
		{"GET /api/apis/oas", "GET /api/apis/{id} id=oas"},
		{"GET /api/apis/a%2Fb", "GET /api/apis/{id} id=a/b"},
		{"GET /api/apis/a%252Fb", "GET /api/apis/{id} id=a%2Fb"}, // decoded once
		{"GET /api/apis/%7Bid%7D", "GET /api/apis/{id} id={id}"},
		{"GET /api/apis/%C3%A4%20%00", "GET /api/apis/{id} id=ä \x00"},
		{"GET /api/apis/a+b", "GET /api/apis/{id} id=a+b"},
		{"GET /api/apis/..", "GET /api/apis/{id} id=.."},
		{"GET /%61pi/apis", "GET /api/apis"},
		{"GET /api/apis/", "GET /api/apis"},
		{"GET /api/apis//", "lost []"},
		{"GET /api//apis", "lost []"},
		{"GET //api/apis", "GET /api/apis"},
		{"GET ///api/apis/a%2Fb", "GET /api/apis/{id} id=a/b"},
		{"GET /api/apis//access", "lost []"},
		{"GET /", "GET /"},
		{"GET /api", "lost []"},
		{"HEAD /api/apis/x", "GET /api/apis/{id} id=x"},
		{"HEAD /api/apis/head", "HEAD /api/apis/head"},
		{"HEAD /portal-api/tags", "lost [GET POST]"}, // the portal's API only has the methods of its rows
		{"GET /portal-api/tags/", "GET /portal-api/tags"},
		{"PATCH /api/apis/oas/x", "PATCH /api/apis/{a}/{b} a=oas b=x"}, // another method of the literal path does not block the placeholder
		{"GET /api/apis/literal/x", "GET /api/{a}/literal/{b} a=apis b=x"},
		{"GET /api/apis/literal", "GET /api/apis/{id} id=literal"},
		{"GET /x/y/literal", "GET /{a}/{b}/literal a=x b=y"},
		{"DELETE /api/apis", "lost [GET HEAD POST]"},
		{"DELETE /api/apis/oas/x", "lost [GET HEAD PATCH PUT]"},
		{"OPTIONS /api/apis/x", "lost [GET HEAD]"},
	} {
		var method, target string
		_, _ = fmt.Sscan(tt[0], &method, &target)
		r := httptest.NewRequest(method, "http://example.com"+target, nil)
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, r)
		if b, _ := io.ReadAll(w.Body); string(b) != tt[1] {
			t.Errorf("%s: %q, want %q", tt[0], b, tt[1])
		}
	}
}

func TestRouterRefusesDuplicates(t *testing.T) {
	rt := routes(t, "/api/apis/{id}", "/api/apis/{id}/x")
	for _, p := range []string{"/api/apis/{other}", "/api/apis/{other}/", "/api/apis/{a}/x"} {
		if rt.handle(&operation.Spec{Method: "GET", Path: p}, nil) == nil {
			t.Errorf("%s twice", p)
		}
	}
	if err := rt.handle(&operation.Spec{Method: "PUT", Path: "/api/apis/{other}"}, nil); err != nil {
		t.Error(err)
	}
}
