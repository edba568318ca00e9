package policies_test

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// definitions is a kind of APIs with the indexes that policies need.
var definitions = &store.Kind[apidef.API]{
	Name: apidef.Kind, Alias: "api_id", Load: apidef.Load, Shared: true, ID: apidef.API.ID,
	Org:     func(a apidef.API) tenant.ID { return a.OrgID() },
	Indexes: []store.Index[apidef.API]{store.Unique("api_id", "ID", apidef.API.APIID)},
}

// world is the policies of two organisations, served over HTTP.
type world struct {
	t       testing.TB
	db      *memdb.DB
	service *policies.Service
	http    http.Handler
}

// callers are the principals by access key.
var callers = apptest.Callers{
	"admin":  {ID: "admin", OrgID: "a", Permissions: access.Map{"IsAdmin": "admin"}},
	"ann":    {ID: "ann", OrgID: "a", GroupID: "team", Groups: []string{"team"}, Permissions: access.Map{"policies": "write"}},
	"bob":    {ID: "bob", OrgID: "a", Permissions: access.Map{"policy": "write"}},
	"reader": {ID: "reader", OrgID: "a", Permissions: access.Map{"policies": "read"}},
	"nobody": {ID: "nobody", OrgID: "a", Permissions: access.Map{"apis": "write", "policies": "deny"}},
	"other":  {ID: "other", OrgID: "b", Permissions: access.Map{"IsAdmin": "admin"}},
}

func newWorld(t testing.TB, settings policies.Settings) *world {
	t.Helper()
	w := &world{t: t}
	now := apptest.Clock()
	var err error
	if w.db, err = memdb.New(now); err != nil {
		t.Fatal(err)
	}
	w.service = &policies.Service{
		Store: w.db, APIs: definitions, Now: now, PageSize: 2, Settings: settings,
		NewID: apptest.Numbered("%024x"),
	}
	w.http = apptest.Checked(t, w.service.Operations(), callers.Guard())
	return w
}

// api stores an API with owners.
func (w *world) api(org tenant.ID, apiID string, class apidef.Class, definition string, owners ...string) {
	w.t.Helper()
	def, err := doc.ParseNode([]byte(definition))
	if err != nil {
		w.t.Fatal(err)
	}
	a, err := apidef.New(apidef.Draft{
		ID: w.service.NewID(), APIID: apiID, OrgID: org, Class: class, Definition: def,
		Wrapper: doc.Object{}.With("user_owners", doc.NewStrings(owners).JSON()),
	}, w.service.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	w.update(org, func(wr store.Writer) error { return definitions.Insert(w.t.Context(), wr, a) })
}

func (w *world) scope(org tenant.ID) tenant.Scope {
	s, err := tenant.Of(org)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) update(org tenant.ID, fn func(store.Writer) error) {
	w.t.Helper()
	if _, err := w.db.Update(w.t.Context(), w.scope(org), fn); err != nil {
		w.t.Fatal(err)
	}
}

// ask sends a request, with further headers as pairs, and returns the response.
func (w *world) ask(as, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, "/api/portal/policies"+path, strings.NewReader(body))
	r.Header.Set("Authorization", as)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	out := httptest.NewRecorder()
	w.http.ServeHTTP(out, r)
	return out
}

// want checks a response: its status, and its text unless that is empty.
func (w *world) want(as, method, path, body string, status int, text string, headers ...string) {
	w.t.Helper()
	got := w.ask(as, method, path, body, headers...)
	if got.Code != status || text != "" && got.Body.String() != text {
		w.t.Errorf("%s %s %s %s: %d %s\nwant %d %s", as, method, path, body, got.Code, got.Body, status, text)
	}
}

// create creates a policy and returns its database ID.
func (w *world) create(as, body string) string {
	w.t.Helper()
	got := w.ask(as, "POST", "", body)
	id, ok := strings.CutPrefix(got.Body.String(), `{"Status":"OK","Message":"`)
	if got.Code != 200 || !ok {
		w.t.Fatalf("%s: %d %s", body, got.Code, got.Body)
	}
	return strings.TrimSuffix(id, `","Meta":null}`)
}

// names returns the names of the policies in a list, in order.
func (w *world) names(as, path string) string {
	w.t.Helper()
	got := w.ask(as, "GET", path, "")
	n, err := doc.ParseNode(got.Body.Bytes())
	if err != nil || got.Code != 200 {
		w.t.Fatalf("%s: %d %s", path, got.Code, got.Body)
	}
	var out []string
	for _, p := range n.Get("Data").Items() {
		out = append(out, p.Get("name").Text())
	}
	return strings.Join(out, " ")
}

func failure(message string) string {
	return string(doc.AppendString([]byte(`{"Status":"Error","Message":`), message)) + `,"Meta":null}`
}

// counting counts the reads of a store.
type counting struct {
	store.Store
	reads atomic.Int64
}

func (c *counting) View(ctx context.Context, s tenant.Scope, fn func(store.Reader) error) error {
	return c.Store.View(ctx, s, func(r store.Reader) error { return fn(countedReader{r, &c.reads}) })
}

func (c *counting) Update(ctx context.Context, s tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	return c.Store.Update(ctx, s, func(w store.Writer) error { return fn(countedWriter{w, &c.reads}) })
}

type countedReader struct {
	store.Reader
	reads *atomic.Int64
}

func (r countedReader) Get(ctx context.Context, kind, id string) (store.Record, error) {
	r.reads.Add(1)
	return r.Reader.Get(ctx, kind, id)
}

func (r countedReader) Scan(ctx context.Context, q store.Query) iter.Seq2[store.Record, error] {
	r.reads.Add(1)
	return r.Reader.Scan(ctx, q)
}

type countedWriter struct {
	store.Writer
	reads *atomic.Int64
}

func (w countedWriter) Get(ctx context.Context, kind, id string) (store.Record, error) {
	w.reads.Add(1)
	return w.Writer.Get(ctx, kind, id)
}

func (w countedWriter) Scan(ctx context.Context, q store.Query) iter.Seq2[store.Record, error] {
	w.reads.Add(1)
	return w.Writer.Scan(ctx, q)
}
