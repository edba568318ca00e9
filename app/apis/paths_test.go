package apis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// door is a pair of operations that store an API with a listen path and an upstream.
type door struct {
	name, create, replace string
	body                  func(id, path, upstream string) string
	field                 string // of the upstream, as a refusal names it
}

var paths = []door{
	{"classic", "/apis", "/apis/", func(id, path, upstream string) string {
		return strings.Replace(classic(id, id, path), `"http://t"`, fmt.Sprintf("%q", upstream), 1)
	}, "proxy.target_url"},
	{"OAS", "/apis/oas", "/apis/oas/", withUpstream, "upstream.url"},
	{"streams", "/apis/streams", "/apis/streams/", withUpstream, "upstream.url"},
	{"MCP", "/mcps", "/mcps/", withUpstream, "upstream.url"},
}

func withUpstream(id, path, upstream string) string {
	return strings.Replace(document(id, id, path), `"http://t"`, fmt.Sprintf("%q", upstream), 1)
}

// TestListenPathsByReference: gateways put a path in the place of a reference.
func TestListenPathsByReference(t *testing.T) {
	for _, d := range paths {
		t.Run(d.name, func(t *testing.T) {
			w := newWorld(t, apis.Settings{Streams: true})
			for i, path := range []string{"env://PATH", "secrets://path", "consul://a/b", "vault://a.b", "file:///etc/path"} {
				id := fmt.Sprint("a", i)
				w.done("admin", "POST", d.create, d.body(id, path, "http://t"))
				if a, _ := w.stored(id); a.Value.ListenPath() != path {
					t.Errorf("%q became %q", path, a.Value.ListenPath())
				}
				w.done("admin", "PUT", d.replace+id, d.body(id, path, "http://u"))
			}
			w.want("admin", "POST", d.create, d.body("b", "env://PATH", "http://t"), 403, "Found API with same url.")
			w.want("admin", "POST", d.create, d.body("b", "https://path", "http://t"), 400, `Listen path must start with`)
		})
	}
}

// TestListenPathsAsWritten: a slash at the end makes another path.
func TestListenPathsAsWritten(t *testing.T) {
	for _, d := range paths {
		t.Run(d.name, func(t *testing.T) {
			w := newWorld(t, apis.Settings{Streams: true})
			w.done("admin", "POST", d.create, d.body("a", "/a/", "http://t"))
			w.done("admin", "POST", d.create, d.body("b", "/a", "http://t"))
			w.want("admin", "POST", d.create, d.body("c", "/a", "http://t"), 403, "Found API with same url.")
			w.want("admin", "PUT", d.replace+"b", d.body("b", "/a/", "http://t"), 403, "Found API with same url.")
		})
	}
}

// TestUpstreams: what gateways cannot send requests to is refused by name.
func TestUpstreams(t *testing.T) {
	for _, d := range paths {
		t.Run(d.name, func(t *testing.T) {
			w := newWorld(t, apis.Settings{Streams: true})
			w.done("admin", "POST", d.create, d.body("a", "/a/", "http://t"))
			before, text := w.stored("a")
			for _, upstream := range []string{"invalid-url", "up.example", "/relative", "//up.example", "http://", "http:///x", "not an address", "mailto:x"} {
				w.want("admin", "POST", d.create, d.body("b", "/b/", upstream), 400, d.field)
				w.want("admin", "PUT", d.replace+"a", d.body("a", "/a/", upstream), 400, d.field)
			}
			if after, now := w.stored("a"); after.Rev != before.Rev || now != text {
				t.Error("a refusal changed", now)
			}
			for _, upstream := range []string{"http://up.example:8080/x", "h2c://[::1]:80", "env://UP", "secrets://up", "tyk://a", "http://$kv{a/b}/x"} {
				w.done("admin", "PUT", d.replace+"a", d.body("a", "/a/", upstream))
			}
		})
	}
	t.Run("by query", func(t *testing.T) {
		w := newWorld(t, apis.Settings{})
		const plain = `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{}}`
		w.want("admin", "POST", "/apis/oas/import?upstreamURL=invalid-url&listenPath=/x/", plain, 400, "upstreamURL must be an absolute URL")
		w.done("admin", "POST", "/apis/oas", document("a", "A", "/a/"))
		w.want("admin", "PATCH", "/apis/oas/a?upstreamURL=invalid-url", plain, 400, "upstreamURL must be an absolute URL")
	})
	t.Run("of a version", func(t *testing.T) {
		w := newWorld(t, apis.Settings{})
		w.want("admin", "POST", "/apis", strings.Replace(classic("a", "A", "/a/"), `"active":true`,
			`"version_data":{"not_versioned":true,"versions":{"v":{"name":"v","override_target":"up"}}}`, 1), 400, "version_data.versions.v.override_target")
	})
}

// TestMisplaced: an API that an earlier version stored is looked up as its listen
// path is written once it has been upgraded.
func TestMisplaced(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	w.done("admin", "POST", "/apis", classic("a", "A", "/a"))
	a, _ := w.stored("a")
	at := func() (rec store.Record) {
		t.Helper()
		err := w.db.View(t.Context(), w.scope(), func(r store.Reader) (err error) {
			rec, err = r.Get(t.Context(), "api", a.Value.ID())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	if apis.Misplaced(at(), a.Value) {
		t.Error("a new API is out of place")
	}
	update := func(sc tenant.Scope, fn func(store.Writer) error) {
		t.Helper()
		if _, err := w.db.Update(t.Context(), sc, fn); err != nil {
			t.Fatal(err)
		}
	}
	update(w.scope(), func(wr store.Writer) error {
		rec := at()
		for i, k := range rec.Keys {
			if k.Index == "address" || k.Index == "place" {
				rec.Keys[i].Value = " /a/"
			}
		}
		return wr.Put(t.Context(), rec)
	})
	if !apis.Misplaced(at(), a.Value) {
		t.Error("an old record is not recognised")
	}
	update(w.scope(), func(wr store.Writer) error {
		_, err := w.library.Upgrade(t.Context(), wr, a.Value.ID())
		return err
	})
	if apis.Misplaced(at(), a.Value) {
		t.Error("an upgrade leaves it where it was")
	}
	w.done("admin", "POST", "/apis", classic("b", "B", "/a/"))
	w.want("admin", "POST", "/apis", classic("c", "C", "/a"), 403, "Found API with same url.")
}
