package console_test

import (
	"github.com/gatehouse-io/gatehouse/e2e/browser"

	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/evanw/esbuild/pkg/api"
)

// workshop exposes the console's own functions on documents to a page.
const workshop = `import * as doc from './doc'; import * as merge from './merge'; import * as yaml from './yaml'; Object.assign(globalThis, { doc, merge, yaml });`

// bundle builds them from the console's sources.
func bundle(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../adapters/web/console")
	must(t, err)
	r := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{Contents: workshop, ResolveDir: filepath.Join(root, "src"), Loader: api.LoaderTS}, AbsWorkingDir: root,
		NodePaths: []string{filepath.Join(root, "vendor")}, Bundle: true, Format: api.FormatIIFE, Target: api.ES2022, LogLevel: api.LogLevelSilent, TsconfigRaw: "{}",
	})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	return string(r.OutputFiles[0].Contents)
}

// thorough reports whether the long form was requested.
func thorough() bool { return os.Getenv("GATEHOUSE_E2E_LONG") != "" }

// documents are those in the vectors of the open-source gateway, some of each file or in the
// long form all, and texts with unusual JSON.
func documents(t *testing.T) []string {
	t.Helper()
	out := []string{
		`{}`, `[]`, `{"a":1}`, `{"b":1.0,"a":1e2,"10":true,"2":null,"a":"twice"}`, "{\n\t\"tab\" :\t[ 1 ,2 ],\"\\u0061\":\"\\u00e9\\/\"\n}", `{"big":123456789012345678901234567890,"small":1e-400,"neg":-0.0}`,
		`{"__proto__":{"x":1},"constructor":2,"":{"":[]}}`, `[[],[{}],{"a":[{"b":[null,true,"\"\\\n"]}]}]`, `{"a": {"b": 1}, "c":[1,{"d":"e"},3]}`, `{"yes":"no","on":"1","null":"~","a: b":"- c","#":"x #y","multi":"a\nb"}`,
	}
	most := 12
	if thorough() {
		most = 1 << 20
	}
	files, err := filepath.Glob("../../core/api/testdata/vectors/*.json")
	must(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		must(t, err)
		var cases any
		must(t, json.Unmarshal(text, &cases))
		out = append(out, within(cases, nil, most)...)
	}
	return append(out, large())
}

// within returns up to n documents below a value.
func within(v any, out []string, n int) []string {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if len(out) < n {
				out = within(x, out, n)
			}
		}
	case map[string]any:
		if len(v) > 6 {
			text, _ := json.Marshal(v)
			return append(out, string(text))
		}
		for _, x := range v {
			if len(out) < n {
				out = within(x, out, n)
			}
		}
	}
	return out
}

// large returns a document of a megabyte.
func large() string { return long(1 << 20) }

// long returns a document of about that many bytes.
func long(bytes int) string {
	var b strings.Builder
	b.WriteString(`{"openapi":"3.0.3","paths":{`)
	for i := range bytes / 140 {
		fmt.Fprintf(&b, `%s"/p%d":{"get":{"operationId":"o%d","x-odd":%d.50,"responses":{"200":{"description":"Fine and %d"}}},"X-Unknown":[1,2,{"z":0,"a":1}]}`, map[bool]string{true: ",", false: ""}[i > 0], i, i, i, i)
	}
	b.WriteString(`}}`)
	return b.String()
}

// law checks one document: a member that is set is there, and every other byte stays; setting
// and removing a member restores the document; conversion to YAML and back is lossless;
// merging two changes keeps both.
const law = `(text => {
const fail = [], paths = [];
const walk = (n, path) => { paths.push(path); n.members?.forEach(m => { if (n.members.filter(x => x.key === m.key).length === 1) walk(m.node, [...path, m.key]); }); n.items?.forEach((x, i) => walk(x, [...path, i])); };
const root = doc.parse(text);
walk(root, []);
const nice = doc.pretty(text);
if (doc.pretty(nice) !== nice) fail.push('pretty is not settled');
const tokens = t => { const out = []; const w = n => { if (n.members) { out.push('{'); n.members.forEach(m => { out.push(t.slice(m.from, m.keyTo)); w(m.node); }); } else if (n.items) { out.push('['); n.items.forEach(w); } else out.push(t.slice(n.from, n.to)); out.push('.'); }; w(doc.parse(t)); return out.join(' '); };
if (tokens(nice) !== tokens(text)) fail.push('pretty changes what is said');
const step = Math.max(1, Math.floor(paths.length / (text.length > 100000 ? 4 : 25)));
for (let i = 0; i < paths.length; i += step) {
  const path = paths[i], at = doc.find(root, path);
  const put = doc.put(text, path, '"new"'), back = doc.find(doc.parse(put), path);
  if (back?.value !== 'new') fail.push('not there: ' + JSON.stringify(path));
  if (put.slice(0, at.from) !== text.slice(0, at.from) || !put.endsWith(text.slice(at.to))) fail.push('touches more: ' + JSON.stringify(path));
  if (doc.put(text, path, text.slice(at.from, at.to)) !== text && !text.slice(at.from, at.to).includes('\n')) fail.push('puts the same and changes: ' + JSON.stringify(path));
  if (at.kind === 'object' && !at.members.some(m => m.key === 'brand-new')) {
    const added = doc.put(text, [...path, 'brand-new'], '{\n  "x": [1]\n}'), gone = doc.put(added, [...path, 'brand-new'], undefined);
    if (tokens(gone) !== tokens(text)) fail.push('adding and taking away leaves something: ' + JSON.stringify(path));
    if (at.members.length && gone !== text) fail.push('adding and taking away changes space: ' + JSON.stringify(path));
    const both = merge.merged(added, merge.threeWay(text, doc.put(text, [...path, 'mine'], '1'), added).filter(c => merge.given(c) === 'mine'));
    const n = doc.find(doc.parse(both), path);
    if (path.every(k => typeof k === 'string') && at.members.every(m => at.members.filter(x => x.key === m.key).length === 1) && !(doc.child(n, 'brand-new') && doc.child(n, 'mine'))) fail.push('a merge loses: ' + JSON.stringify(path));
  }
  if (path.length && typeof path.at(-1) === 'string' && !doc.find(root, [...path.slice(0, -1), 'renamed'])) {
    const r = doc.rename(text, path, 'renamed');
    if (tokens(doc.rename(r, [...path.slice(0, -1), 'renamed'], path.at(-1))) !== tokens(doc.rename(text, path, path.at(-1)))) fail.push('rename: ' + JSON.stringify(path));
  }
  if (fail.length > 5) break;
}
const twice = n => (n.members && new Set(n.members.map(m => m.key)).size < n.members.length) || (n.members ?? []).some(m => twice(m.node)) || (n.items ?? []).some(twice);
const values = t => { const out = []; const w = n => { if (n.members) { out.push('{'); n.members.forEach(m => { out.push(JSON.stringify(m.key)); w(m.node); }); } else if (n.items) { out.push('['); n.items.forEach(w); } else out.push(n.kind === 'number' ? t.slice(n.from, n.to) : JSON.stringify(n.value)); out.push('.'); }; w(doc.parse(t)); return out.join(' '); };
if (!twice(root) && text.length < 300000) { try { const y = yaml.toJSON(yaml.toYAML(text)); if (values(y) !== values(text)) fail.push('yaml: ' + yaml.toYAML(text).slice(0, 200)); } catch (e) { fail.push('yaml: ' + e.message); } }
return fail; })`

// TestDocumentsPass: documents pass through form and editor unchanged except for the edit.
func TestDocumentsPass(t *testing.T) {
	w := newWorld(t)
	b := open(t, w.at)
	b.Expect("/api/users/me")
	b.load("")
	b.See("Sign in")
	must(t, b.Run(bundle(t)+"; 0", nil))
	all := documents(t)
	for _, text := range all {
		if fail := value[[]string](b, law+"("+quote(text)+")"); len(fail) > 0 {
			t.Errorf("%s\n%s", browser.Clip(text), strings.Join(fail, "\n"))
		}
	}
	for _, text := range []string{"", "{", `{"a"}`, `{a:1}`, "[1,]", "01", `"\x"`, "nul", "{}{}", "'a'", `{"a":1,}`, strings.Repeat("[", 1000)} {
		if !value[bool](b, "(() => { try { doc.parse("+quote(text)+"); return false; } catch (e) { return /line \\d+, column \\d+/.test(e.message); } })()") {
			t.Errorf("%s passes", browser.Clip(text))
		}
	}
	if !value[bool](b, `(() => { try { yaml.toJSON('a: &a [1,1,1,1,1,1,1,1,1]\n' + [...'bcdefgh'].map((c, i) => c + ': &' + c + ' [' + Array(9).fill('*' + 'abcdefgh'[i]).join() + ']').join('\n')); return false; } catch (e) { return true; } })()`) {
		t.Error("a text of aliases expands without end")
	}
	t.Logf("%d documents", len(all))
}

// asset stores a document and returns the identifier of its record.
func (w *world) asset(t testing.TB, text string) string {
	t.Helper()
	id, _ := w.ask("POST", "/api/assets", `{"kind":"oas-template","name":"Kept","X-Odd":[1.50,{"z":0,"a":1e2}],"data":`+text+`}`)["ID"].(string)
	return id
}

// sent records the bodies that the page stores.
const sent = `(() => { const real = window.fetch; window.sent = []; window.fetch = (u, o) => { if (o?.method === 'PUT' && !String(u).includes('dry_run')) sent.push(o.body); return real.call(window, u, o); }; })(); 0`

// TestDocumentsPassThePage: documents of the vectors, with members that no schema has,
// unusual spelling and a size of 1 MB, are changed in the form and in the editor of the page.
// The page stores exactly the document that it was given with that edit, byte for byte,
// formatted as JSON.
func TestDocumentsPassThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signIn(t)
	must(t, b.Run(bundle(t)+"; "+sent, nil))
	every := 40
	if thorough() {
		every = 1
	}
	tried := 0
	for i, text := range documents(t) {
		if i >= 3 && i%every != 0 && len(text) < 1<<20 || text[0] != '{' || strings.Contains(text, `"a":"twice"`) || !strings.Contains(text, ":") {
			continue
		}
		tried++
		id := w.asset(t, text)
		stored := func() string { _, text := w.try("GET", "/api/assets/"+id, "", key); return quote(string(text)) }
		b.visit("assets/" + id + "?view=form")
		b.Wait(browser.Field("Name required") + "?.value === 'Kept'")
		b.Fill("Name required", "Kept with care")
		b.saves(t, `doc.put(doc.pretty(`+stored()+`), ['name'], '"Kept with care"')`)
		b.visit("assets/" + id + "?view=raw")
		b.Wait("document.querySelector('.cm-content')?.innerText.length > 2")
		must(t, b.Run("document.querySelector('.cm-content').focus()", nil))
		b.Press(kb.Home, chromedp.ModifierCtrl)
		b.Press(kb.ArrowRight)
		_, err := chromedp.Call(b.Ctx, input.InsertText, input.InsertTextParams{Text: `"X-typed": 1.50,`})
		must(t, err)
		b.saves(t, `(t => '{"X-typed": 1.50,' + t.slice(1))(doc.pretty(`+stored()+`))`)
	}
	t.Logf("%d documents", tried)
	if tried < 4 {
		t.Error("too few documents")
	}
}

// saves stores the document in the page, and compares it with the result of a script, except
// for the time of the last change, which the server writes.
func (b *tab) saves(t *testing.T, want string) {
	t.Helper()
	must(t, b.Run(`window.timeless = s => s.replace(/"last_updated": "[^"]*"/, ''); window.want = timeless(`+want+"); 0", nil))
	b.Wait(`(() => { const s = ` + browser.Named("Review and save…") + `; if (!s || s.disabled) return false; s.click(); return true; })()`)
	b.See("Save these changes?")
	b.Click("Save")
	b.Wait("sent.length > 0 && !document.querySelector('dialog[open]') && document.querySelector('section.read')")
	if at := value[[]string](b, "(s => s === want ? [] : (i => [s.slice(i - 40, i + 40), want.slice(i - 40, i + 40)])([...s].findIndex((c, i) => c !== want[i])))(timeless(sent.splice(0).at(-1)))"); len(at) > 0 {
		t.Errorf("the page stores\n%s\nin place of\n%s", at[0], at[1])
	}
}

// TestFormKeepsTheRest: an API with members that no form has is edited in the form, and the
// body differs only in the edited place.
func TestFormKeepsTheRest(t *testing.T) {
	w := newWorld(t)
	id := w.ask("POST", "/api/portal/policies", `{"name":"Gold","zzz_unknown":{"B":1,"a":[1.50,{"later":true}]},"rate":100,"per":60,"access_rights":{},"aaa_unknown":"kept"}`)["Message"].(string)
	_, before := w.try("GET", "/api/portal/policies/"+id, "", key)
	b := w.signIn(t)
	b.visit("policies/" + id + "?view=form")
	b.Fill("Name", "Silver")
	b.Click("Review and save…")
	b.See("Save these changes?")
	if n := value[int](b, "document.querySelectorAll('.sides td.new').length"); n != 1 {
		t.Errorf("%d lines would change", n)
	}
	b.Click("Save")
	b.Wait("!document.querySelector('dialog[open]') && document.querySelector('h1').innerText === 'Silver'")
	_, after := w.try("GET", "/api/portal/policies/"+id, "", key)
	var was, is map[string]any
	must(t, json.Unmarshal(before, &was))
	must(t, json.Unmarshal(after, &is))
	for _, name := range []string{"zzz_unknown", "aaa_unknown", "rate", "per", "quota_max"} {
		if fmt.Sprint(was[name]) != fmt.Sprint(is[name]) {
			t.Errorf("%s: %v became %v", name, was[name], is[name])
		}
	}
	if !strings.Contains(string(after), `1.50`) || is["name"] != "Silver" {
		t.Errorf("%s", browser.Clip(string(after)))
	}
}
