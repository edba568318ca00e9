package console_test

import "testing"

// pages are the tested views, with a text that shows that they are complete.
func pages(made map[string]string) []struct{ name, place, there string } {
	return []struct{ name, place, there string }{
		{"home", "", "document.querySelectorAll('.panel').length >= 3 && !document.querySelector('.loading')"},
		{"apis", "apis", "document.querySelector('table')"},
		{"filters", "apis?api_type=rest", "document.querySelector('.filters')"},
		{"read", "hooks/" + made["hooks"], "document.querySelector('section.read h2')"},
		{"reached", "apis.oas/" + made["apis.oas"], "document.body.innerText.includes('At each live gateway')"},
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
		{"gateways", "gateways", "document.querySelectorAll('.panel').length === 4 && !document.querySelector('.loading')"},
		{"people", "people", "document.querySelector('table.matrix')"},
		{"rights", "rights", "document.querySelector('table')"},
		{"policy", "rights/" + made["policies"], "document.querySelectorAll('.panel').length === 2"},
		{"operations", "all", "document.querySelector('table')"},
		{"run", "run/rules.evaluate", "document.querySelector('.cm-content')"},
		{"nowhere", "nowhere", "document.querySelector('h1').innerText.includes('no such page')"},
		{"absent", "hooks/5f1a0c5d8e3b2a1f000000ff", "document.querySelector('.trouble')"},
	}
}

// TestLooks: every page, in light and dark, on a phone, a tablet and a desktop screen,
// fits the window and is accessible.
func TestLooks(t *testing.T) {
	w := newWorld(t, "SVC_DB_SECURITY_OPENPOLICY_ENABLEAPI=true")
	made := w.populate(w.describe())
	b := w.signIn(t)
	b.Expect("/api/hooks/5f1a0c5d8e3b2a1f000000ff")
	for _, p := range pages(made) {
		b.visit(p.place)
		b.Wait("location.hash.startsWith(" + quote("#/"+p.place) + ") && " + p.there)
		b.Looks(p.name)
	}
	b.Colours("light")
	b.visit("")
	b.See("Needs attention")
	b.Press("?")
	b.See("this list")
	b.Looks("keys")
	b.Click("Close")
	must(t, b.Run("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))", nil))
	b.See("Go to, make, find")
	b.Looks("palette")
}
