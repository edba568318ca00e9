package assets_test

import (
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
	"github.com/gatehouse-io/gatehouse/app/resources/assets"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// serve returns the service over a store in memory. The credential of a caller is the
// name of its organisation.
func serve(t *testing.T) http.Handler {
	t.Helper()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	db, err := memdb.New(func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ops := assets.Resource.Registration().Operations(crud.Tools{Store: db, Now: func() time.Time { return now }, NewID: func() string { n++; return fmt.Sprintf("%024x", n) }})
	h, err := httpadapter.Handler(ops, httpadapter.Config{Logger: slog.New(slog.DiscardHandler), Guard: func(next operation.Handler) operation.Handler {
		return func(ctx context.Context, c *operation.Call) (any, error) {
			if c.Scope, err = tenant.Of(tenant.ID(c.Token)); err != nil {
				return nil, err
			}
			return next(ctx, c)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func failed(status int, message string) string {
	return fmt.Sprintf(`%d {"Status":"Error","Message":"%s","Meta":null}`, status, message)
}

// Every row of docs/wire/assets.md#record.
func TestAssets(t *testing.T) {
	h := serve(t)
	const (
		byID    = "/api/assets/mine"
		byDB    = "/api/assets/000000000000000000000001"
		created = `201 {"Status":"success","Message":"asset created","Meta":"%s","ID":"%s"}`
		updated = `200 {"Status":"success","Message":"asset updated","Meta":"%s","ID":"%s"}`
		first   = `{"_id":"000000000000000000000001","id":"mine","org_id":"a","kind":"oas-template","name":"n","description":"","data":{ "z":1.0,"a":[] },"last_updated":"2026-01-02T03:04:05Z"}`
		second  = `{"_id":"000000000000000000000002","id":"000000000000000000000002","org_id":"a","kind":"oas-template","name":"m","description":"d","data":{},"last_updated":"2026-01-02T03:04:05Z"}`
		other   = `{"kind":"oas-template","name":"m","description":"d","data":{}}`
	)
	for _, c := range []struct{ as, method, path, body, want string }{
		{"a", "GET", "/api/assets", "", `200 []`},
		{"a", "POST", "/api/assets", `{"id":"mine","kind":"oas-template","name":"n","data":{ "z":1.0,"a":[] },"unknown":1}`, fmt.Sprintf(created, "000000000000000000000001", "mine")},
		{"a", "POST", "/api/assets/", other, fmt.Sprintf(created, "000000000000000000000002", "000000000000000000000002")},
		{"a", "GET", "/api/assets", "", `200 [` + first + `,` + second + `]`},
		{"a", "GET", "/api/assets?kind=oas-template", "", `200 [` + first + `,` + second + `]`},
		{"a", "GET", "/api/assets?kind=oas-temp", "", failed(400, "unsupported asset kind: 'oas-temp'")},
		{"b", "GET", "/api/assets", "", `200 []`},
		{"a", "GET", byID, "", "200 " + first},
		{"a", "GET", byDB, "", "200 " + first},
		{"b", "GET", byDB, "", failed(404, "Asset not found")},
		{"b", "PUT", byDB, other, failed(404, "Asset not found.")},
		{"b", "DELETE", byDB, "", failed(404, "asset not found")},
		{"a", "POST", "/api/assets", "", failed(400, "error reading json body.")},
		{"a", "POST", "/api/assets", "{", failed(400, "error reading json body.")},
		{"a", "POST", "/api/assets", `{"name":1}`, failed(400, "error reading json body.")},
		{"a", "POST", "/api/assets", `{"kind":"oas-templat","name":"n","data":{}}`, failed(422, "unsupported asset kind: 'oas-templat'.")},
		{"a", "POST", "/api/assets", `{"kind":"oas-template","name":"n","data":7}`, failed(422, "asset data must be an object.")},
		{"a", "POST", "/api/assets", `{"kind":"oas-template","data":{}}`, failed(422, "asset name is required.")},
		{"a", "POST", "/api/assets", `{"id":"mine","kind":"oas-template","name":"n","data":{}}`, failed(409, "Asset ID already exists: 'mine'.")},
		{"b", "POST", "/api/assets", `{"id":"mine","kind":"oas-template","name":"n","data":{}}`, fmt.Sprintf(created, "000000000000000000000007", "mine")},
		{"a", "PUT", "/api/assets/000000000000000000000002", `{"id":"mine","kind":"oas-template","name":"n","data":{}}`, failed(409, "Asset ID already exists: 'mine'.")},
		{"a", "PUT", "/api/assets/none", `{"kind":"nonsense"}`, failed(404, "Asset not found.")},
		{"a", "PUT", byID, `{"kind":"nonsense"}`, failed(422, "unsupported asset kind: 'nonsense'.")},
		{"a", "PUT", byID, ``, failed(400, "error reading json body.")},
		{"a", "PUT", byID, other, fmt.Sprintf(updated, "000000000000000000000001", "mine")},
		{"a", "PUT", byDB, `{"id":"yours","kind":"oas-template","name":"n","data":{}}`, fmt.Sprintf(updated, "000000000000000000000001", "yours")},
		{"a", "GET", byID, "", failed(404, "Asset not found")},
		{"a", "DELETE", "/api/assets/yours", "", `200 {"Status":"success","Message":"Asset removed successfully","Meta":null}`},
		{"a", "DELETE", byDB, "", failed(404, "asset not found")},
		{"a", "GET", "/api/assets", "", `200 [` + second + `]`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Authorization", c.as)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := fmt.Sprintf("%d %s", w.Code, strings.TrimSpace(w.Body.String())); got != c.want {
			t.Errorf("%s %s %s %s:\n%s, want\n%s", c.as, c.method, c.path, c.body, got, c.want)
		}
	}
}
