package browser

import (
	"fmt"
	"os"
	"strings"
)

// widths are those of a phone, a tablet and a desktop screen.
var widths = []int64{360, 768, 1440}

// axe is the path of the accessibility rules, for tests two folders below the root.
const axe = "../../adapters/web/console/testdata/axe-core/axe.min.js"

// serious lists axe's serious and critical findings.
const serious = `axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations.filter(v => ['serious', 'critical'].includes(v.impact)).map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.target.join(' ') + ' ' + n.failureSummary.replace(/\s+/g, ' ')).join(' | ')))`

// overflow lists elements that are wider than the window.
const overflow = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll, .cm-editor, pre')).slice(0, 5).map(e => e.tagName + '.' + e.className + ' ' + e.innerText?.slice(0, 40))`

// Looks checks the current page in each width and colour scheme. Colours do not depend on the
// width, so axe checks each scheme once; overflow does not depend on the colour.
func (b *Tab) Looks(name string) {
	b.T.Helper()
	if Value[bool](b, "!window.axe") {
		source, err := os.ReadFile(axe)
		must(b.T, err)
		must(b.T, b.Run(string(source)+"; 0", nil))
	}
	defer b.Size(1440, 900)
	for i, width := range widths {
		b.Size(width, 900)
		if wide := Value[[]string](b, overflow); len(wide) > 0 {
			b.T.Errorf("%s is wider than %d: %q", name, width, wide)
		}
		for n, scheme := range []string{"light", "dark"} {
			b.Colours(scheme)
			b.Picture(fmt.Sprintf("%s-%d-%s", name, width, scheme))
			if i != 2*n { // the phone in light, the desktop in dark
				continue
			}
			if found := Value[[]string](b, serious); len(found) > 0 {
				b.T.Errorf("%s at %d in %s: %s", name, width, scheme, strings.Join(found, "\n"))
			}
		}
	}
}
