package scenarios

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The service's settings for wrong passwords in TestGuesses.
const (
	perName    = 5
	perAddress = 20
	window     = 4 * time.Second
	passphrase = "the-passphrase-of-the-owner"
)

// browser is the state of a browser.
type browser struct {
	base, address string
	cookies       map[string]string
}

func (s *service) browser(address string) *browser {
	return &browser{base: "http://" + s.addr, address: address, cookies: map[string]string{}}
}

// send makes a call with the cookies of the browser. proof, the CSRF token, is sent unless
// it is empty.
func (b *browser) send(t *testing.T, method, path, proof, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Forwarded-For", b.address)
	for name, value := range b.cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	if proof != "" {
		req.Header.Set("X-Csrf-Token", proof)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0, nil, ""
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	for _, c := range resp.Cookies() {
		b.cookies[c.Name] = c.Value
	}
	return resp.StatusCode, resp.Header, string(text)
}

// login logs in and returns the status, and how many seconds to wait.
func (b *browser) login(t *testing.T, email, password string) (status, wait int) {
	t.Helper()
	code, header, _ := b.send(t, "POST", "/login", "", fmt.Sprintf(`{"username":%q,"password":%q}`, email, password))
	if code == http.StatusTooManyRequests {
		var err error
		if wait, err = strconv.Atoi(header.Get("Retry-After")); err != nil || wait < 1 || wait > int(window/time.Second) {
			t.Errorf("somebody is told to wait for %q seconds", header.Get("Retry-After"))
		}
	}
	return code, wait
}

// holds reports whether the browser's session is valid.
func (b *browser) holds(t *testing.T) bool {
	t.Helper()
	code, _, text := b.send(t, "GET", "/api/users/me", "", "")
	if code != http.StatusOK && code != http.StatusUnauthorized {
		t.Errorf("who am I: %d %s", code, text)
	}
	return code == http.StatusOK
}

// person creates a user with a password.
func (s *service) person(t *testing.T, email, password string) string {
	t.Helper()
	var made struct{ Meta struct{ ID string } }
	if err := s.admin.call(t.Context(), "POST", "/admin/users", map[string]any{"org_id": orgID, "email_address": email, "password": password,
		"user_permissions": map[string]string{"apis": "write"}}, &made); err != nil {
		t.Fatal(err)
	}
	return made.Meta.ID
}

// TestGuesses sends hundreds of wrong passwords from many addresses, to the account of an
// owner and to others, some of which do not exist. No guess succeeds, no more passwords
// are checked than the limits allow, the owner can always log in with the known browser,
// and with another one when the attack has been over for one window. (A hundred thousand
// guesses are made with a test clock in app/session.)
func TestGuesses(t *testing.T) {
	s := serve(t, onSQLite(t.TempDir()).bootstrapping().with(environment{
		"SECURITY_LOGINFAILUREUSERNAMELIMIT": strconv.Itoa(perName), "SECURITY_LOGINFAILUREIPLIMIT": strconv.Itoa(perAddress),
		"SECURITY_LOGINFAILUREEXPIRATION": strconv.Itoa(int(window / time.Second)), "LIMITS_TRUSTEDPROXIES": "127.0.0.1/32",
	}))
	const owner = "owner@example.com"
	s.person(t, owner, passphrase)
	for i := range 5 {
		s.person(t, fmt.Sprintf("user-%d@example.com", i), fmt.Sprintf("passphrase-of-user-%d", i))
	}
	known := s.browser("192.0.2.1")
	if code, _ := known.login(t, owner, passphrase); code != http.StatusOK {
		t.Fatal(code)
	}
	const guesses = 300
	var tried, refused, next atomic.Int32
	began := time.Now()
	var attack sync.WaitGroup
	for range 8 {
		attack.Go(func() {
			for i := next.Add(1); i <= guesses; i = next.Add(1) {
				email := owner
				if i%3 == 0 {
					email = fmt.Sprintf("user-%d@example.com", i%10) // half of these have no user
				}
				switch code, _ := s.browser(fmt.Sprintf("10.0.%d.%d", i%2, i%40)).login(t, email, fmt.Sprint("guess ", i)); {
				case code == http.StatusTooManyRequests:
					refused.Add(1)
				case code != http.StatusUnauthorized:
					t.Errorf("guess %d is answered with %d", i, code)
				case email == owner:
					tried.Add(1)
				}
				if i%40 == 0 {
					if code, _ := known.copied().login(t, owner, passphrase); code != http.StatusOK {
						t.Errorf("at guess %d the owner is answered with %d", i, code)
					}
				}
			}
		})
	}
	attack.Wait()
	windows := int(time.Since(began)/window) + 2 // a window may begin before the first guess is counted, and one is still running
	if n := int(tried.Load()); n == 0 || n > windows*perName {
		t.Errorf("%d passwords of the owner were tried in %d windows of %d", n, windows, perName)
	}
	if refused.Load() == 0 {
		t.Error("no guess had to wait")
	}
	other := s.browser("192.0.2.2")
	code, wait := other.login(t, owner, passphrase)
	if code == http.StatusTooManyRequests {
		time.Sleep(time.Duration(wait) * time.Second)
		code, _ = other.login(t, owner, passphrase)
	}
	if code != http.StatusOK {
		t.Errorf("after the wait that it was told, another browser of the owner is answered with %d", code)
	}
}

// copied returns a browser with the same cookies, because concurrent calls change them.
func (b *browser) copied() *browser {
	out := &browser{base: b.base, address: b.address, cookies: map[string]string{}}
	for name, value := range b.cookies {
		if name == "known_device" {
			out.cookies[name] = value
		}
	}
	return out
}

// TestStolenSessions tries known attacks on sessions: a session planted before the login,
// the cookie without its CSRF token, the token of another browser, the cookie after a
// logout, and sessions from before a password change.
func TestStolenSessions(t *testing.T) {
	env := onSQLite(t.TempDir()).bootstrapping()
	s := serve(t, env)
	const ada, next = "ada@example.com", "another-passphrase"
	id := s.person(t, ada, passphrase)
	one, two := s.browser("127.0.0.1"), s.browser("127.0.0.1")
	one.cookies["authorisation"] = "planted"
	for _, b := range []*browser{one, two} {
		if code, _ := b.login(t, ada, passphrase); code != http.StatusOK || !b.holds(t) {
			t.Fatal(code)
		}
	}
	if eve := s.browser("127.0.0.1"); one.cookies["authorisation"] == "planted" {
		t.Error("the session is the planted one")
	} else if eve.cookies["authorisation"] = "planted"; eve.holds(t) {
		t.Error("a planted cookie is a session")
	}
	const body = `{"name":"T","kind":"oas-template","data":{}}`
	for what, proof := range map[string]string{"none": "", "made up": "x", "of another browser": two.cookies["csrf_token"], "the session itself": one.cookies["authorisation"]} {
		if code, _, text := one.send(t, "POST", "/api/apis", proof, body); code != http.StatusForbidden || !strings.Contains(text, "X-CSRF-Token") {
			t.Errorf("a write with the proof %s: %d %s", what, code, text)
		}
	}
	if code, _, text := one.send(t, "POST", "/api/apis", one.cookies["csrf_token"], `{"api_definition":{"name":"Orders","use_keyless":true,"proxy":{"listen_path":"/orders/","target_url":"http://127.0.0.1:1/"}}}`); code != http.StatusOK {
		t.Errorf("a write with its proof: %d %s", code, text)
	}
	s.process.Kill() // sessions are stored
	s.restart(t)
	if !one.holds(t) || !two.holds(t) {
		t.Error("a session is lost with the process")
	}
	left := &browser{base: two.base, address: two.address, cookies: map[string]string{"authorisation": two.cookies["authorisation"]}}
	if code, _, text := two.send(t, "POST", "/logout", two.cookies["csrf_token"], ""); code != http.StatusOK || left.holds(t) {
		t.Errorf("the cookie holds after a logout: %d %s", code, text)
	}
	if code, _ := two.login(t, ada, passphrase); code != http.StatusOK || !two.holds(t) {
		t.Fatal(code)
	}
	change, err := json.Marshal(map[string]string{"current_password": passphrase, "new_password": next})
	if err != nil {
		t.Fatal(err)
	}
	if code, _, text := one.send(t, "POST", "/api/users/"+id+"/actions/reset", one.cookies["csrf_token"], string(change)); code != http.StatusOK {
		t.Fatalf("a new password: %d %s", code, text)
	}
	if one.holds(t) || two.holds(t) {
		t.Error("a session of before the change of the password holds")
	}
	if code, _ := one.login(t, ada, passphrase); code != http.StatusUnauthorized {
		t.Errorf("the old password is answered with %d", code)
	}
	if code, _ := one.login(t, ada, next); code != http.StatusOK || !one.holds(t) {
		t.Errorf("the new password is answered with %d", code)
	}
}
