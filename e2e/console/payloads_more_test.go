package console_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// TestPayloadsOfCredentials: the same texts are names of MCP proxies, OAuth clients, keys and
// the subjects of certificates, browsers of sessions, reasons of rules, and addresses in the
// audit trail. They are shown as text, and none runs. The long form has all of them.
func TestPayloadsOfCredentials(t *testing.T) {
	t.Parallel()
	all := payloads()
	if !thorough() {
		some := all[:0:0]
		for i := 0; i < len(all); i += 11 { // each frame, and most seeds
			some = append(some, all[i])
		}
		all = some
	}
	w := newWorld(t, "SVC_DB_SECURITY_OPENPOLICY_ENABLEAPI=true")
	stored := w.credentials(t, all)
	b := w.signIn(t)
	b.Expect("/api/", "ERR_")
	must(t, b.Run(watched, nil))
	rest := func(place string, shows int) {
		t.Helper()
		b.visit(place)
		b.Wait("location.hash === " + quote("#/"+place))
		b.Wait("/* " + place + " */ " + quiet)
		must(t, b.Run("[...document.querySelectorAll('details')].slice(0, 30).forEach(d => { d.open = true })", nil))
		b.harmless(place, shows)
	}
	rest("mcps", 5)
	rest("clients?api=issuing", 5)
	rest("oauth/first?apiId=issuing", 1)
	rest("certificates", 5)
	rest("certs", 0)
	rest("access", 5)
	rest("keys", 5)
	rest("audit", 1)
	rest("audit?url=pwned", 1)
	for _, view := range []string{"read", "form", "raw", "both", "history"} {
		rest("mcps/"+stored["mcp"]+"?view="+view, 1)
	}
	for _, r := range w.rows("/api/audit-logs", "audit_logs") {
		rest("audit/"+fmt.Sprint(r["_id"]), 0)
	}
	rest("users/"+stored["user"], 5) // whose sessions are identified by their browsers
	b.visit("people")
	b.Click("Sessions of grace@example.com")
	b.Wait("document.querySelectorAll('dialog[open] tbody tr').length > 2")
	b.harmless("the dialog of sessions", 2)
	b.Click("Close")
	b.visit("certificates")
	b.Wait("document.querySelector('[aria-label^=\"Delete \"]')")
	must(t, b.Run("document.querySelector('[aria-label^=\"Delete \"]').click()", nil))
	b.Wait("document.querySelector('dialog[open]')")
	b.harmless("the question before a certificate is deleted", 1)
	b.Click("Close")
	b.visit("rules")
	b.Wait("document.querySelector('.cm-content')")
	b.Fill("Path", "/api/hooks/x")
	b.Click("Evaluate")
	b.See("The caller is told")
	must(t, b.Run("document.querySelectorAll('details').forEach(d => { d.open = true })", nil))
	b.harmless("what rules say about a request", 5)
	b.Click("Replay")
	b.See("would have been refused")
	b.harmless("what rules say about past writes", 5)
	b.write("package dashboard_users\n\ndeny[\"other\"] { false }\n")
	b.Click("Review and save…")
	b.See("Save these rules?")
	b.harmless("the difference of rules", 5)
	b.Click("Go on editing")
	for _, p := range all[:len(all)/3] { // the answer quotes what it cannot parse
		b.write("package dashboard_users\n\ndeny[x] { " + p + " }\n")
		b.Click("Evaluate")
		b.Wait("calls.open === 0")
	}
	b.harmless("what is wrong with rules", 0)
	b.Click("Discard changes")
}

// harmless fails if a payload ran or became an element, or if too few are shown.
func (b *tab) harmless(at string, shows int) {
	b.T.Helper()
	if value[bool](b, "window.pwned !== undefined") {
		b.T.Fatalf("a payload has run at %s", at)
	}
	if n := value[int](b, "document.querySelectorAll('#app script, #app iframe, #app object, #app embed, #app img, #app base, #app meta, #app a[href^=javascript i], #app a[href^=data i]').length"); n != 0 {
		b.T.Errorf("%d elements came from values at %s", n, at)
	}
	if n := value[int](b, "(document.body.innerText + [...document.querySelectorAll('input, textarea, [title]')].map(e => (e.value ?? '') + (e.title ?? '')).join(' ')).split('pwned').length - 1"); n < shows {
		b.T.Errorf("%s shows %d payloads", at, n)
	}
}

// credentials stores texts in the other resources that users write, and returns the addresses
// to open.
func (w *world) credentials(t *testing.T, all []string) map[string]string {
	t.Helper()
	text := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	user := fmt.Sprint(w.ask("POST", "/api/users", `{"first_name":"Grace","last_name":"H","email_address":"grace@example.com","password":"a-long-passphrase","active":true,"user_permissions":{"apis":"read"}}`)["Meta"])
	w.ask("POST", "/api/apis", `{"api_definition":{"name":"Issuing","api_id":"issuing","active":true,"use_oauth2":true,"proxy":{"listen_path":"/issuing/","target_url":"http://up.example/"}}}`)
	w.ask("POST", "/api/portal/policies", `{"id":"many","name":"Many","state":"active","rate":1,"per":1,"access_rights":{"issuing":{"api_id":"issuing","versions":["Default"]}}}`)
	rules, proxies := "package dashboard_users\n", 0
	var proxy string
	for i, p := range all {
		d := document(p, fmt.Sprint("mcp", i), all[i:i+1])
		x := d["x-tyk-api-gateway"].(map[string]any)
		x["middleware"] = map[string]any{"mcpTools": map[string]any{p: map[string]any{"allow": map[string]any{"enabled": true}}}}
		if status, _ := w.try("POST", "/api/mcps", text(d), key); status < 300 {
			proxies++
			proxy = fmt.Sprint("mcp", i)
		}
		w.ask("POST", "/api/apis/oauth/issuing", text(map[string]any{"client_id": fmt.Sprint("c", i), "description": p, "redirect_uri": "https://shop.example/?" + url.QueryEscape(p), "policy_id": "many", "meta_data": map[string]string{p: p}}))
		w.try("POST", "/api/apis/oauth/issuing", text(map[string]any{"client_id": fmt.Sprint("r", i), "description": p, "redirect_uri": p, "policy_id": "many"}), key)
		w.try("POST", "/api/apis/oauth/issuing", text(map[string]any{"client_id": p, "description": p, "redirect_uri": "https://shop.example/" + fmt.Sprint(i), "policy_id": "many"}), key)
		w.try("POST", "/api/keys", text(map[string]any{"alias": p, "tags": []string{p}, "meta_data": map[string]string{p: p}, "apply_policies": []string{"many"}}), key)
		w.upload(t, certificate(t, p, time.Now().AddDate(0, 0, 5+i)))
		w.signedIn(t, p)
		w.try("POST", "/api/hooks?name="+url.QueryEscape(p), text(map[string]any{"name": p, "method": "POST", "target_path": "https://hooks.example.com/" + fmt.Sprint(i)}), key)
		rules += "# " + strings.ReplaceAll(p, "\n", " ") + "\ndeny[" + text(p) + "] { startswith(input.request.path, \"/api/hooks\") }\n"
	}
	w.ask("POST", "/api/apis/oauth/issuing", `{"client_id":"first","description":`+text(all[0])+`,"redirect_uri":"https://shop.example/","policy_id":"many"}`)
	w.ask("PUT", "/api/org/opa", text(map[string]any{"open_policy": map[string]any{"rules": rules}}))
	if proxies < len(all)/2 {
		t.Errorf("%d of %d proxies were stored", proxies, len(all))
	}
	return map[string]string{"user": user, "mcp": proxy}
}

// rows returns the entries of a list.
func (w *world) rows(path, member string) (out []map[string]any) {
	w.t.Helper()
	_, text := w.try("GET", path, "", key)
	var answer map[string]json.RawMessage
	if json.Unmarshal(text, &answer) == nil {
		_ = json.Unmarshal(answer[member], &out)
	}
	if len(out) == 0 {
		w.t.Errorf("%s: no entries: %s", path, browser.Clip(string(text)))
	}
	return out
}

// upload stores a certificate.
func (w *world) upload(t *testing.T, pem string) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("cert", "a.pem")
	must(t, err)
	_, err = part.Write([]byte(pem))
	must(t, err)
	must(t, form.Close())
	w.send(t, "/api/certs", body.String(), http.Header{"Authorization": {key}, "Content-Type": {form.FormDataContentType()}})
}

// signedIn signs a user in with a browser of a given name.
func (w *world) signedIn(t *testing.T, agent string) {
	t.Helper()
	w.send(t, "/login", `{"username":"grace@example.com","password":"a-long-passphrase"}`, http.Header{"User-Agent": {agent}, "Content-Type": {"application/json"}})
}

func (w *world) send(t *testing.T, path, body string, headers http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.at+path, strings.NewReader(body))
	must(t, err)
	req.Header = headers
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	_ = res.Body.Close()
	if res.StatusCode >= 300 {
		t.Errorf("POST %s: %s", path, res.Status)
	}
}
