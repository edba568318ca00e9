package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/render"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/mails"
	record "github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/mail"
)

// lines is an in-memory file that can be full.
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

// TestPortalAudit states what is logged about calls of the portal: in the audit trail of the
// portal's own organisation every change and every refusal, also of unauthenticated callers
// and of bootstrap; in the journal every action of an admin. Neither contains what was
// sent.
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
	journal.full = true // the action is carried out anyway
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

// TestPortalAuditOfMails: the journal also contains what admins do with the codes of mails:
// a new password, and the end of their registration. It does not contain what developers
// do.
func TestPortalAuditOfMails(t *testing.T) {
	journal, box := &lines{}, make(posted, 20)
	a := service(t, nobodyWatches(), append(portalOptions(), app.WithPortal(app.Portal{
		Shared: true, SigningKey: signingKey, Journal: journal, Live: live.Settings{Delay: -1},
		Mails: mails.Settings{Engine: render.Engine{}, URL: "https://portal.example/", Poll: 5 * time.Millisecond, Dial: func(mail.Server) (mail.Sender, error) { return box, nil }},
	}))...)
	running(t, a)
	call := func(path, body string) {
		t.Helper()
		method := "POST"
		if path == "/portal-api/settings" {
			method = "PUT"
		}
		if code, text := fetch(t, a, method, path, "portal-admin", body); code >= 300 {
			t.Fatal(path, code, text)
		}
	}
	link := regexp.MustCompile(`\?token=(\w+)`)
	mailed := func() string {
		for deadline := time.After(10 * time.Second); ; {
			select {
			case m := <-box:
				if found := link.FindStringSubmatch(m.Text); found != nil {
					return found[1]
				}
			case <-deadline:
				t.Fatal("no mail comes")
			}
		}
	}
	call("/portal-api/bootstrap", `{"username":"admin@example.com","password":"secret"}`)
	call("/portal-api/settings", `{"SMTPHost":"mail.example","EmailFrom":"portal@example.com"}`)
	call("/portal/api/password/forgot", `{"Email":"admin@example.com"}`)
	call("/portal/api/password/reset", `{"Code":"`+mailed()+`","Password":"hush-hush"}`)
	for _, who := range []string{`"ruler@example.com","Role":"provider-admin"`, `"grace@example.com","OrganisationID":1`} {
		call("/portal-api/invitations", `{"Email":`+who+`,"First":"New"}`)
		call("/portal/api/invitation", `{"Code":"`+mailed()+`","Password":"hush-hush"}`)
	}
	for action, want := range map[string]int{"POST /portal/api/password/reset": 1, "POST /portal/api/invitation": 1, "POST /portal/api/password/forgot": 0} {
		if have := strings.Count(journal.text, `"action":"`+action+`"`); have != want {
			t.Errorf("%s is in the journal %d times, want %d:\n%s", action, have, want, journal.text)
		}
	}
	if !strings.Contains(journal.text, `"user_id":"1","org_id":"0","action":"POST /portal/api/password/reset"`) || strings.Contains(journal.text, "hush") {
		t.Error(journal.text)
	}
}
