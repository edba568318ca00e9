package apis_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/openapi"
	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// world is the APIs and policies of two organisations behind HTTP.
type world struct {
	t       testing.TB
	db      *memdb.DB
	library *apis.Library
	http    http.Handler
}

// validator is shared: it compiles each schema once.
var validator = openapi.New()

// callers are who may ask, by access key.
var callers = map[string]operation.Principal{
	"admin":  {ID: "admin", OrgID: "a", Permissions: access.Map{"IsAdmin": "admin"}},
	"ann":    {ID: "ann", OrgID: "a", GroupID: "team", Permissions: access.Map{"apis": "write"}},
	"bob":    {ID: "bob", OrgID: "a", Permissions: access.Map{"apis": "write", "mcp": "read"}},
	"tim":    {ID: "tim", OrgID: "a", Permissions: access.Map{"mcp": "write"}},
	"reader": {ID: "reader", OrgID: "a", Permissions: access.Map{"apis": "read"}},
	"other":  {ID: "other", OrgID: "b", Permissions: access.Map{"IsAdmin": "admin"}},
}

func authenticate(_ context.Context, c *operation.Call) (err error) {
	p, ok := callers[c.Token]
	if !ok {
		return guard.Unauthenticated()
	}
	c.Principal = p
	c.Scope, err = tenant.Of(p.OrgID)
	return err
}

// numbered makes identifiers of a number of digits.
func numbered(format string) func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf(format, n.Add(1)) }
}

// signals is what changes announce.
var signals = crud.Kinds{apis.Registration(apis.Settings{}), policies.Registration(apis.Kind, false)}.Signals()

func newWorld(t testing.TB, settings apis.Settings) *world {
	t.Helper()
	w := &world{t: t}
	var seconds atomic.Int64
	now := func() time.Time { return time.Unix(1767323045+seconds.Add(1), 0).UTC() }
	var err error
	if w.db, err = memdb.New(now); err != nil {
		t.Fatal(err)
	}
	newID := numbered("%024x")
	p := &policies.Service{Store: w.db, APIs: apis.Kind, Now: now, NewID: newID, PageSize: 100}
	w.library = apis.New(apis.Config{
		Store: w.db, NewID: newID, NewAPIID: numbered("made%028x"), Now: now, Log: slog.New(slog.DiscardHandler), PageSize: 10,
		Settings: settings, Hosts: servers.Config{Protocol: "http", DefaultHost: "gw.example"}, Validator: validator, Forget: p.Forget,
		References: crud.NewReferences(apis.Registration(settings), policies.Registration(apis.Kind, settings.Ownership)),
		Read:       func(_ context.Context, b operation.Document) (*doc.Node, error) { return doc.ParseNode(b.JSON) },
	})
	var ops []operation.Operation
	for _, s := range []operation.Service{
		apis.Classic{Library: w.library}, apis.OAS{Library: w.library}, apis.Streams{Library: w.library}, apis.MCP{Library: w.library}, apis.Cache{Library: w.library}, apis.DataGraphs{Library: w.library}, apis.Migration{Library: w.library}, p,
	} {
		ops = append(ops, s.Operations()...)
	}
	w.http, err = httpadapter.Handler(ops, httpadapter.Config{
		YAML: yaml.Codec{}, Guard: guard.New(guard.Config{
			Authenticators: map[operation.Surface]guard.Authenticator{operation.Management: authenticate},
			Rules:          rules.BuiltIn{}, Audit: func(context.Context, *operation.Call, error) {},
		}),
		Logger: slog.New(slog.DiscardHandler), MaxBody: 32 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// ask sends a request, with more headers as pairs, and returns the answer.
func (w *world) ask(as, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, "/api"+path, strings.NewReader(body))
	r.Header.Set("Authorization", as)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	out := httptest.NewRecorder()
	w.http.ServeHTTP(out, r)
	return out
}

// want checks an answer: its status, and that it contains a text.
func (w *world) want(as, method, path, body string, status int, text string) {
	w.t.Helper()
	got := w.ask(as, method, path, body)
	if got.Code != status || !strings.Contains(got.Body.String(), text) {
		w.t.Errorf("%s %s %s %.200s: %d %s\nwant %d %s", as, method, path, body, got.Code, got.Body, status, text)
	}
}

// done is want for what must succeed.
func (w *world) done(as, method, path, body string) {
	w.t.Helper()
	w.want(as, method, path, body, 200, "")
}

// node reads an answer that must be a success.
func (w *world) node(as, path string) *doc.Node {
	w.t.Helper()
	got := w.ask(as, "GET", path, "")
	n, err := doc.ParseNode(got.Body.Bytes())
	if err != nil || got.Code != 200 {
		w.t.Fatalf("%s: %d %s", path, got.Code, got.Body)
	}
	return n
}

// ids returns the API IDs of a list, in order.
func (w *world) ids(as, path string) string {
	w.t.Helper()
	var out []string
	for _, a := range w.node(as, path).Get("apis").Items() {
		out = append(out, a.Get("api_definition", "api_id").Text())
	}
	return strings.Join(out, " ")
}

func (w *world) scope() tenant.Scope {
	s, err := tenant.Of("a")
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// stored returns the record of an API as the store has it.
func (w *world) stored(id string) (a store.Stored[apidef.API], text string) {
	w.t.Helper()
	err := w.db.View(w.t.Context(), w.scope(), func(r store.Reader) (err error) {
		if a, err = apis.Kind.Get(w.t.Context(), r, id); err != nil {
			return err
		}
		rec, err := r.Get(w.t.Context(), apidef.Kind, a.Value.ID())
		text = string(rec.Doc)
		return err
	})
	if err != nil {
		w.t.Fatal(id, err)
	}
	return a, text
}

func (w *world) head() store.Revision {
	w.t.Helper()
	rev, err := w.db.Head(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return rev
}

// announced returns what the commits after a revision announce.
func (w *world) announced(after store.Revision) string {
	w.t.Helper()
	var out []string
	head := w.head()
	if head == after {
		return ""
	}
	for c, err := range w.db.Follow(w.t.Context(), after) {
		if err != nil {
			w.t.Fatal(err)
		}
		var changes []signal.Change
		for _, ch := range c.Changes {
			changes = append(changes, signal.Change{Op: signal.Op(ch.Op), Kind: ch.Kind, ID: ch.ID, Key: ch.Key})
		}
		for _, s := range signals.Of(changes) {
			out = append(out, strings.TrimSpace(string(s.Command)+" "+s.Payload))
		}
		if c.Rev >= head {
			break
		}
	}
	return strings.Join(out, ", ")
}

// classic returns the wrapper of a classic API.
func classic(id, name, path string) string {
	return fmt.Sprintf(`{"api_definition":{"api_id":%q,"name":%q,"active":true,"use_keyless":true,"proxy":{"listen_path":%q,"target_url":"http://t"}}}`, id, name, path)
}

// document returns the document of an API.
func document(id, name, path string) string {
	return fmt.Sprintf(`{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":%q,"id":%q,"state":{"active":true}},`+
		`"upstream":{"url":"http://t"},"server":{"listenPath":{"value":%q}}}}`, name, id, path)
}
