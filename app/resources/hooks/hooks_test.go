package hooks_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/resources/hooks"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// world is the service over a store in memory. The credential of a caller is the name
// of its organisation.
type world struct {
	http.Handler
	store *memdb.DB
	log   *bytes.Buffer
}

func newWorld(t *testing.T) world {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	n, log := 0, &bytes.Buffer{}
	s := &hooks.Service{Tools: crud.Tools{Store: db, PageSize: 2, Log: slog.New(slog.NewTextHandler(log, nil)), Now: time.Now,
		NewID: func() string { n++; return fmt.Sprintf("%024x", n) }}}
	h, err := httpadapter.Handler(s.Operations(), httpadapter.Config{Guard: scoped, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return world{h, db, log}
}

func scoped(next operation.Handler) operation.Handler {
	return func(ctx context.Context, c *operation.Call) (any, error) {
		var err error
		if c.Scope, err = tenant.Of(tenant.ID(c.Token)); err != nil {
			return nil, err
		}
		return next(ctx, c)
	}
}

// ask sends one request and returns the response as "status body".
func (w world) ask(t *testing.T, as, method, path, body, match string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", as)
	switch match {
	case "":
	case seen: // the current tag
		read := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		read.Header.Set("Authorization", as)
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, read)
		r.Header.Set("If-Match", rec.Header().Get("Etag"))
	default:
		r.Header.Set("If-Match", match)
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	return fmt.Sprintf("%d %s", rec.Code, strings.TrimSpace(rec.Body.String()))
}

const (
	one    = "/api/hooks/000000000000000000000001"
	fault  = `{"Status":"Error","Message":"%s","Meta":null}`
	stored = `{"id":"000000000000000000000001","org_id":"a","webhook_id":"w","name":"first","method":"POST","target_path":"https://h.example/1",` +
		`"template_path":"","header_map":{"b":"2","a":"1"},"event_timeout":0,"api_model":{}}`
)

// seen stands for the current entity tag of a resource.
const seen = "seen"

func failed(status int, message string) string { return fmt.Sprintf("%d "+fault, status, message) }

// Every row of docs/wire/webhooks.md#record.
func TestWebhooks(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ as, method, path, body, match, want string }{
		{"a", "GET", "/api/hooks", "", "", `200 {"hooks":[],"pages":1}`},
		{"a", "GET", "/api/hooks?p=x", "", "", failed(400, "Could not retrieve webhooks.")},
		{"a", "POST", "/api/hooks", `{"name":"first","webhook_id":"w","method":"POST","target_path":"https://h.example/1","header_map":{"b":"2","a":"1"}}`, "",
			`200 {"Status":"OK","Message":"Webhook created","Meta":null,"ID":"000000000000000000000001"}`},
		{"a", "GET", one, "", "", "200 " + stored},
		{"a", "POST", "/api/hooks", "", "", failed(500, "Failed to read response body, body empty.")},
		{"a", "POST", "/api/hooks", "{", "", failed(403, "Request body malformed.")},
		{"a", "POST", "/api/hooks", "[]", "", failed(403, "Request body malformed.")},
		{"a", "POST", "/api/hooks", `{"name":1,"method":"POST","target_path":"https://h"}`, "", failed(403, "Request body malformed.")},
		{"a", "POST", "/api/hooks", `{"method":"POST"}`, "", failed(400, "Webhook object validation failed.")},
		{"a", "POST", "/api/hooks", `{"method":"TRACE","target_path":"https://h"}`, "", failed(400, "Webhook object validation failed.")},
		{"a", "POST", "/api/hooks", `{"webhook_id":"w","method":"GET","target_path":"https://h"}`, "", failed(409, "Duplicate webhook_id.")},
		{"b", "POST", "/api/hooks", `{"webhook_id":"w","method":"GET","target_path":"https://h"}`, "",
			`200 {"Status":"OK","Message":"Webhook created","Meta":null,"ID":"000000000000000000000005"}`},
		{"b", "GET", one, "", "", failed(400, "Could not retrieve webhook detail.")},
		{"b", "PUT", one, `{"method":"GET","target_path":"https://h"}`, "", failed(400, "Webhook not found.")},
		{"b", "DELETE", one, "", "", failed(404, "Could not retrieve webhook detail.")},
		{"a", "PUT", one, "", "", failed(500, "Failed to read response body, body empty.")},
		{"a", "PUT", one, `{"method":7}`, "", failed(403, "Request body malformed.")},
		{"a", "PUT", one, `{"method":"PUT","target_path":"h"}`, "", failed(400, "Webhook object validation failed.")},
		{"a", "PUT", "/api/hooks/none", `{"method":"PUT","target_path":"h"}`, "", failed(400, "Webhook not found.")},
		{"a", "PUT", one, `{"method":"PUT","target_path":"https://h"}`, `"99"`, failed(412, "If-Match does not hold: the resource has changed; read it again")},
		{"a", "GET", one, "", "", "200 " + stored},
		{"a", "PUT", one, `{"method":"PUT","target_path":"https://g"}`, seen, `200 {"Status":"OK","Message":"Hook updated","Meta":null}`},
		{"a", "GET", one, "", "", `200 {"id":"000000000000000000000001","org_id":"a","webhook_id":"","name":"","method":"PUT","target_path":"https://g",` +
			`"template_path":"","header_map":{},"event_timeout":0,"api_model":{}}`},
		{"a", "POST", "/api/hooks", `{"method":"GET","target_path":"https://h"}`, "", `200 {"Status":"OK","Message":"Webhook created","Meta":null,"ID":"000000000000000000000006"}`},
		{"a", "POST", "/api/hooks/", `{"webhook_id":"x","method":"PATCH","target_path":"https://h"}`, "", `200 {"Status":"OK","Message":"Webhook created","Meta":null,"ID":"000000000000000000000007"}`},
		{"a", "PUT", one, `{"webhook_id":"x","method":"PUT","target_path":"https://g"}`, "", failed(409, "Duplicate webhook_id.")},
		{"a", "GET", "/api/hooks?p=3", "", "", `200 {"hooks":[],"pages":2}`},
		{"a", "DELETE", one, "", "", `200 {"Status":"OK","Message":"Webhook deleted","Meta":null}`},
		{"a", "DELETE", one, "", "", failed(404, "Could not retrieve webhook detail.")},
		{"a", "GET", one, "", "", failed(400, "Could not retrieve webhook detail.")},
	} {
		if got := w.ask(t, c.as, c.method, c.path, c.body, c.match); got != c.want {
			t.Errorf("%s %s %s %s:\n%s, want\n%s", c.as, c.method, c.path, c.body, got, c.want)
		}
	}
	if got := w.ask(t, "a", "GET", "/api/hooks?p=-1", "", ""); strings.Count(got, `"target_path"`) != 2 || !strings.HasSuffix(got, `"pages":1}`) {
		t.Error(got)
	}
	if strings.Contains(w.log.String(), "in use") {
		t.Error("the webhook was not used")
	}
}

// user is a record that refers to a webhook.
type user struct{ ID, Hook string }

var users = &store.Kind[user]{
	Name: "user-of-hooks", ID: func(u user) string { return u.ID }, Org: func(user) tenant.ID { return "a" },
	Refs: func(u user) []integrity.Ref {
		return []integrity.Ref{{Target: integrity.Target{Kind: webhook.Kind, ID: u.Hook}, Field: "hook", OnDelete: integrity.Tolerate}}
	},
}

// A webhook in use may be deleted; the log tells the operator.
func TestDeleteInUse(t *testing.T) {
	w := newWorld(t)
	w.ask(t, "a", "POST", "/api/hooks", `{"method":"GET","target_path":"https://h"}`, "")
	scope, err := tenant.Of("a")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.store.Update(t.Context(), scope, func(wr store.Writer) error {
		return users.Insert(t.Context(), wr, user{ID: "u", Hook: "000000000000000000000001"})
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.ask(t, "a", "DELETE", one, "", ""); got != `200 {"Status":"OK","Message":"Webhook deleted","Meta":null}` {
		t.Error(got)
	}
	if !strings.Contains(w.log.String(), "in use") || !strings.Contains(w.log.String(), "references=1") {
		t.Errorf("logged %q", w.log.String())
	}
}
