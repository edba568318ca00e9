package transfer_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/openapi"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/importing"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/app/registry"
	"github.com/gatehouse-io/gatehouse/app/transfer"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/folder"
	"github.com/gatehouse-io/gatehouse/core/policy"
	providers "github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	port "github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// world is a store for everything that can be imported, with the organisations a and b.
type world struct {
	t       testing.TB
	db      *memdb.DB
	service *transfer.Service
	orgs    []tenant.ID
}

func newWorld(t testing.TB, settings apis.Settings) *world {
	t.Helper()
	now, newID := apptest.Clock(), apptest.Numbered("f%023x")
	db, err := memdb.New(now)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	w := &world{t: t, db: db, orgs: []tenant.ID{"a", "b"}}
	w.service = &transfer.Service{
		Store: db,
		APIs: &importing.Service{
			APIs:  apis.New(apis.Config{Store: db, NewID: newID, NewAPIID: newID, Now: now, PageSize: 10, Settings: settings}),
			Forms: &forms.Forms{Settings: settings, Validator: openapi.New()},
		},
		Policies:      &policies.Service{Store: db, APIs: apis.Kind, NewID: newID, Now: now, PageSize: 10},
		IDPs:          &registry.ClientIDPs{Tools: crud.Tools{Store: db, NewID: newID, Now: now, Log: log, PageSize: 10}},
		Organisations: func(context.Context) ([]tenant.ID, error) { return w.orgs, nil },
	}
	return w
}

func (w *world) scope(org tenant.ID) tenant.Scope {
	w.t.Helper()
	s, err := tenant.Of(org)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// bundle reads files that must be valid.
func (w *world) bundle(pairs ...string) folder.Bundle {
	w.t.Helper()
	var files []folder.File
	for i := 0; i < len(pairs); i += 2 {
		files = append(files, folder.File{Name: pairs[i], Text: []byte(pairs[i+1])})
	}
	b, problems := folder.Read(files)
	if len(problems) > 0 {
		w.t.Fatal(problems)
	}
	return b
}

// load imports a bundle that must be valid into an organisation.
func (w *world) load(org tenant.ID, b folder.Bundle) transfer.Report {
	w.t.Helper()
	r, err := w.service.Import(w.t.Context(), w.scope(org), b, false, nil)
	if err != nil {
		w.t.Fatal(err, r.Problems)
	}
	return r
}

func (w *world) head() store.Revision {
	w.t.Helper()
	head, err := w.db.Head(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return head
}

// announces are the registrations whose changes are announced.
var announces = crud.Kinds{apis.Registration(apis.Settings{}), policies.Registration(apis.Kind, policies.Settings{}), registry.Registration()}.Signals()

// signals returns the signals of the commits after a revision.
func (w *world) signals(after store.Revision) (out []string) {
	w.t.Helper()
	if w.head() == after {
		return nil
	}
	for c, err := range w.db.Follow(w.t.Context(), after) {
		if err != nil {
			w.t.Fatal(err)
		}
		var changes []signal.Change
		for _, ch := range c.Changes {
			changes = append(changes, signal.Change{Op: signal.Op(ch.Op), Kind: ch.Kind, ID: ch.ID, Key: ch.Key})
		}
		for _, s := range announces.Of(changes) {
			out = append(out, string(s.Command)+" "+s.Payload)
		}
		if c.Rev == w.head() {
			break
		}
	}
	return out
}

// feed returns what gateways load, by ID.
func (w *world) feed(source port.Source, id func(*doc.Node) string) map[string]*doc.Node {
	w.t.Helper()
	out := map[string]*doc.Node{}
	err := w.db.View(w.t.Context(), tenant.Everyone("test"), func(r store.Reader) error {
		for rec, err := range r.Scan(w.t.Context(), store.Query{Kind: source.Kind}) {
			if err != nil {
				return err
			}
			e := source.Entry(rec, nil)
			if len(e.Problems) > 0 {
				w.t.Errorf("%s: %v", rec.ID, e.Problems)
				continue
			}
			n, err := doc.ParseNode(e.Text)
			if err != nil {
				return err
			}
			out[id(n)] = n
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) apis() map[string]*doc.Node {
	return w.feed(*apis.Feed(false), func(n *doc.Node) string { return n.Get("api_definition", "api_id").Text() })
}

func (w *world) policies() map[string]*doc.Node {
	return w.feed(*policies.Feed(true), func(n *doc.Node) string { return n.Get("id").Text() })
}

// record returns the text of a stored record.
func (w *world) record(org tenant.ID, kind, id string) string {
	w.t.Helper()
	var text []byte
	err := w.db.View(w.t.Context(), w.scope(org), func(r store.Reader) (err error) {
		switch kind {
		case apidef.Kind:
			a, err := apis.Kind.Get(w.t.Context(), r, id)
			if err == nil {
				text, err = a.Value.AppendJSON(nil)
			}
			return err
		case policy.Kind:
			p, err := policies.Kind.Get(w.t.Context(), r, id)
			if err == nil {
				text, err = p.Value.AppendJSON(nil)
			}
			return err
		}
		for rec, err := range r.Scan(w.t.Context(), store.Query{Kind: providers.Kind, Index: "client_idp_id", Value: id}) {
			text = rec.Doc
			return err
		}
		return store.ErrNotFound
	})
	if err != nil {
		w.t.Fatal(kind, id, err)
	}
	return string(text)
}

// http returns the operations over HTTP; responses are checked against the API
// description.
func (w *world) http(t *testing.T) http.Handler {
	t.Helper()
	return apptest.Checked(t, w.service.Operations(), apptest.Guard(operation.Admin, func(_ context.Context, c *operation.Call) error {
		if c.Token != "secret" {
			return guard.Unauthenticated()
		}
		return nil
	}))
}

func post(t *testing.T, h http.Handler, path, secret, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r.Header.Set("Admin-Auth", secret)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}
