package scenarios

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// job is a bootstrap job as used in practice: a script around a command-line HTTP
// client, which sends every body as a form unless told otherwise.
type job struct {
	base   string
	secret string // of the super-admin
	key    string // of the user that the job has created
}

// send makes one call and returns status and body.
func (j *job) send(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, j.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(path, "/admin/") {
		req.Header.Set("admin-auth", j.secret)
	} else if j.key != "" {
		req.Header.Set("authorization", j.key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// reply is the part of answers that jobs read.
type reply struct {
	Status, Message string
	Meta            json.RawMessage
}

// must is send for a call that must succeed.
func (j *job) must(t *testing.T, method, path, body string) (r reply) {
	t.Helper()
	code, text := j.send(t, method, path, body)
	if err := json.Unmarshal([]byte(text), &r); err != nil || code != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, path, code, text)
	}
	return r
}

// says fails the test unless a call answers a message.
func (j *job) says(t *testing.T, method, path, body, message string) reply {
	t.Helper()
	r := j.must(t, method, path, body)
	if r.Status != "OK" || r.Message != message {
		t.Errorf("%s %s: %s %q, want OK %q", method, path, r.Status, r.Message, message)
	}
	return r
}

// exists is the first question of a job: does the organisation exist?
func (j *job) exists(t *testing.T, id string) bool {
	t.Helper()
	code, text := j.send(t, "GET", "/admin/organisations/?p=-1", "")
	var list struct{ Organisations []struct{ ID string } }
	if err := json.Unmarshal([]byte(text), &list); err != nil || code != http.StatusOK {
		t.Fatal(code, text)
	}
	for _, o := range list.Organisations {
		if o.ID == id {
			return true
		}
	}
	return false
}

// user creates the admin and sets its password; later calls are made as this user.
func (j *job) user(t *testing.T, org, id, email string) {
	t.Helper()
	r := j.must(t, "POST", "/admin/users", fmt.Sprintf(`{"id":%q,"org_id":%q,"first_name":"Admin","last_name":"User","email_address":%q,"active":true,
		"user_permissions":{"IsAdmin":"admin","ResetPassword":"admin"}}`, id, org, email))
	var u struct {
		ID        string `json:"id"`
		OrgID     string `json:"org_id"`
		AccessKey string `json:"access_key"`
	}
	if err := json.Unmarshal(r.Meta, &u); err != nil || u.OrgID != org || u.AccessKey != r.Message || len(u.AccessKey) != 32 || u.ID == "" {
		t.Fatalf("%+v, %v", r, err)
	}
	j.key = u.AccessKey
	j.says(t, "POST", "/api/users/"+u.ID+"/actions/reset", `{"new_password":"a-long-passphrase","user_permissions":{"IsAdmin":"admin"}}`, "User password updated")
}

// portal sets up a classic portal; the job reads an identifier from each message.
func (j *job) portal(t *testing.T, org string) {
	t.Helper()
	ids := map[string]bool{}
	for _, call := range [][3]string{
		{"PUT", "cname", `{"cname":"portal.demo.example"}`},
		{"POST", "configuration", `{}`},
		{"POST", "catalogue", `{"org_id":"` + org + `"}`},
		{"POST", "pages", `{"is_homepage":true,"template_name":"","title":"Developer portal","slug":"/","fields":{"JumboCTATitle":"Welcome"}}`},
		{"POST", "documentation", `{"api_id":"","doc_type":"swagger","documentation":"e30="}`},
		{"POST", "developers", `{"email":"developer@demo.example","password":"a-long-passphrase","org_id":"` + org + `"}`},
		{"POST", "menus", `{"menus":{}}`},
		{"POST", "css", `{"page_css":"body { margin: 0 }"}`},
	} {
		r := j.must(t, call[0], "/api/portal/"+call[1], call[2])
		if r.Status != "OK" || len(r.Message) != 24 || ids[r.Message] {
			t.Errorf("%s: %+v", call[1], r)
		}
		ids[r.Message] = true
	}
	if code, _ := j.send(t, "GET", "/api/portal/catalogue", ""); code != http.StatusNotFound {
		t.Errorf("the catalogue is read with %d", code)
	}
}

// TestBootstrapJobs runs the calls of public jobs on an empty installation: one that
// brings all identifiers and imports its data, one that takes identifiers from the
// answers, each twice, and the clean-up.
func TestBootstrapJobs(t *testing.T) {
	home := t.TempDir()
	s := serve(t, onSQLite(home))
	t.Run("with identifiers of its own", func(t *testing.T) {
		const org = "5e9d9544a1dcd60001d0ed20"
		j := &job{base: "http://" + s.addr, secret: adminSecret}
		j.must(t, "POST", "/license", "license=none")
		if j.exists(t, org) {
			t.Fatal("it is there before the job")
		}
		record := `{"id":"` + org + `","owner_name":"Demo","owner_slug":"demo","cname_enabled":true,"cname":"portal.demo.example","event_options":{"key_event":{"redis":true}},"ui":{"login_page":{}}}`
		if r := j.says(t, "POST", "/admin/organisations/import", record, "Org imported"); string(r.Meta) != `"`+org+`"` {
			t.Errorf("Meta is %s", r.Meta)
		}
		j.user(t, org, "5e9d9544a1dcd60001d0ed21", "admin@demo.example")
		j.portal(t, org)
		if code, text := j.send(t, "GET", "/admin/system/reload", ""); code != http.StatusOK || strings.TrimSpace(text) != `{"status":"ok"}` {
			t.Error(code, text)
		}
		imports := func() {
			t.Helper()
			j.says(t, "POST", "/admin/policies/import", `{"Data":[{"id":"gold","org_id":"`+org+`","name":"Gold","rate":1,"per":1,"access_rights":{"orders":{"api_id":"orders","api_name":"Orders","versions":["Default"]}}}],"Pages":1}`, "Policies imported")
			j.says(t, "POST", "/admin/apis/import", `{"apis":[{"api_definition":{"api_id":"orders","org_id":"`+org+`","name":"Orders","active":true,"proxy":{"listen_path":"/orders/","target_url":"http://127.0.0.1:1/"}}}],"pages":1}`, "APIs imported")
		}
		imports()
		if !j.exists(t, org) {
			t.Error("a second run does not find what the first one made")
		}
		imports()
		j.says(t, "POST", "/admin/organisations/import", record, "Org imported") // some jobs do not check first
		if code, text := j.send(t, "GET", "/api/apis/?p=-1", ""); code != http.StatusOK || strings.Count(text, `"api_definition"`) != 1 {
			t.Error(code, text)
		}
	})
	t.Run("with identifiers of the answers", func(t *testing.T) {
		j := &job{base: "http://" + s.addr, secret: adminSecret}
		r := j.says(t, "POST", "/admin/organisations", `{"owner_name":"Acme","owner_slug":"acme","cname_enabled":true,"cname":""}`, "Org created")
		var org string
		if err := json.Unmarshal(r.Meta, &org); err != nil || len(org) != 24 {
			t.Fatalf("Meta is %s", r.Meta)
		}
		j.user(t, org, "", "admin@acme.example")
		j.portal(t, org)
		j.says(t, "PUT", "/admin/organisations/"+org, `{"id":"`+org+`","owner_name":"Acme Ltd","owner_slug":"acme"}`, "Org updated")
		s.process.Kill()
		s.restart(t)
		if !j.exists(t, org) {
			t.Error("it is gone after a restart")
		}
		j.says(t, "DELETE", "/admin/organisations/"+org, "", "Org deleted")
		if code, _ := j.send(t, "GET", "/admin/organisations/"+org, ""); code != http.StatusNotFound {
			t.Errorf("a deleted organisation is read with %d", code)
		}
		if code, _ := j.send(t, "GET", "/api/apis", ""); code != http.StatusUnauthorized {
			t.Errorf("the key of a user of a deleted organisation is answered with %d", code)
		}
		j.must(t, "DELETE", "/admin/organisations/"+org+"?purge=true", "")
		if code, _ := j.send(t, "DELETE", "/admin/organisations/"+org+"?purge=true", ""); code != http.StatusNotFound {
			t.Errorf("a second purge is answered with %d", code)
		}
	})
}
