package scenarios

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/mail/mailtest"
)

// visitor is a person with a browser.
type visitor struct {
	t    *testing.T
	base string
	http *http.Client
}

func visit(t *testing.T, s *service) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t, s.api.base, &http.Client{Jar: jar, Timeout: answerLimit}}
}

// send submits a form, or gets a page if form is nil, and returns the answer.
func (v *visitor) send(path string, form url.Values) (status int, text string) {
	v.t.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, body)
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := v.http.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	if policy := res.Header.Get("Content-Security-Policy"); strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") && !strings.Contains(policy, "frame-ancestors 'none'") {
		v.t.Errorf("%s is a page with the policy %q", path, policy)
	}
	return res.StatusCode, string(raw)
}

func (v *visitor) want(status int, path string, form url.Values) string {
	v.t.Helper()
	got, text := v.send(path, form)
	if got != status {
		v.t.Fatalf("%s answers %d, want %d: %s", path, got, status, text)
	}
	return text
}

func login(password string) url.Values {
	return url.Values{"username": {adminEmail}, "password": {password}}
}

// TestForgottenPassword: a user who has forgotten the password gets a mail, opens its
// link, and chooses a new password. Code and passwords are in no log and no file.
func TestForgottenPassword(t *testing.T) {
	const forgotten, chosen = "first-password-of-ada", "second-password-of-ada"
	dir, server := t.TempDir(), mailtest.Start(t)
	s := serve(t, onSQLite(dir).bootstrapping().with(environment{
		"BOOTSTRAP_PASSWORD": forgotten, "LOGLEVEL": "debug", "ENCRYPTATREST": "false",
		"EMAILBACKEND_ENABLEEMAILNOTIFICATIONS": "true", "EMAILBACKEND_SETTINGS": "SMTPAddress:" + server.Address(),
		"EMAILBACKEND_DEFAULTFROMEMAIL": "gatehouse@example.com", "EMAILBACKEND_DASHBOARDHOSTNAME": "gatehouse.example",
	}))
	there, elsewhere := visit(t, s), visit(t, s)
	there.want(200, "/login", login(forgotten))
	there.want(200, "/api/users/me", nil)

	// The same answer for a user and for an unknown address, but only one mail.
	known := elsewhere.want(200, "/password/forgot", url.Values{"username": {adminEmail}})
	if unknown := elsewhere.want(200, "/password/forgot", url.Values{"username": {"nobody@example.com"}}); unknown != known {
		t.Errorf("%s for an unknown address, %s for a user", unknown, known)
	}
	m := server.Next(t)
	link := regexp.MustCompile(`http://gatehouse\.example(/password/reset\?code=([A-Z0-9]{26}))\n`).FindStringSubmatch(m.Text)
	if m.To != adminEmail || m.From != "gatehouse@example.com" || link == nil {
		t.Fatalf("%+v", m)
	}
	path, code := link[1], link[2]
	for range 2 { // checking a code does not use it up
		if page := elsewhere.want(200, path, nil); !strings.Contains(page, `<form method="post" action="reset"`) || !strings.Contains(page, code) {
			t.Error(page)
		}
	}
	elsewhere.want(400, "/password/reset", url.Values{"code": {code}, "new_password": {"short"}})
	elsewhere.want(200, "/password/reset", url.Values{"code": {code}, "new_password": {chosen}})
	elsewhere.want(401, "/password/reset", url.Values{"code": {code}, "new_password": {"third-password-of-ada"}})

	there.want(401, "/api/users/me", nil) // the session has ended
	there.want(401, "/login", login(forgotten))
	there.want(200, "/login", login(chosen))
	if n := server.Waiting(); n != 0 {
		t.Error(n, "mails too many")
	}

	s.process.Stop(t)
	for _, secret := range []string{code, forgotten, chosen, "third-password-of-ada"} {
		if strings.Contains(s.process.Logs(), secret) {
			t.Errorf("the log has %q", secret)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(err)
		}
		for _, file := range files {
			if raw, err := os.ReadFile(file); err == nil && bytes.Contains(raw, []byte(secret)) {
				t.Errorf("%s has %q", filepath.Base(file), secret)
			}
		}
	}
}
