package console_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// pages are the places that are looked at, with what is there when they are complete.
func pages(made map[string]string) []struct{ name, place, there string } {
	return []struct{ name, place, there string }{
		{"home", "", "document.querySelectorAll('.panel').length >= 3 && !document.querySelector('.loading')"},
		{"apis", "apis", "document.querySelector('table')"},
		{"filters", "apis?api_type=rest", "document.querySelector('.filters')"},
		{"read", "hooks/" + made["hooks"], "document.querySelector('section.read h2')"},
		{"form", "policies/" + made["policies"] + "?view=form", "document.querySelector('section.form .field')"},
		{"document", "apis.oas/" + made["apis.oas"] + "?view=raw", "document.querySelector('.cm-content')"},
		{"both", "clientidps/" + made["clientidps"] + "?view=both", "document.querySelector('.cm-content') && document.querySelector('section.form')"},
		{"new", "hooks/+new", "document.querySelector('section.form .field')"},
		{"import", "apis/import", "document.querySelector('.cm-content')"},
		{"audit", "audit", "document.querySelector('table')"},
		{"record", "audit/000000000000000000000002", "document.querySelectorAll('h2').length === 2"},
		{"rules", "rules", "document.querySelector('.cm-content')"},
		{"registry", "registry", "document.querySelector('table')"},
		{"matrix", "registry/" + made["clientidps"], "document.querySelector('table.matrix, .empty')"},
		{"gateways", "gateways", "document.querySelectorAll('.panel').length === 3 && !document.querySelector('.loading')"},
		{"people", "people", "document.querySelector('table.matrix')"},
		{"rights", "rights", "document.querySelector('table')"},
		{"policy", "rights/" + made["policies"], "document.querySelectorAll('.panel').length === 2"},
		{"operations", "all", "document.querySelector('table')"},
		{"run", "run/rules.evaluate", "document.querySelector('.cm-content')"},
		{"nowhere", "nowhere", "document.querySelector('h1').innerText.includes('no such page')"},
		{"absent", "hooks/5f1a0c5d8e3b2a1f000000ff", "document.querySelector('.trouble')"},
	}
}

// widths are those of a telephone, a tablet and a screen.
var widths = []int64{360, 768, 1440}

// rules of accessibility: those of axe, all of which are in testdata of the console.
const axe = "../../adapters/web/console/testdata/axe-core/axe.min.js"

// serious lists what axe finds that keeps people out.
const serious = `axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations.filter(v => ['serious', 'critical'].includes(v.impact)).map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.target.join(' ') + ' ' + n.failureSummary.replace(/\s+/g, ' ')).join(' | ')))`

// overflow names what is wider than the window.
const overflow = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll, .cm-editor, pre')).slice(0, 5).map(e => e.tagName + '.' + e.className + ' ' + e.innerText?.slice(0, 40))`

// TestLooks: every page, in light and dark, on a telephone, a tablet and a screen, fits
// the window and keeps nobody out.
func TestLooks(t *testing.T) {
	w := newWorld(t, "SVC_DB_SECURITY_OPENPOLICY_ENABLEAPI=true")
	made := w.populate(w.describe())
	b := w.signIn(t)
	b.expect("/api/hooks/5f1a0c5d8e3b2a1f000000ff")
	for _, p := range pages(made) {
		b.visit(p.place)
		b.wait("location.hash.startsWith(" + quote("#/"+p.place) + ") && " + p.there)
		b.looks(p.name)
	}
	b.colours("light")
	b.press("?")
	b.see("this list")
	b.looks("keys")
	b.click("Close")
	must(t, b.run("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))", nil))
	b.see("Go to, make, find")
	b.looks("palette")
}

// looks judges the page that is shown, in each width and colour. Colours do not depend on
// the width, so axe looks at each of them once; overflow does not depend on the colour.
func (b *tab) looks(name string) {
	b.t.Helper()
	if value[bool](b, "!window.axe") {
		source, err := os.ReadFile(axe)
		must(b.t, err)
		must(b.t, b.run(string(source)+"; 0", nil))
	}
	defer b.size(1440, 900)
	for i, width := range widths {
		b.size(width, 900)
		if wide := value[[]string](b, overflow); len(wide) > 0 {
			b.t.Errorf("%s is wider than %d: %q", name, width, wide)
		}
		for n, scheme := range []string{"light", "dark"} {
			b.colours(scheme)
			b.picture(fmt.Sprintf("%s-%d-%s", name, width, scheme))
			if i != 2*n { // the telephone in light, the screen in dark
				continue
			}
			if found := value[[]string](b, serious); len(found) > 0 {
				b.t.Errorf("%s at %d in %s: %s", name, width, scheme, strings.Join(found, "\n"))
			}
		}
	}
}
