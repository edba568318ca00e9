package console_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

// TestFirstSteps: from an empty installation to the first call that a gateway passes on,
// in three clicks.
func TestFirstSteps(t *testing.T) {
	w := newWorld(t)
	issuer := gatewaysim.NewIssuer()
	t.Cleanup(issuer.Close)
	gateway := gatewaysim.New(gatewaysim.Config{DashboardURL: w.at, NodeSecret: node})
	must(t, gateway.Start(t.Context()))
	t.Cleanup(func() { _ = gateway.Stop(context.Background()) })
	b := w.signIn(t)
	b.see("First steps")
	b.fill("Your service", "http://127.0.0.1:9/")
	b.click("Make an API")
	b.click("Make a policy")
	b.fill("Who signs tokens (issuer)", issuer.URL())
	b.fill("Address of its public keys", issuer.JWKSURL())
	b.click("Make an identity provider")
	b.see("That is all")
	gateway.Reload()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, gateway.WaitFor(ctx, func(s gatewaysim.State) bool { return len(s.IdPs) == 1 && len(s.APIs) == 1 && len(s.Policies) == 1 }))
	front := httptest.NewServer(gateway.Handler())
	t.Cleanup(front.Close)
	for scope, want := range map[string]int{"read": http.StatusOK, "write": http.StatusForbidden} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, front.URL+"/example-orders/", http.NoBody)
		must(t, err)
		req.Header.Set("Authorization", "Bearer "+issuer.Sign(map[string]any{"iss": issuer.URL(), "sub": "alice", "scope": scope}))
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("scope %s: %d", scope, res.StatusCode)
		}
	}
	b.click("Close")
	b.see("1 gateway is connected")
}

// hook makes a webhook and returns its identifier.
func (w *world) hook(name string) string {
	w.t.Helper()
	return w.ask("POST", "/api/hooks", `{"name":`+quote(name)+`,"method":"POST","target_path":"https://hooks.example.com/a","header_map":{"x-auth":"value"}}`)["ID"].(string)
}

// TestEditing: a record is changed in the form, looked at before it is saved, changed as
// YAML, duplicated and deleted, all by its names on the page.
func TestEditing(t *testing.T) {
	w := newWorld(t)
	id := w.hook("Expired keys")
	b := w.signIn(t)
	b.visit("hooks/" + id)
	b.see("https://hooks.example.com/a")
	b.click("Form")
	b.fill("Name", "Revoked keys")
	b.press("s", chromedp.ModifierCtrl)
	b.see("Save these changes?")
	b.see(`"name": "Expired keys"`)
	b.see(`"name": "Revoked keys"`)
	b.click("Save")
	b.wait("document.querySelector('h1').innerText.startsWith('Revoked keys') && !document.querySelector('dialog[open]')")
	b.click("Document")
	b.click("YAML")
	b.wait("document.querySelector('.cm-content')?.innerText.includes('method: POST')")
	b.click("More")
	b.click("Duplicate")
	b.see("Create a webhook")
	b.wait(field("Name") + "?.value === 'Revoked keys'")
	b.fill("Name", "Another one")
	b.click("Create…")
	b.see("Create this?")
	b.click("Create")
	b.wait("document.querySelector('h1').innerText === 'Another one'")
	b.click("More")
	b.click("Delete…")
	b.see("Nothing else refers to it")
	b.click("Delete")
	b.wait("location.hash === '#/hooks'")
	b.see("Revoked keys")
	if got := w.ask("GET", "/api/hooks", ""); len(got["hooks"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
}

// TestErrorsStandAtTheirField: what the server refuses is said at the field it is about.
func TestErrorsStandAtTheirField(t *testing.T) {
	w := newWorld(t)
	b := w.signIn(t)
	b.expect("/api/hooks")
	b.visit("hooks/+new")
	b.fill("Name", "Expired keys")
	b.fill("Method", "POST")
	b.fill("Target path", "not an address")
	b.click("Create…")
	b.click("Create")
	b.wait("document.querySelector('[aria-invalid=true]') === " + field("Target path"))
	b.see("The trouble is at")
}

// TestUnsavedWork: leaving asks first, and what was written is kept.
func TestUnsavedWork(t *testing.T) {
	w := newWorld(t)
	id := w.hook("Expired keys")
	b := w.signIn(t)
	b.visit("hooks/" + id + "?view=form")
	b.fill("Name", "Half done")
	b.visit("apis")
	b.see("Leave without saving?")
	b.click("Stay")
	b.wait(field("Name") + "?.value === 'Half done'")
	b.visit("apis")
	b.click("Leave")
	b.wait("location.hash === '#/apis' && document.querySelector('h1').innerText === 'APIs'")
	b.visit("hooks/" + id + "?view=form")
	b.wait(field("Name") + "?.value === 'Expired keys'")
	b.visit("apis") // nothing has changed: nobody is asked
	b.wait("location.hash === '#/apis'")
}

// TestTwoEditors: what a colleague has saved meanwhile is shown beside one's own work, and
// both survive.
func TestTwoEditors(t *testing.T) {
	w := newWorld(t)
	id := w.hook("Expired keys")
	b := w.signIn(t)
	b.expect("/api/hooks/")
	b.visit("hooks/" + id + "?view=form")
	b.fill("Name", "Mine")
	w.ask("PUT", "/api/hooks/"+id, `{"name":"Theirs","method":"PUT","target_path":"https://hooks.example.com/b","header_map":{"x-auth":"value"}}`)
	b.click("Review and save…")
	b.see("Somebody else changed this meanwhile")
	b.see("changed by both")
	b.picture("conflict")
	must(t, b.run(`[...document.querySelectorAll('.contested label')].find(l => l.innerText.includes('Yours')).querySelector('input').click()`, nil))
	b.click("Continue with these")
	b.click("Review and save…")
	b.see("Save these changes?")
	b.click("Save")
	b.wait("document.querySelector('h1').innerText === 'Mine'")
	if got := w.ask("GET", "/api/hooks/"+id, ""); got["name"] != "Mine" || got["method"] != "PUT" || got["target_path"] != "https://hooks.example.com/b" {
		t.Errorf("%v", got)
	}
}

// TestFewRights: what a user may not do is not offered, and a direct address says which
// permission is missing.
func TestFewRights(t *testing.T) {
	w := newWorld(t)
	id := w.hook("Expired keys")
	w.ask("POST", "/api/users", `{"first_name":"Bob","last_name":"B","email_address":"bob@example.com","password":"a-long-passphrase","active":true,"user_permissions":{"hooks":"read"}}`)
	b := open(t, w.at)
	b.expect("/api/users/me")
	b.load("")
	b.fill("E-mail address", "bob@example.com")
	b.fill("Password", "a-long-passphrase")
	b.click("Sign in")
	b.see("Hello, Bob")
	links := value[[]string](b, "[...document.querySelectorAll('#nav a')].map(a => a.innerText)")
	if text := strings.Join(links, " "); !strings.Contains(text, "Webhooks") || strings.Contains(text, "Users") || strings.Contains(text, "Policies") || strings.Contains(text, "Audit") {
		t.Errorf("offered: %s", text)
	}
	b.visit("hooks")
	b.see("Expired keys")
	b.wait("!" + named("New"))
	b.visit("hooks/" + id)
	b.see("To change it you need the permission hooks (write)")
	b.wait("!" + named("Form") + " && !" + named("Delete…"))
	b.visit("policies")
	b.see("it needs the permission policies (read)")
	b.visit("users/+new")
	b.see("it needs the permission users (write)")
	b.visit("rules")
	b.see("it needs the rights of an admin")
}

// TestExpiredPassword: who must choose another password does so at the sign-in, and goes on
// with it; what cannot be one is said.
func TestExpiredPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "SVC_DB_SECURITY_FORCEFIRSTLOGINPWRESET=true")
	w.ask("POST", "/api/users", `{"first_name":"Bob","last_name":"B","email_address":"bob@example.com","password":"a-long-passphrase","active":true,"user_permissions":{"apis":"read"}}`)
	b := open(t, w.at)
	b.expect("/api/users/me", "/actions/reset")
	b.load("")
	signIn := func() {
		b.fill("E-mail address", "bob@example.com")
		b.fill("Password", "a-long-passphrase")
		b.click("Sign in")
		b.see("Your password has run out")
	}
	signIn()
	b.looks("expired")
	// A session that may do nothing but this is no reason to show an error: the sign-in says what to do.
	must(t, b.run("location.reload()", nil))
	signIn()
	for again, says := range map[string]string{"another-passphrase": "The two new passwords differ", "short": "at least"} {
		b.fill("New password", "short")
		b.fill("The new password again", again)
		b.click("Change it and go on")
		b.see(says)
	}
	b.fill("New password", "another-passphrase")
	b.fill("The new password again", "another-passphrase")
	b.click("Change it and go on")
	b.see("Hello, Bob")
}

// TestLostSession: when the session ends, work is kept; signing in again goes on with it.
func TestLostSession(t *testing.T) {
	w := newWorld(t)
	id := w.hook("Expired keys")
	b := w.signIn(t)
	b.expect("401", "/api/hooks/")
	b.visit("hooks/" + id + "?view=form")
	b.fill("Name", "Written before")
	must(t, b.run(`fetch('/logout', { method: 'POST' }).then(r => r.status)`, nil))
	b.click("Review and save…")
	b.see("Your session has ended")
	b.fill("E-mail address", address)
	b.fill("Password", password)
	b.click("Sign in")
	b.wait("!document.querySelector('dialog[open]')")
	b.wait(field("Name") + "?.value === 'Written before'")
	b.click("Review and save…")
	b.click("Save")
	b.wait("document.querySelector('h1').innerText === 'Written before'")
}

// TestServerAway: a server that is gone is said to be gone, nothing spins for ever, and
// the page goes on by itself when it is back.
func TestServerAway(t *testing.T) {
	file := t.TempDir() + "/gatehouse.db"
	environ := []string{"SVC_DB_STORAGE_MAIN_TYPE=sqlite", "SVC_DB_STORAGE_MAIN_CONNECTIONSTRING=" + file, "SVC_DB_HOMEDIR=" + t.TempDir(), "SVC_DB_ENCRYPTIONKEYS=" + strings.Repeat("k", 32)}
	at, stop := serving(t, "127.0.0.1:0", environ...)
	w := &world{t: t, at: at}
	b := w.signIn(t)
	b.expect("ERR_CONNECTION_REFUSED", "net::")
	stop()
	b.visit("hooks")
	b.see("The server cannot be reached")
	b.see("Try again")
	u, err := url.Parse(at)
	must(t, err)
	_, stop = serving(t, u.Host, environ...)
	t.Cleanup(stop)
	b.see("There are no webhooks yet")
	b.wait("!document.querySelector('.banner')")
}

// TestKeyStaysInMemory: an access key is in no storage and no cookie, and a reload forgets it.
func TestKeyStaysInMemory(t *testing.T) {
	w := newWorld(t)
	b := open(t, w.at)
	b.expect("/api/users/me")
	b.load("")
	b.click("Use an access key")
	b.fill("Access key", key)
	b.click("Sign in")
	b.see("Needs attention")
	b.visit("apis")
	b.see("There are no apis yet")
	kept := value[string](b, "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href, history.state, document.documentElement.outerHTML])")
	if strings.Contains(kept, key) {
		t.Errorf("the key is kept: %s", clip(kept))
	}
	must(t, chromedp.Do(b.ctx, chromedp.Reload()))
	b.see("Sign in to the control plane")
}

// TestPalette: everything is reached without a mouse.
func TestPalette(t *testing.T) {
	w := newWorld(t)
	w.ask("POST", "/api/apis/oas", `{"openapi":"3.0.3","info":{"title":"Stock of the north","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"Stock of the north","state":{"active":true}},"server":{"listenPath":{"value":"/stock/","strip":true}},"upstream":{"url":"http://127.0.0.1:9/"}}}`)
	b := w.signIn(t)
	b.press("k", chromedp.ModifierCtrl)
	b.see("Go to, make, find")
	b.fill("What do you want?", "stock of")
	b.wait("document.querySelector('[role=option][aria-selected=true]')?.innerText.includes('Stock of the north')")
	b.press("\r")
	b.wait("location.hash.startsWith('#/apis.oas/') && document.querySelector('h1').innerText === 'Stock of the north'")
	b.press("k", chromedp.ModifierCtrl)
	b.fill("What do you want?", "webhooks")
	b.press("\r")
	b.wait("location.hash === '#/hooks' && document.getElementById('find')")
	b.press("/")
	b.wait("document.activeElement.id === 'find'")
}

// TestImport: a description is looked at while it is written, refused with its reason, and imported.
func TestImport(t *testing.T) {
	w := newWorld(t)
	b := w.signIn(t)
	b.expect("/api/apis/oas/dry-run")
	b.visit("apis/import")
	b.see("Findings come while you write")
	b.write(`{"openapi":"3.0.3","info":{"title":"Orders","version":"1"},"paths":"none","servers":[{"url":"http://127.0.0.1:9/"}]}`)
	b.wait("document.querySelector('.wizard .trouble')")
	b.wait(named("Import") + ".disabled")
	b.write(`{"openapi":"3.0.3","info":{"title":"Orders","version":"1"},"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"ok"}}}}},"servers":[{"url":"http://127.0.0.1:9/"}]}`)
	b.see("It can be imported")
	b.picture("import")
	b.click("Import")
	b.wait("location.hash.startsWith('#/apis.oas/') && document.querySelector('h1').innerText === 'Orders'")
}

// TestAudit: a change is in the trail with its difference, and the chain holds until
// somebody changes a record.
func TestAudit(t *testing.T) {
	w := newWorld(t)
	id := w.hook("Expired keys")
	w.ask("PUT", "/api/hooks/"+id, `{"name":"Revoked keys","method":"POST","target_path":"https://hooks.example.com/a"}`)
	b := w.signIn(t)
	b.visit("audit")
	b.see("Replace a webhook")
	b.click("Filters")
	b.fill("Method", "PUT")
	b.wait("location.hash.includes('method=PUT') && document.querySelectorAll('tbody tr').length === 1")
	b.click("Replace a webhook")
	b.see("What it changed")
	b.see("Revoked keys")
	b.picture("audit-record")
	b.visit("audit")
	b.click("Verify the chain…")
	b.see("The chain holds")
	b.click("Close")
	must(t, b.run(`(() => { const real = window.fetch; window.fetch = async (u, o) => { const r = await real.call(window, u, o); if (!String(u).includes('download')) return r; return new Response((await r.text()).replace('Revoked keys', 'Expired kays'), { status: 200 }); }; })()`, nil))
	b.click("Verify the chain…")
	b.see("was changed: its hash is not that of its text")
}

// TestRules: rules are tried on a request that is only described, and on past writes.
func TestRules(t *testing.T) {
	w := newWorld(t, "SVC_DB_SECURITY_OPENPOLICY_ENABLED=true", "SVC_DB_SECURITY_OPENPOLICY_ENABLEAPI=true")
	w.hook("Expired keys")
	b := w.signIn(t)
	b.visit("rules")
	b.write("package dashboard_users\n\ndeny[\"No new webhooks\"] {\n  input.request.method == \"POST\"\n}\n")
	b.fill("Method", "POST")
	b.fill("Path", "/api/hooks")
	b.click("Evaluate")
	b.see("No new webhooks")
	b.click("Replay")
	b.see("would have been refused")
	b.see("POST /api/hooks")
	b.picture("rules")
	b.click("Discard changes")
}
