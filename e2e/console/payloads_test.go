package console_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// payloads are names and values that would run as script where somebody took them for
// markup, for an address, for a template or for a part of a script.
func payloads() []string {
	run := "window.pwned=1"
	seeds := []string{
		"<script>%s</script>", "<img src=x onerror=%s>", "<svg onload=%s>", "<svg><script>%s</script></svg>", "<body onload=%s>", "<iframe srcdoc='<script>parent.%s</script>'>", "<iframe src=javascript:%s>",
		"<a href=javascript:%s>x</a>", "javascript:%s", "JaVaScRiPt:%s", "java\tscript:%s", "data:text/html,<script>opener.%s</script>", "<details open ontoggle=%s>", "<input autofocus onfocus=%s>", "<video><source onerror=%s>",
		"<math><mtext><script>%s</script></mtext></math>", "<style>@import 'javascript:%s'</style>", "<object data=javascript:%s>", "<embed src=javascript:%s>", "<form action=javascript:%s><button>x", "<meta http-equiv=refresh content='0;url=javascript:%s'>",
		"<link rel=stylesheet href=javascript:%s>", "<base href=javascript:%s//>", "<template><script>%s</script></template>", "<noscript><img src=x onerror=%s></noscript>", "<marquee onstart=%s>", "${%s}", "{{%s}}", "{{constructor.constructor('%s')()}}", "'-%s-'",
	}
	frames := []string{"%s", "\"><!--%s", "'><!--%s", "</textarea>%s", "</title>%s", "</style>%s", "</script>%s", "--></option>%s", "\u2028%s", "a %s b"}
	out := make([]string, 0, len(seeds)*len(frames))
	for _, f := range frames {
		for _, s := range seeds {
			out = append(out, fmt.Sprintf(f, strings.ReplaceAll(s, "%s", run)))
		}
	}
	return out
}

// TestPayloads: 300 texts that would be scripts elsewhere are names, values and member
// names here. They are shown as they are, in lists, records, forms, documents,
// differences, menus and messages, and none runs.
func TestPayloads(t *testing.T) {
	all := payloads()
	if len(all) != 300 {
		t.Fatalf("%d payloads", len(all))
	}
	w := newWorld(t)
	id := w.payloads(all)
	b := w.signIn(t)
	b.expect("/api/hooks", "/api/clientidps", "ERR_", "/api/run")
	b.visit("assets")
	b.wait("document.querySelectorAll('tbody tr').length > 0")
	for _, place := range []string{"clientidps?q=pwned", "hooks?q=pwned", "usergroups?q=pwned", "audit?url=pwned", "policies?q=pwned"} {
		b.visit(place)
		b.wait("location.hash === " + quote("#/"+place) + " && document.querySelector('.count') && !document.querySelector('.count').innerText.includes('Loading')")
	}
	for _, view := range []string{"read", "form", "raw", "both"} {
		b.visit("clientidps/" + id + "?view=" + view)
		b.wait(map[string]string{"read": "document.querySelector('section.read dl')", "form": "document.querySelector('section.form .field')", "raw": "document.querySelector('.cm-content')", "both": "document.querySelector('.cm-content') && document.querySelector('section.form .field')"}[view])
		must(t, b.run("document.querySelectorAll('details').forEach(d => { d.open = true })", nil))
	}
	for _, p := range all[:60] { // addresses are input as well
		b.visit(strings.ReplaceAll(p, "#", ""))
		b.visit("hooks?q=" + strings.ReplaceAll(p, "#", ""))
	}
	b.see("webhooks")
	if value[bool](b, "window.pwned !== undefined") {
		t.Error("a payload has run")
	}
	if n := value[int](b, "document.querySelectorAll('#app script, #app iframe, #app object, #app embed, #app img, #app base, #app meta').length"); n != 0 {
		t.Errorf("%d elements came from values", n)
	}
}

// payloads stores them wherever people write, and returns a provider that has all.
func (w *world) payloads(all []string) string {
	w.t.Helper()
	text := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	mappings := map[string]any{}
	for i, p := range all {
		mappings[p] = map[string]any{"scope_to_policy": map[string]any{p: p}}
		if i%10 == 0 {
			w.try("POST", "/api/hooks", text(map[string]any{"name": p, "method": "POST", "target_path": "https://hooks.example.com/" + fmt.Sprint(i), "header_map": map[string]string{"x-a": p}}), key)
			w.try("POST", "/api/usergroups", text(map[string]any{"name": p, "description": p, "active": true, "user_permissions": map[string]string{}}), key)
			w.try("POST", "/api/assets", text(map[string]any{"name": p, "kind": "oas-template", "description": p, "data": map[string]any{p: p}}), key)
			w.try("POST", "/api/portal/policies", text(map[string]any{"name": p, "tags": []string{p}, "access_rights": map[string]any{}}), key)
		}
	}
	w.ask("POST", "/api/clientidps", text(map[string]any{"client_idp_id": "payloads", "name": all[1], "issuer": "https://login.example.com/", "jwks_uri": "https://login.example.com/jwks.json", "api_mappings": mappings}))
	return "payloads"
}
