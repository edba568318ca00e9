package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	record "github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// lines is a file in memory that can be full.
type lines struct {
	text string
	full bool
}

func (l *lines) Append(text []byte) (func() error, error) {
	if l.full {
		return nil, errors.New("the disk is full")
	}
	l.text += string(text)
	return func() error { return nil }, nil
}

// TestPortalAudit states what is written down of calls of the portal: in the trail of the
// portal's own organisation every change and every refusal, also of strangers and of
// bootstrap; in the journal every action of an admin. Neither has what was sent.
func TestPortalAudit(t *testing.T) {
	journal := &lines{}
	keys, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		t.Fatal(err)
	}
	a := service(t, nobodyWatches(), append(portalOptions(), app.WithAudit(audit.Settings{Signer: keys}), app.WithPortal(app.Portal{SigningKey: signingKey, Journal: journal, Live: live.Settings{Delay: -1}}))...)
	running(t, a)
	call := func(method, path, as, body string, want int) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("User-Agent", "script/1 "+strings.Repeat("x", 300)+"\xff")
		if c, ok := callers[as]; ok {
			r.Header.Set(c[0], c[1])
		}
		w := httptest.NewRecorder()
		if a.Portal().ServeHTTP(w, r); w.Code != want {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
	}
	call("POST", "/portal-api/bootstrap", "", `{"username":"admin@example.com","password":"hush-hush"}`, 200)
	call("POST", "/portal-api/bootstrap", "", `{"username":"admin@example.com","password":"hush-hush"}`, 403)
	call("POST", "/portal-api/tags", "portal-admin", `{"Name":"never written down"}`, 201)
	call("PUT", "/portal-api/tags/1", "portal-admin", `{"Name":""}`, 422)
	call("GET", "/portal-api/tags/1", "portal-admin", "", 200)
	call("DELETE", "/portal-api/tags/1", "portal-stranger", "", 401)
	call("GET", "/portal-api/tags", "admin", "", 401)

	scope, err := tenant.Of("portal:default")
	if err != nil {
		t.Fatal(err)
	}
	var trail []string
	if err := a.Trail().Newest(t.Context(), scope, func(r record.Record) bool {
		trail = append(trail, fmt.Sprint(r.Status, " ", r.Method, " ", r.URL, " ", r.Verdict, " ", r.Actor))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(trail, "\n")
	for _, want := range []string{
		"200 POST /portal-api/bootstrap allowed ", "403 POST /portal-api/bootstrap portal.bootstrapped ", "201 POST /portal-api/tags allowed portal-user-1",
		"422 PUT /portal-api/tags/1 portal.invalid portal-user-1", "401 DELETE /portal-api/tags/1 auth.credential ", "401 GET /portal-api/tags auth.credential ",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is not in the trail once:\n%s", want, text)
		}
	}
	if code, answer := fetch(t, a, "GET", "/api/audit-logs", "admin", ""); code != 200 || strings.Contains(answer, "portal-api") {
		t.Errorf("the trail of an organisation of the dashboard: %d %s", code, answer)
	}

	var actions []string
	for line := range strings.Lines(journal.text) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil || len(m) != 10 || len(m["user_agent"].(string)) > 256 || m["request_id"] == "" || m["time"] == "" || m["ip"] != "192.0.2.1" {
			t.Errorf("%v in %s", err, line)
		}
		actions = append(actions, fmt.Sprint(m["user_id"], " ", m["org_id"], " ", m["action"], " ", m["resource"], " ", m["resource_id"], " ", m["status"]))
	}
	if have := strings.Join(actions, "\n"); have != "1 0 POST /portal-api/tags tags 1 201\n1 0 PUT /portal-api/tags/{tag_id} tags 1 422" {
		t.Error(have)
	}
	for _, secret := range []string{"hush", "never written", "admin@example.com", callers["portal-admin"][1]} {
		if strings.Contains(journal.text, secret) {
			t.Errorf("the journal has %q", secret)
		}
	}
	journal.full = true // the action is carried out all the same
	call("PUT", "/portal-api/tags/1", "portal-admin", `{"Name":"Payments"}`, 200)
	journal.full = false
	call("DELETE", "/portal-api/tags/1", "portal-admin", "", 200)
	if strings.Count(journal.text, "\n") != 3 {
		t.Error(journal.text)
	}

	call("POST", "/portal-api/users", "portal-admin", `{"Email":"ada@example.com","First":"Ada","Password":"hush-hush","Active":true}`, 201)
	for _, address := range []string{"ada@example.com", "admin@example.com"} {
		send := func(method, path, body string, more ...string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			for pair := range slices.Chunk(more, 2) {
				r.Header.Set(pair[0], pair[1])
			}
			w := httptest.NewRecorder()
			a.Portal().ServeHTTP(w, r)
			return w
		}
		in := send("POST", "/portal/api/login", `{"Email":"`+address+`","Password":"hush-hush"}`)
		var opened live.Opened
		if err := json.Unmarshal(in.Body.Bytes(), &opened); err != nil {
			t.Fatal(err)
		}
		cookie, _, _ := strings.Cut(in.Header().Get("Set-Cookie"), ";")
		if w := send("PUT", "/portal/api/profile", `{"First":"F","Last":"L"}`, "Cookie", cookie, "X-CSRF-Token", opened.CSRFToken); w.Code != 200 {
			t.Fatal(w.Body)
		}
	}
	call("POST", "/portal/api/login", "", `{"Email":"admin@example.com","Password":"wrong"}`, 401)
	if strings.Count(journal.text, "POST /portal/api/login") != 1 || strings.Count(journal.text, "PUT /portal/api/profile") != 1 || strings.Count(journal.text, "\n") != 6 {
		t.Errorf("of the login of an admin and what one does with a session, and a developer: %s", journal.text)
	}
}
