package console_test

import (
	"github.com/gatehouse-io/gatehouse/e2e/browser"

	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// TestFirstSteps: from an empty installation to the first call through a gateway, in three clicks.
func TestFirstSteps(t *testing.T) {
	w := newWorld(t)
	issuer := gatewaysim.NewIssuer()
	t.Cleanup(issuer.Close)
	gateway := gatewaysim.New(gatewaysim.Config{DashboardURL: w.at, NodeSecret: node})
	must(t, gateway.Start(t.Context()))
	t.Cleanup(func() { _ = gateway.Stop(context.Background()) })
	b := w.signIn(t)
	b.See("First steps")
	b.Fill("Your service", "http://127.0.0.1:9/")
	b.Click("Make an API")
	b.Click("Make a policy")
	b.Fill("Who signs tokens (issuer)", issuer.URL())
	b.Fill("Address of its public keys", issuer.JWKSURL())
	b.Click("Make an identity provider")
	b.See("That is all")
	gateway.Reload()
	ctx, cancel := context.WithTimeout(t.Context(), browser.Patience)
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
	b.Click("Close")
	b.See("1 gateway is connected")
}

// hook creates a webhook and returns its identifier.
func (w *world) hook(name string) string {
	w.t.Helper()
	return w.ask("POST", "/api/hooks", `{"name":`+quote(name)+`,"method":"POST","target_path":"https://hooks.example.com/a","header_map":{"x-auth":"value"}}`)["ID"].(string)
}

// TestEditing: a record is changed in the form, reviewed before it is saved, changed as YAML,
// duplicated and deleted, all through labels on the page.
func TestEditing(t *testing.T) {
	w := newWorld(t)
	id := w.hook("Expired keys")
	b := w.signIn(t)
	b.visit("hooks/" + id)
	b.See("https://hooks.example.com/a")
	b.Click("Form")
	b.Fill("Name", "Revoked keys")
	b.Press("s", chromedp.ModifierCtrl)
	b.See("Save these changes?")
	b.See(`"name": "Expired keys"`)
	b.See(`"name": "Revoked keys"`)
	b.Click("Save")
	b.Wait("document.querySelector('h1').innerText.startsWith('Revoked keys') && !document.querySelector('dialog[open]')")
	b.Click("Document")
	b.Click("YAML")
	b.Wait("document.querySelector('.cm-content')?.innerText.includes('method: POST')")
	b.Click("More")
	b.Click("Duplicate")
	b.See("Create a webhook")
	b.Wait(browser.Field("Name") + "?.value === 'Revoked keys'")
	b.Fill("Name", "Another one")
	b.Click("Create…")
	b.See("Create this?")
	b.Click("Create")
	b.Wait("document.querySelector('h1').innerText === 'Another one'")
	b.Click("More")
	b.Click("Delete…")
	b.See("Nothing else refers to it")
	b.Click("Delete")
	b.Wait("location.hash === '#/hooks'")
	b.See("Revoked keys")
	if got := w.ask("GET", "/api/hooks", ""); len(got["hooks"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
}

// TestErrorsStandAtTheirField: an error of the server is shown at its field.
func TestErrorsStandAtTheirField(t *testing.T) {
	w := newWorld(t)
	b := w.signIn(t)
	b.Expect("/api/hooks")
	b.visit("hooks/+new")
	b.Fill("Name", "Expired keys")
	b.Fill("Method", "POST")
	b.Fill("Target path", "not an address")
	b.Click("Create…")
	b.Click("Create")
	b.Wait("document.querySelector('[aria-invalid=true]') === " + browser.Field("Target path"))
	b.See("The trouble is at")
}

// TestUnsavedWork: leaving asks for confirmation, and unsaved work is kept.
func TestUnsavedWork(t *testing.T) {
	w := newWorld(t)
	id := w.hook("Expired keys")
	b := w.signIn(t)
	b.visit("hooks/" + id + "?view=form")
	b.Fill("Name", "Half done")
	b.visit("apis")
	b.See("Leave without saving?")
	b.Click("Stay")
	b.Wait(browser.Field("Name") + "?.value === 'Half done'")
	b.visit("apis")
	b.Click("Leave")
	b.Wait("location.hash === '#/apis' && document.querySelector('h1').innerText === 'APIs'")
	b.visit("hooks/" + id + "?view=form")
	b.Wait(browser.Field("Name") + "?.value === 'Expired keys'")
	b.visit("apis") // nothing has changed, so there is no question
	b.Wait("location.hash === '#/apis'")
}

// TestTwoEditors: the version that a colleague has saved meanwhile is shown beside the user's own,
// and both changes survive.
func TestTwoEditors(t *testing.T) {
	w := newWorld(t)
	id := w.hook("Expired keys")
	b := w.signIn(t)
	b.Expect("/api/hooks/")
	b.visit("hooks/" + id + "?view=form")
	b.Fill("Name", "Mine")
	w.ask("PUT", "/api/hooks/"+id, `{"name":"Theirs","method":"PUT","target_path":"https://hooks.example.com/b","header_map":{"x-auth":"value"}}`)
	b.Click("Review and save…")
	b.See("Somebody else changed this meanwhile")
	b.See("changed by both")
	b.Picture("conflict")
	must(t, b.Run(`[...document.querySelectorAll('.contested label')].find(l => l.innerText.includes('Yours')).querySelector('input').click()`, nil))
	b.Click("Continue with these")
	b.Click("Review and save…")
	b.See("Save these changes?")
	b.Click("Save")
	b.Wait("document.querySelector('h1').innerText === 'Mine'")
	if got := w.ask("GET", "/api/hooks/"+id, ""); got["name"] != "Mine" || got["method"] != "PUT" || got["target_path"] != "https://hooks.example.com/b" {
		t.Errorf("%v", got)
	}
}

// TestFewRights: actions without permission are not offered, and a direct address shows which
// permission is missing.
func TestFewRights(t *testing.T) {
	w := newWorld(t)
	id := w.hook("Expired keys")
	w.ask("POST", "/api/users", `{"first_name":"Bob","last_name":"B","email_address":"bob@example.com","password":"a-long-passphrase","active":true,"user_permissions":{"hooks":"read"}}`)
	b := open(t, w.at)
	b.Expect("/api/users/me")
	b.load("")
	b.Fill("E-mail address", "bob@example.com")
	b.Fill("Password", "a-long-passphrase")
	b.Click("Sign in")
	b.See("Hello, Bob")
	links := value[[]string](b, "[...document.querySelectorAll('#nav a')].map(a => a.innerText)")
	if text := strings.Join(links, " "); !strings.Contains(text, "Webhooks") || strings.Contains(text, "Users") || strings.Contains(text, "Policies") || strings.Contains(text, "Audit") {
		t.Errorf("offered: %s", text)
	}
	b.visit("hooks")
	b.See("Expired keys")
	b.Wait("!" + browser.Named("New"))
	b.visit("hooks/" + id)
	b.See("To change it you need the permission hooks (write)")
	b.Wait("!" + browser.Named("Form") + " && !" + browser.Named("Delete…"))
	b.visit("policies")
	b.See("it needs the permission policies (read)")
	b.visit("users/+new")
	b.See("it needs the permission users (write)")
	b.visit("rules")
	b.See("it needs the rights of an admin")
}

// TestExpiredPassword: a user who must choose a new password does so at the sign-in, and continues
// with it; invalid passwords are explained.
func TestExpiredPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "SVC_DB_SECURITY_FORCEFIRSTLOGINPWRESET=true")
	w.ask("POST", "/api/users", `{"first_name":"Bob","last_name":"B","email_address":"bob@example.com","password":"a-long-passphrase","active":true,"user_permissions":{"apis":"read"}}`)
	b := open(t, w.at)
	b.Expect("/api/users/me", "/actions/reset")
	b.load("")
	signIn := func() {
		b.Fill("E-mail address", "bob@example.com")
		b.Fill("Password", "a-long-passphrase")
		b.Click("Sign in")
		b.See("Your password has run out")
	}
	signIn()
	b.Looks("expired")
	// A session that permits only this must not show an error: the sign-in page says what to do.
	must(t, b.Run("location.reload()", nil))
	signIn()
	for again, says := range map[string]string{"another-passphrase": "The two new passwords differ", "short": "at least"} {
		b.Fill("New password", "short")
		b.Fill("The new password again", again)
		b.Click("Change it and go on")
		b.See(says)
	}
	b.Fill("New password", "another-passphrase")
	b.Fill("The new password again", "another-passphrase")
	b.Click("Change it and go on")
	b.See("Hello, Bob")
}

// TestLostSession: when the session ends, unsaved work is kept; after a new sign-in the user
// continues.
func TestLostSession(t *testing.T) {
	w := newWorld(t)
	id := w.hook("Expired keys")
	b := w.signIn(t)
	b.Expect("401", "/api/hooks/")
	b.visit("hooks/" + id + "?view=form")
	b.Fill("Name", "Written before")
	must(t, b.Run(`fetch('/logout', { method: 'POST' }).then(r => r.status)`, nil))
	b.Click("Review and save…")
	b.See("Your session has ended")
	b.Fill("E-mail address", address)
	b.Fill("Password", password)
	b.Click("Sign in")
	b.Wait("!document.querySelector('dialog[open]')")
	b.Wait(browser.Field("Name") + "?.value === 'Written before'")
	b.Click("Review and save…")
	b.Click("Save")
	b.Wait("document.querySelector('h1').innerText === 'Written before'")
}

// TestServerAway: an unreachable server is reported, no spinner runs for ever, and the page
// continues automatically when the server is back.
func TestServerAway(t *testing.T) {
	file := t.TempDir() + "/gatehouse.db"
	environ := []string{"SVC_DB_STORAGE_MAIN_TYPE=sqlite", "SVC_DB_STORAGE_MAIN_CONNECTIONSTRING=" + file, "SVC_DB_HOMEDIR=" + t.TempDir(), "SVC_DB_ENCRYPTIONKEYS=" + strings.Repeat("k", 32)}
	at, stop := serving(t, fmt.Sprintf("127.0.0.1:%d", harness.FreePort(t)), environ...)
	w := &world{t: t, at: at}
	b := w.signIn(t)
	b.Expect("ERR_CONNECTION_REFUSED", "net::")
	stop()
	b.visit("hooks")
	b.See("The server cannot be reached")
	b.See("Try again")
	u, err := url.Parse(at)
	must(t, err)
	_, stop = serving(t, u.Host, environ...)
	t.Cleanup(stop)
	b.See("There are no webhooks yet")
	b.Wait("!document.querySelector('.banner')")
}

// TestParts: a page whose script is not loaded yet appears when the server is back; after an update
// it says that the console must be reloaded.
func TestParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := open(t, w.at)
	b.Expect("/api/users/me", "net::", "/pages.js", "404")
	const away = `window.real = window.fetch; window.fetch = (u, o) => String(u).endsWith('/hello') ? Promise.reject(new TypeError('away')) : window.real.call(window, u, o)`
	block := func(patterns ...*network.BlockPattern) {
		_, err := chromedp.Call(b.Ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: patterns})
		must(t, err)
	}
	block(&network.BlockPattern{URLPattern: "*://*:*/console/*/pages.js", Block: true})
	b.load("")
	b.Fill("E-mail address", address)
	b.Fill("Password", password)
	b.Click("Sign in")
	b.See("Needs attention")
	must(t, b.Run(away+"; 0", nil))
	b.visit("gateways")
	b.See("The server cannot be reached")
	b.See("Try again")
	block()
	must(t, b.Run("window.fetch = window.real; 0", nil))
	b.See("No gateway is connected")
	block(&network.BlockPattern{URLPattern: "*://*:*/console/*/pages.js", Block: true})
	must(t, chromedp.Do(b.Ctx, chromedp.Reload()))
	b.See("The server has another version of the console")
	block()
	b.Click("Load the console again")
	b.See("No gateway is connected")
}

// TestKeyStaysInMemory: an access key is in no storage and no cookie, and is lost at a reload.
func TestKeyStaysInMemory(t *testing.T) {
	w := newWorld(t)
	b := open(t, w.at)
	b.Expect("/api/users/me")
	b.load("")
	b.Click("Use an access key")
	b.Fill("Access key", key)
	b.Click("Sign in")
	b.See("Needs attention")
	b.visit("apis")
	b.See("There are no apis yet")
	kept := value[string](b, "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href, history.state, document.documentElement.outerHTML])")
	if strings.Contains(kept, key) {
		t.Errorf("the key is kept: %s", browser.Clip(kept))
	}
	must(t, chromedp.Do(b.Ctx, chromedp.Reload()))
	b.See("Sign in to the control plane")
}

// TestPalette: everything can be reached without a mouse.
func TestPalette(t *testing.T) {
	w := newWorld(t)
	w.ask("POST", "/api/apis/oas", `{"openapi":"3.0.3","info":{"title":"Stock of the north","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"Stock of the north","state":{"active":true}},"server":{"listenPath":{"value":"/stock/","strip":true}},"upstream":{"url":"http://127.0.0.1:9/"}}}`)
	b := w.signIn(t)
	b.Press("k", chromedp.ModifierCtrl)
	b.See("Go to, make, find")
	b.Fill("What do you want?", "stock of")
	b.Wait("document.querySelector('[role=option][aria-selected=true]')?.innerText.includes('Stock of the north')")
	b.Press("\r")
	b.Wait("location.hash.startsWith('#/apis.oas/') && document.querySelector('h1').innerText === 'Stock of the north'")
	b.Press("k", chromedp.ModifierCtrl)
	b.Fill("What do you want?", "webhooks")
	b.Press("\r")
	b.Wait("location.hash === '#/hooks' && document.getElementById('find')")
	b.Press("/")
	b.Wait("document.activeElement.id === 'find'")
}

// TestImport: a description is validated while it is typed, refused with its reason, and imported.
func TestImport(t *testing.T) {
	w := newWorld(t)
	b := w.signIn(t)
	b.Expect("/api/apis/oas/dry-run")
	b.visit("apis/import")
	b.See("Findings come while you write")
	b.write(`{"openapi":"3.0.3","info":{"title":"Orders","version":"1"},"paths":"none","servers":[{"url":"http://127.0.0.1:9/"}]}`)
	b.Wait("document.querySelector('.wizard .trouble')")
	b.Wait(browser.Named("Import") + ".disabled")
	b.write(`{"openapi":"3.0.3","info":{"title":"Orders","version":"1"},"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"ok"}}}}},"servers":[{"url":"http://127.0.0.1:9/"}]}`)
	b.See("It can be imported")
	b.Picture("import")
	b.Click("Import")
	b.Wait("location.hash.startsWith('#/apis.oas/') && document.querySelector('h1').innerText === 'Orders'")
}

// TestRollBack: an API is imported, broken and repaired, and then restored to an earlier state from
// its history, whose states are reviewed and saved like any other change.
func TestRollBack(t *testing.T) {
	w := newWorld(t)
	id := w.ask("POST", "/api/apis/oas", `{"openapi":"3.0.3","info":{"title":"Orders","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"Orders","state":{"active":true}},`+
		`"upstream":{"url":"http://first.example/"},"server":{"listenPath":{"value":"/orders/"}}}}`)["ID"].(string)
	b := w.signIn(t)
	for _, target := range []string{"http://broken.example/", "http://mended.example/"} {
		b.visit("apis.oas/" + id)
		b.Click("Document")
		b.Wait("document.querySelector('.cm-content')")
		b.write(`{"openapi":"3.0.3","info":{"title":"Orders","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"Orders","state":{"active":true}},` +
			`"upstream":{"url":"` + target + `"},"server":{"listenPath":{"value":"/orders/"}}}}`)
		b.Click("Review and save…")
		b.See("Save these changes?")
		b.Click("Save")
		b.Wait("!document.querySelector('dialog') && document.querySelector('section.read')")
	}
	b.Click("History")
	b.See("http://broken.example/")
	b.Wait("document.querySelectorAll('ol.history > li').length === 3")
	b.Picture("history")
	must(t, b.Run(`[...document.querySelectorAll('ol.history > li:last-child button')].at(-1).click()`, nil))
	b.See("Look at it, then save it")
	b.Click("Review and save…")
	b.See("Save these changes?")
	b.Wait("document.querySelector('dialog .sides')?.innerText.includes('http://first.example/')")
	b.Click("Save")
	b.Wait("!document.querySelector('dialog') && document.querySelector('section.read')")
	b.Click("History")
	b.Wait("document.querySelectorAll('ol.history > li').length === 4")
	if now := w.ask("GET", "/api/apis/oas/"+id, ""); !strings.Contains(fmt.Sprint(now), "http://first.example/") {
		t.Error(now)
	}
}

// TestAudit: a change is in the audit trail with its difference, and the hash chain is valid until a
// record is tampered with.
func TestAudit(t *testing.T) {
	w := newWorld(t)
	id := w.hook("Expired keys")
	w.ask("PUT", "/api/hooks/"+id, `{"name":"Revoked keys","method":"POST","target_path":"https://hooks.example.com/a"}`)
	b := w.signIn(t)
	b.visit("audit")
	b.See("Replace a webhook")
	b.Click("Filters")
	b.Fill("Method", "PUT")
	b.Wait("location.hash.includes('method=PUT') && document.querySelectorAll('tbody tr').length === 1")
	b.Click("Replace a webhook")
	b.See("What it changed")
	b.See("Revoked keys")
	b.Picture("audit-record")
	b.visit("audit")
	b.Click("Verify the chain…")
	b.See("The chain holds")
	b.Click("Close")
	must(t, b.Run(`(() => { const real = window.fetch; window.fetch = async (u, o) => { const r = await real.call(window, u, o); if (!String(u).includes('download')) return r; return new Response((await r.text()).replace('Revoked keys', 'Expired kays'), { status: 200 }); }; })()`, nil))
	b.Click("Verify the chain…")
	b.See("was changed: its hash is not that of its text")
}

// TestRules: rules are tried on a described request, and on past writes.
func TestRules(t *testing.T) {
	w := newWorld(t, "SVC_DB_SECURITY_OPENPOLICY_ENABLED=true", "SVC_DB_SECURITY_OPENPOLICY_ENABLEAPI=true")
	w.hook("Expired keys")
	b := w.signIn(t)
	b.visit("rules")
	b.write("package dashboard_users\n\ndeny[\"No new webhooks\"] {\n  input.request.method == \"POST\"\n}\n\ndeny[\"Never\"] {\n  input.request.method == \"PATCH\"\n}\n")
	b.Fill("Method", "POST")
	b.Fill("Path", "/api/hooks")
	b.Click("Evaluate")
	b.See("No new webhooks")
	b.See("2 of 4 lines were evaluated; not evaluated: 7–8")
	b.Wait(`[...document.querySelectorAll('.cm-line')].map(l => l.classList.contains('ran') ? 'r' : l.classList.contains('missed') ? 'm' : '-').join('') === '--rr--mm--'`)
	b.Wait(`[...document.querySelectorAll('.cm-signs .sign')].map(e => e.innerText).join('') === '✓✓✗✗'`)
	b.Looks("coverage")
	must(t, b.Run("[...document.querySelectorAll('.coverage button')].find(e => e.ariaLabel === 'Lines 7–8').focus()", nil))
	b.Press("\r")
	b.Wait(`document.activeElement.matches('.cm-content') && document.querySelector('.cm-activeLine')?.innerText.startsWith('deny["Never"]')`)
	b.Click("Replay")
	b.See("would have been refused")
	b.See("POST /api/hooks")
	b.See("2 of 4 lines were evaluated")
	b.Wait("document.querySelectorAll('.cm-signs .sign').length === 4")
	b.Picture("rules")
	b.write("package dashboard_users\n\ndeny[\"Other\"] { false }\n")
	b.Wait(`!document.body.innerText.includes('lines were evaluated') && !document.querySelector('.cm-signs .sign')`)
	b.Click("Discard changes")
}

// TestRulesOfTheService: an organisation without rules of its own sees that, and which lines of the
// service's rules ran.
func TestRulesOfTheService(t *testing.T) {
	w := newWorld(t, "SVC_DB_SECURITY_OPENPOLICY_ENABLED=true", "SVC_DB_SECURITY_OPENPOLICY_ENABLEAPI=true")
	w.ask("PUT", "/api/org/opa", `{"open_policy":{"rules":""}}`)
	b := w.signIn(t)
	b.visit("rules")
	b.See("There are none of its own: those of the service apply.")
	b.Wait("document.querySelector('.cm-content')")
	b.Click("Evaluate")
	b.See("lines were evaluated; not evaluated:")
	b.Wait("document.querySelector('.cm-signs .sign.ran')")
}
