package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// quiet keeps the examples' output to what they print.
var quiet = app.WithLogger(slog.New(slog.DiscardHandler))

// call sends one request to a handler and prints the answer.
func call(h http.Handler, key, method, path, body string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", key)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Body)
}

// A control plane in memory inside another program.
func Example() {
	ctx := context.Background()
	cp, err := app.New(quiet)
	if err != nil {
		panic(err)
	}
	if err := cp.Start(ctx); err != nil {
		panic(err)
	}
	defer func() { _ = cp.Stop(ctx) }()

	me, err := cp.Bootstrap(ctx, identity.First{Email: "me@example.com"})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", cp) // *App is an http.Handler
	call(mux, me.AccessKey, "GET", "/api/clientidps", "")

	// The same without HTTP, behind the same guard.
	list, err := cp.Do(ctx, "clientidps.list", &operation.Call{Token: me.AccessKey})
	fmt.Printf("%T %v\n", list, err)
	// Output:
	// 200 {"client_idps":[],"pages":1}
	// operation.Page[github.com/gatehouse-io/gatehouse/core/registry.IdP] <nil>
}

// A durable store in a file. Access keys are protected with a secret of the
// program, so that they outlive the process.
func Example_withSQL() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "gatehouse")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	keys, err := crypto.NewKeys("a long secret of the program")
	if err != nil {
		panic(err)
	}
	for range 2 { // the second time everything is there already
		st, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "gatehouse.db")})
		if err != nil {
			panic(err)
		}
		cp, err := app.New(quiet, app.WithStore(st), app.WithKeys(keys))
		if err != nil {
			panic(err)
		}
		if err := cp.Start(ctx); err != nil {
			panic(err)
		}
		me, err := cp.Bootstrap(ctx, identity.First{OrgID: "acme", Email: "me@example.com", AccessKey: "0123456789abcdef0123456789abcdef"})
		fmt.Println(me.OrgID, me.Created, err)
		call(cp, me.AccessKey, "GET", "/api/clientidps", "")
		_ = cp.Stop(ctx)
		_ = st.Close()
	}
	// Output:
	// acme true <nil>
	// 200 {"client_idps":[],"pages":1}
	// acme false <nil>
	// 200 {"client_idps":[],"pages":1}
}

// Rules in Rego instead of permission maps.
func Example_withRules() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "gatehouse")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "rules.rego")
	const text = `package dashboard_users
deny["nothing is deleted on Fridays"] { input.request.method == "DELETE" }`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		panic(err)
	}
	cp, err := app.New(quiet, app.WithRules(func(t app.Tools) (rules.Engine, error) {
		return opa.New(opa.Config{File: file}, t.Operations())
	}))
	if err != nil {
		panic(err)
	}
	me, err := cp.Bootstrap(ctx, identity.First{Email: "me@example.com"})
	if err != nil {
		panic(err)
	}
	call(cp, me.AccessKey, "GET", "/api/clientidps", "")
	call(cp, me.AccessKey, "DELETE", "/api/clientidps/corp", "")
	// Output:
	// 200 {"client_idps":[],"pages":1}
	// 403 {"Status":"Error","Message":"access denied: nothing is deleted on Fridays","Meta":null}
}

// audited is a store of one's own: here, one that says what it is asked for.
type audited struct{ store.Store }

func (a audited) Update(ctx context.Context, s tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	rev, err := a.Store.Update(ctx, s, fn)
	fmt.Println("revision", rev, "by", store.AttributionOf(ctx, s).Operation)
	return rev, err
}

// Any store.Store will do; ports/store/storetest says whether it is one.
func Example_withOwnStore() {
	ctx := context.Background()
	inner, err := app.New(quiet) // a store in memory, for the example
	if err != nil {
		panic(err)
	}
	cp, err := app.New(quiet, app.WithStore(audited{inner.Store()}))
	if err != nil {
		panic(err)
	}
	me, err := cp.Bootstrap(ctx, identity.First{Email: "me@example.com"})
	if err != nil {
		panic(err)
	}
	_, err = cp.Do(ctx, "clientidps.create", &operation.Call{Token: me.AccessKey, Body: []byte(`{"name":"Corp","jwks_uri":"https://login.example.com/jwks"}`)})
	fmt.Println(err)
	// Output:
	// revision 1 by bootstrap
	// revision 2 by bootstrap
	// revision 3 by clientidps.create
	// <nil>
}
