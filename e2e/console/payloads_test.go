package console_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// payloads are names and values that would run as scripts if they were used as markup, as
// an address, as a template or as a part of a script.
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

// TestPayloads: 300 texts with scripts are names, values and member names of every resource
// that users write. They are shown as text, in lists, records, forms, documents,
// differences, matrices, menus and messages, and none runs.
func TestPayloads(t *testing.T) {
	all := payloads()
	if len(all) != 300 {
		t.Fatalf("%d payloads", len(all))
	}
	w := newWorld(t)
	kept := w.payloads(all)
	b := w.signIn(t)
	b.Expect("/api/", "ERR_")
	check := func(at string) {
		t.Helper()
		if value[bool](b, "window.pwned !== undefined") {
			t.Fatalf("a payload has run at %s", at)
		}
		if n := value[int](b, "document.querySelectorAll('#app script, #app iframe, #app object, #app embed, #app img, #app base, #app meta, #app a[href^=javascript i]').length"); n != 0 {
			t.Errorf("%d elements came from values at %s", n, at)
		}
	}
	must(t, b.Run(watched, nil))
	rest := func(place string) {
		t.Helper()
		b.visit(place)
		b.Wait("location.hash === " + quote("#/"+place))
		b.Wait("/* " + strings.ReplaceAll(place, "*/", "") + " */ " + quiet)
		must(t, b.Run("[...document.querySelectorAll('details')].slice(0, 30).forEach(d => { d.open = true })", nil))
		check(place)
	}
	for _, place := range []string{"clientidps?q=pwned", "hooks?q=pwned", "usergroups?q=pwned", "audit?url=pwned", "policies?q=pwned", "assets", "apis", "mcps", "users", "service-accounts", "keys", "system.announcements",
		"registry", "registry/payloads", "rights", "access", "gateways", "people", "people?of=usergroups", "people?of=service-accounts", "audit", ""} {
		rest(place)
	}
	for name, id := range kept {
		for _, view := range []string{"read", "form", "raw", "both", "history"} {
			rest(name + "/" + id + "?view=" + view)
		}
	}
	rest("rights/" + kept["policies"])
	for _, p := range all[:60] { // addresses are input as well
		b.visit(strings.ReplaceAll(p, "#", ""))
		b.visit("hooks?q=" + strings.ReplaceAll(p, "#", ""))
	}
	b.See("webhooks")
	check("addresses")
	b.Press("k", chromedp.ModifierCtrl)
	b.Fill("What do you want?", "pwned")
	b.Wait("[...document.querySelectorAll('[role=option]')].some(e => e.innerText.includes('pwned'))")
	check("the menu")
}

// payloads stores them in all resources that users write: as names of records, and all of
// them in one record of each resource with enough room. It returns those records by
// resource.
func (w *world) payloads(all []string) map[string]string {
	w.t.Helper()
	text := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	mappings, members, headers := map[string]any{}, map[string]any{}, map[string]string{}
	for i, p := range all {
		mappings[p] = map[string]any{"scope_to_policy": map[string]any{p: p}}
		members[p] = p
		headers[fmt.Sprint("x-", i)] = p
		switch i % 10 {
		case 0:
			w.try("POST", "/api/hooks", text(map[string]any{"name": p, "method": "POST", "target_path": "https://hooks.example.com/" + fmt.Sprint(i), "header_map": map[string]string{"x-a": p}}), key)
		case 1:
			w.try("POST", "/api/usergroups", text(map[string]any{"name": p, "description": p, "active": true, "user_permissions": map[string]string{}}), key)
		case 2:
			w.try("POST", "/api/portal/policies", text(map[string]any{"name": p, "tags": []string{p}, "access_rights": map[string]any{}}), key)
		case 3:
			w.try("POST", "/api/users", text(map[string]any{"first_name": p, "last_name": p, "email_address": fmt.Sprintf("u%d@example.com", i), "user_permissions": map[string]string{}}), key)
		case 4:
			w.try("POST", "/api/service-accounts", text(map[string]any{"name": p, "user_permissions": map[string]string{}}), key)
		case 5:
			w.try("POST", "/api/apis", text(map[string]any{"api_definition": map[string]any{"name": p, "api_id": fmt.Sprint("c", i), "active": true, "use_keyless": true, "tags": []string{p}, "proxy": map[string]any{"listen_path": fmt.Sprintf("/c%d/", i), "target_url": "http://up.example/"}}}), key)
		case 6:
			w.try("POST", "/api/keys", text(map[string]any{"alias": p, "tags": []string{p}, "meta_data": map[string]string{p: p}, "apply_policies": []string{"many"}}), key)
		case 7:
			w.try("POST", "/api/apis/oas", text(document(p, fmt.Sprint("o", i), nil)), key)
		case 8:
			w.try("POST", "/api/assets", text(map[string]any{"name": p, "kind": "oas-template", "description": p, "data": map[string]any{p: p}}), key)
		case 9:
			w.try("POST", "/api/clientidps", text(map[string]any{"client_idp_id": fmt.Sprint("idp", i), "name": p, "jwks_uri": fmt.Sprintf("https://i%d.example.com/jwks.json", i)}), key)
		}
	}
	w.ask("POST", "/api/clientidps", text(map[string]any{"client_idp_id": "payloads", "name": all[1], "issuer": "https://login.example.com/", "jwks_uri": "https://login.example.com/jwks.json", "api_mappings": mappings}))
	w.ask("POST", "/api/portal/policies", text(map[string]any{"id": "many", "name": "Many " + all[2], "tags": all, "meta_data": members, "access_rights": map[string]any{}}))
	w.ask("POST", "/api/apis/oas", text(document(all[3], "many", all)))
	w.ask("POST", "/api/assets", text(map[string]any{"id": "many", "name": all[4], "kind": "oas-template", "description": strings.Join(all, " "), "data": members}))
	hook, _ := w.ask("POST", "/api/hooks", text(map[string]any{"name": all[5], "method": "POST", "target_path": "https://hooks.example.com/many", "header_map": headers}))["ID"].(string)
	return map[string]string{"clientidps": "payloads", "policies": "many", "apis.oas": "many", "assets": "many", "hooks": hook}
}

// document is an API with a name, and with texts at every place that is shown.
func document(name, id string, texts []string) map[string]any {
	paths, tags := map[string]any{}, []any{}
	for i, p := range texts {
		paths[fmt.Sprint("/p", i)] = map[string]any{"get": map[string]any{"operationId": fmt.Sprint("o", i), "summary": p, "description": p, "x-note": p, "responses": map[string]any{"200": map[string]any{"description": p}}}}
		tags = append(tags, map[string]any{"name": p, "description": p})
	}
	return map[string]any{"openapi": "3.0.3", "info": map[string]any{"title": name, "version": name, "description": name}, "tags": tags, "paths": paths, "x-tyk-api-gateway": map[string]any{
		"info": map[string]any{"name": name, "id": id, "state": map[string]any{"active": true}}, "upstream": map[string]any{"url": "http://up.example/"}, "server": map[string]any{"listenPath": map[string]any{"value": "/" + id + "/"}}}}
}
