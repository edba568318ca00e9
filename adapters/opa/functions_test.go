package opa_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

const readOnly = `package dashboard_users
deny[x] {
	old := TykAPIGet(input.request.path)
	TykDiff(old, input.request.body)[name]
	name != "label"
	x := sprintf("%v by %v", [name, old.owner])
}`

func TestTykAPIGet(t *testing.T) {
	type object struct {
		Name  string `json:"name"`
		Owner string `json:"owner"`
		Label string `json:"label,omitempty"`
	}
	e := engine(t, opa.Config{
		OrgRules: orgRules(readOnly),
		Lookup: func(_ context.Context, c *operation.Call, path string) (any, error) {
			return object{Name: path, Owner: c.Principal.ID}, nil
		},
	})
	c := call(t, things, "apis.update", "/api/apis/1", nil)
	for body, want := range map[string][]string{
		`{"name":"/api/apis/1","owner":"u1","label":"new"}`: nil,
		`{"name":"other","label":"new"}`:                    {"name by u1", "owner by u1"},
	} {
		c.Body = []byte(body)
		if v := decide(t, e, c); !slices.Equal(v.Denials, want) {
			t.Errorf("%s: %q", body, v.Denials)
		}
	}
}

// A failed lookup of an object must not look as if the request named a missing object.
func TestTykAPIGetFails(t *testing.T) {
	e := engine(t, opa.Config{
		OrgRules: orgRules(readOnly),
		Lookup: func(context.Context, *operation.Call, string) (any, error) {
			return nil, fault.New(fault.NotFound, "x", "no such thing")
		},
	})
	c := call(t, things, "apis.update", "/api/apis/1", nil)
	c.Body = []byte(`{}`)
	_, err := e.Decide(t.Context(), c)
	if !errors.Is(err, opa.ErrNoVerdict) || fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "no such thing") {
		t.Error(err)
	}
}

func TestKinds(t *testing.T) {
	const kinds = `package dashboard_users
deny["oas"] { isTykOas() }
deny["classic"] { isTykClassic() }
deny["streams"] { isTykStreams() }`
	for _, kind := range []string{"oas", "classic", "streams", ""} {
		e := engine(t, opa.Config{OrgRules: orgRules(kinds), ObjectKind: func(context.Context, *operation.Call) string { return kind }})
		v := decide(t, e, call(t, things, "apis.update", "/api/apis/1", nil))
		if strings.Join(v.Denials, ",") != kind {
			t.Errorf("%q: %v", kind, v.Denials)
		}
	}
}

func TestNoWayOut(t *testing.T) {
	for _, expr := range []string{
		`http.send({"method": "GET", "url": "http://localhost"})`, `net.lookup_ip_addr("localhost")`, `opa.runtime()`,
	} {
		_, err := opa.New(opa.Config{File: written(t, "package dashboard_users\ndeny[\"x\"] { "+expr+" }")}, things)
		if !errors.Is(err, opa.ErrRules) {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

func TestNoRemoteSchema(t *testing.T) {
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(`{}`))
	}))
	defer srv.Close()
	rule := fmt.Sprintf("package dashboard_users\ndeny[\"x\"] { json.match_schema({}, {\"$ref\": \"%s/schema.json\"})[0] }", srv.URL)
	e := engine(t, opa.Config{OrgRules: orgRules(rule)})
	if _, err := e.Decide(t.Context(), call(t, things, "apis.get", "/api/apis/1", nil)); err == nil || asked.Load() != 0 {
		t.Errorf("%v, asked %d times", err, asked.Load())
	}
}
