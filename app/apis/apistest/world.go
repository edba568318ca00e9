// Package apistest is a test environment for APIs: the operations of every class, and
// those on policies, of two organisations over HTTP.
package apistest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/openapi"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/cache"
	"github.com/gatehouse-io/gatehouse/app/apis/classic"
	"github.com/gatehouse-io/gatehouse/app/apis/datagraph"
	"github.com/gatehouse-io/gatehouse/app/apis/documents"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/importing"
	"github.com/gatehouse-io/gatehouse/app/apis/mcp"
	"github.com/gatehouse-io/gatehouse/app/apis/migrate"
	"github.com/gatehouse-io/gatehouse/app/apis/oas"
	"github.com/gatehouse-io/gatehouse/app/apis/streams"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// World is the APIs and policies of two organisations, served over HTTP.
type World struct {
	T         testing.TB
	DB        *memdb.DB
	APIs      *apis.Repository
	Forms     *forms.Forms
	Documents *documents.Service
	Importing *importing.Service
	HTTP      http.Handler
}

// Validator is shared by all tests, because it compiles each schema once.
var Validator = openapi.New()

// Callers are the principals by access key.
var Callers = apptest.Callers{
	"admin":  {ID: "admin", OrgID: "a", Permissions: access.Map{"IsAdmin": "admin"}},
	"ann":    {ID: "ann", OrgID: "a", GroupID: "team", Groups: []string{"team"}, Permissions: access.Map{"apis": "write"}},
	"bob":    {ID: "bob", OrgID: "a", Permissions: access.Map{"apis": "write", "mcp": "read"}},
	"tim":    {ID: "tim", OrgID: "a", Permissions: access.Map{"mcp": "write"}},
	"reader": {ID: "reader", OrgID: "a", Permissions: access.Map{"apis": "read"}},
	"other":  {ID: "other", OrgID: "b", Permissions: access.Map{"IsAdmin": "admin"}},
}

// Signals are the registrations of APIs and policies.
var Signals = crud.Kinds{apis.Registration(apis.Settings{}), policies.Registration(apis.Kind, policies.Settings{})}.Signals()

// Documents returns the service for documents, whose requests have JSON bodies.
func Documents(a *apis.Repository, f *forms.Forms) *documents.Service {
	return &documents.Service{APIs: a, Forms: f, Versions: &versioning.Service{APIs: a, Forms: f},
		Read: func(_ context.Context, b operation.Document) (*doc.Node, error) { return doc.ParseNode(b.JSON) }}
}

// Services returns the families of operations on APIs.
func Services(d *documents.Service, log *slog.Logger) []operation.Service {
	return []operation.Service{
		&classic.Service{APIs: d.APIs, Forms: d.Forms, Versions: d.Versions}, &oas.Service{Documents: d}, &streams.Service{Documents: d}, &mcp.Service{Documents: d},
		&cache.Service{APIs: d.APIs}, &datagraph.Service{Documents: d}, &migrate.Service{APIs: d.APIs, Forms: d.Forms, Log: log},
	}
}

// New returns a world without APIs.
func New(t testing.TB, settings apis.Settings) *World {
	t.Helper()
	w := &World{T: t}
	now := apptest.Clock()
	var err error
	if w.DB, err = memdb.New(now); err != nil {
		t.Fatal(err)
	}
	newID := apptest.Numbered("%024x")
	p := &policies.Service{Store: w.DB, APIs: apis.Kind, Now: now, NewID: newID, PageSize: 100}
	w.APIs = apis.New(apis.Config{
		Store: w.DB, NewID: newID, NewAPIID: apptest.Numbered("made%028x"), Now: now, PageSize: 10, Settings: settings, Forget: p.Forget,
		References: crud.NewReferences(apis.Registration(settings), policies.Registration(apis.Kind, policies.Settings{Ownership: settings.Ownership})),
	})
	w.Forms = &forms.Forms{Settings: settings, Hosts: servers.Config{Protocol: "http", DefaultHost: "gw.example"}, Validator: Validator}
	w.Documents = Documents(w.APIs, w.Forms)
	w.Importing = &importing.Service{APIs: w.APIs, Forms: w.Forms}
	var ops []operation.Operation
	for _, s := range append(Services(w.Documents, slog.New(slog.DiscardHandler)), p) {
		ops = append(ops, s.Operations()...)
	}
	w.HTTP = apptest.Serve(t, ops, Callers.Guard())
	return w
}

// Ask sends a request, with further headers as pairs, and returns the response.
func (w *World) Ask(as, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	w.T.Helper()
	r := httptest.NewRequestWithContext(w.T.Context(), method, "/api"+path, strings.NewReader(body))
	r.Header.Set("Authorization", as)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	out := httptest.NewRecorder()
	w.HTTP.ServeHTTP(out, r)
	return out
}

// Want checks a response: its status, and that it contains a text.
func (w *World) Want(as, method, path, body string, status int, text string) {
	w.T.Helper()
	got := w.Ask(as, method, path, body)
	if got.Code != status || !strings.Contains(got.Body.String(), text) {
		w.T.Errorf("%s %s %s %.200s: %d %s\nwant %d %s", as, method, path, body, got.Code, got.Body, status, text)
	}
}

// Done sends a request that must succeed.
func (w *World) Done(as, method, path, body string) {
	w.T.Helper()
	w.Want(as, method, path, body, 200, "")
}

// Node returns the body of a response that must be a success.
func (w *World) Node(as, path string) *doc.Node {
	w.T.Helper()
	got := w.Ask(as, "GET", path, "")
	n, err := doc.ParseNode(got.Body.Bytes())
	if err != nil || got.Code != 200 {
		w.T.Fatalf("%s: %d %s", path, got.Code, got.Body)
	}
	return n
}

// IDs returns the API IDs of a list, in order.
func (w *World) IDs(as, path string) string {
	w.T.Helper()
	var out []string
	for _, a := range w.Node(as, path).Get("apis").Items() {
		out = append(out, a.Get("api_definition", "api_id").Text())
	}
	return strings.Join(out, " ")
}

// Scope returns the scope of the organisation of most callers.
func (w *World) Scope() tenant.Scope {
	s, err := tenant.Of("a")
	if err != nil {
		w.T.Fatal(err)
	}
	return s
}

// Stored returns the record of an API as the store has it.
func (w *World) Stored(id string) (a store.Stored[apidef.API], text string) {
	w.T.Helper()
	err := w.DB.View(w.T.Context(), w.Scope(), func(r store.Reader) (err error) {
		if a, err = apis.Kind.Get(w.T.Context(), r, id); err != nil {
			return err
		}
		rec, err := r.Get(w.T.Context(), apidef.Kind, a.Value.ID())
		text = string(rec.Doc)
		return err
	})
	if err != nil {
		w.T.Fatal(id, err)
	}
	return a, text
}

// Head returns the revision of the store.
func (w *World) Head() store.Revision {
	w.T.Helper()
	rev, err := w.DB.Head(w.T.Context())
	if err != nil {
		w.T.Fatal(err)
	}
	return rev
}

// Announced returns the signals of the commits after a revision.
func (w *World) Announced(after store.Revision) string {
	w.T.Helper()
	var out []string
	head := w.Head()
	if head == after {
		return ""
	}
	for c, err := range w.DB.Follow(w.T.Context(), after) {
		if err != nil {
			w.T.Fatal(err)
		}
		var changes []signal.Change
		for _, ch := range c.Changes {
			changes = append(changes, signal.Change{Op: signal.Op(ch.Op), Kind: ch.Kind, ID: ch.ID, Key: ch.Key})
		}
		for _, s := range Signals.Of(changes) {
			out = append(out, strings.TrimSpace(string(s.Command)+" "+s.Payload))
		}
		if c.Rev >= head {
			break
		}
	}
	return strings.Join(out, ", ")
}

// Classic returns the wrapper of a classic API.
func Classic(id, name, path string) string {
	return fmt.Sprintf(`{"api_definition":{"api_id":%q,"name":%q,"active":true,"use_keyless":true,"proxy":{"listen_path":%q,"target_url":"http://t"}}}`, id, name, path)
}

// Document returns the document of an API.
func Document(id, name, path string) string {
	return fmt.Sprintf(`{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":%q,"id":%q,"state":{"active":true}},`+
		`"upstream":{"url":"http://t"},"server":{"listenPath":{"value":%q}}}}`, name, id, path)
}
