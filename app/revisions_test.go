package app_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Nothing that users of one organisation can read moves when another one writes, and
// nothing that they are answered tells how much it has written.
func TestNoRevisionLeaves(t *testing.T) {
	a, err := app.New()
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, org := range []string{"org-a", "org-b"} {
		first, err := a.Bootstrap(t.Context(), identity.First{OrgID: org, OwnerSlug: org, Email: "admin@" + org + ".example"})
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, first.AccessKey)
	}
	call := func(key, method, path, body string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Authorization", key)
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w
	}
	idp := func(i int) string {
		return fmt.Sprintf(`{"client_idp_id":"c%d","name":"c","jwks_uri":"https://x/k"}`, i)
	}
	made := call(keys[0], "POST", "/api/clientidps", idp(0))
	call(keys[0], "POST", "/api/portal/policies", `{"id":"p","name":"P","rate":1,"per":1,"access_rights":{}}`)
	call(keys[0], "POST", "/api/hooks", `{"name":"h","method":"POST","target_path":"https://h.example/"}`)
	paths := []string{"/api/clientidps/c0", "/api/portal/policies/p"}
	for _, op := range a.Operations() {
		if op.Surface == operation.Management && op.Method == http.MethodGet && !strings.Contains(op.Path, "{") {
			paths = append(paths, op.Path)
		}
	}
	look := func() map[string]string {
		out := map[string]string{}
		for _, path := range paths {
			w := call(keys[0], "GET", path, "")
			out[path] = fmt.Sprint(w.Code, w.Header().Get("Etag"), w.Body.String())
			if w.Code < 300 && strings.Contains(w.Body.String(), `"revision"`) {
				t.Errorf("%s shows a revision: %s", path, w.Body)
			}
		}
		return out
	}
	before := look()
	for i := range 25 {
		if w := call(keys[1], "POST", "/api/clientidps", idp(i)); w.Code != http.StatusCreated {
			t.Fatal(w.Code, w.Body)
		}
	}
	if after := look(); !maps.Equal(before, after) {
		for path := range before {
			if before[path] != after[path] {
				t.Errorf("%s moved by another organisation's writes:\n%.300s\n%.300s", path, before[path], after[path])
			}
		}
	}
	tag, next := made.Header().Get("Etag"), call(keys[0], "PUT", "/api/clientidps/c0", idp(0)).Header().Get("Etag")
	var was, is uint64
	if _, err := fmt.Sscanf(tag+" "+next, `"%d" "%d"`, &was, &is); err != nil || is != was+1 {
		t.Errorf("one write moved the entity tag from %s to %s", tag, next)
	}
}
