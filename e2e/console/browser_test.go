// Package console proves the operations console in a real browser: what people see and
// do, against the program as it is served.
//
// One browser serves all tests; each test has a profile of its own. GATEHOUSE_TEST_BROWSER
// names another browser than Debian's Chromium.
package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// patience is how long a page may take to show what a test waits for.
const patience = 15 * time.Second

// browser is the one of this process.
var browser struct {
	sync.Once
	ctx    context.Context
	cancel []context.CancelFunc
	err    error
}

func TestMain(m *testing.M) {
	code := harness.Run(m)
	for _, cancel := range slices.Backward(browser.cancel) {
		cancel()
	}
	os.Exit(code)
}

// program finds the browser.
func program() (string, error) {
	for _, name := range []string{os.Getenv("GATEHOUSE_TEST_BROWSER"), "chromium", "chromium-browser", "google-chrome"} {
		if at, err := exec.LookPath(name); name != "" && err == nil {
			return at, nil
		}
	}
	return "", fmt.Errorf("there is no browser: install chromium, or name one in GATEHOUSE_TEST_BROWSER")
}

func start() {
	at, err := program()
	if err != nil {
		browser.err = err
		return
	}
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(at), chromedp.Flag("no-sandbox", os.Geteuid() == 0))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	browser.ctx, browser.cancel = ctx, []context.CancelFunc{stop, cancel}
	browser.err = chromedp.Do(ctx)
}

// tab is a page of a profile of its own, and what the browser has complained about.
type tab struct {
	t   testing.TB
	ctx context.Context
	at  string // the origin of the server

	mu       sync.Mutex
	troubles []string
	foreign  []string
	allowed  []string // parts of addresses whose refusals are expected
}

// watch listens for violations of the page's policy from the first script on.
const watch = `window.violations = []; document.addEventListener('securitypolicyviolation', e => window.violations.push(e.violatedDirective + ' ' + e.blockedURI + ' ' + (e.sample || '')));`

// open starts a page at a server. At the end of the test nothing may have gone wrong in
// the browser: no error, no violation of the policy, no request to another host.
func open(t testing.TB, at string) *tab {
	t.Helper()
	browser.Do(start)
	if browser.err != nil {
		harness.LeaveOut(t, "browser", browser.err)
	}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, at: at}
	must(t, chromedp.Do(ctx))
	must(t, chromedp.Listen(ctx, b.hear))
	_, err := chromedp.Call(ctx, log.Enable, struct{}{})
	must(t, err)
	_, err = chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watch})
	must(t, err)
	t.Cleanup(b.settle)
	b.size(1440, 900)
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hear notes what the browser reports.
func (b *tab) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		b.troubles = append(b.troubles, "exception: "+text)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			b.troubles = append(b.troubles, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, b.at) && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") {
			b.foreign = append(b.foreign, u)
		}
	}
}

// expect lets the browser complain about refusals of an address, and about nothing else.
func (b *tab) expect(parts ...string) { b.allowed = append(b.allowed, parts...) }

func (b *tab) settle() {
	var violations []string
	if err := b.run("window.violations", &violations); err == nil && len(violations) > 0 {
		b.t.Errorf("the policy of the page was violated: %q", violations)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.troubles {
		if !slices.ContainsFunc(b.allowed, func(part string) bool { return strings.Contains(text, part) }) {
			b.t.Errorf("the browser reports %s", text)
		}
	}
	if len(b.foreign) > 0 {
		b.t.Errorf("requests to other hosts: %q", b.foreign)
	}
}

// run evaluates a script and decodes what it comes to. A promise is waited for.
func (b *tab) run(script string, into any) error {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[[]byte](script, chromedp.EvalAwaitPromise))
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// value is run for a test that cannot go on without the result.
func value[T any](b *tab, script string) (out T) {
	b.t.Helper()
	if err := b.run(script, &out); err != nil {
		b.t.Fatalf("%s: %v", clip(script), err)
	}
	return out
}

func clip(s string) string {
	if len(s) > 160 {
		return s[:160] + "…"
	}
	return s
}

// quote writes a Go string as one of JavaScript.
func quote(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// wait waits until a script is true.
func (b *tab) wait(script string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; {
		var ok bool
		err := b.run("!!("+script+")", &ok)
		if ok {
			return
		}
		if time.Now().After(end) {
			b.picture("failed-" + strings.ReplaceAll(b.t.Name(), "/", "-"))
			b.t.Fatalf("%s never holds (%v). The page says: %s", clip(script), err, clip(value[string](b, "document.body.innerText.slice(0, 900)")))
		}
		time.Sleep(15 * time.Millisecond)
	}
}

// see waits until the page shows a text, as people read it.
func (b *tab) see(text string) {
	b.t.Helper()
	b.wait("document.body.innerText.toLowerCase().includes(" + quote(strings.ToLower(text)) + ")")
}

// visit opens a place of the console.
func (b *tab) visit(place string) {
	b.t.Helper()
	must(b.t, b.run("void (location.hash = "+quote("#/"+place)+")", nil))
}

// load opens the page anew.
func (b *tab) load(place string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	must(b.t, chromedp.Do(ctx, chromedp.Navigate(b.at+"/#/"+place)))
}

// found begins a script that looks for what people call by a name, in the dialog if one is open.
func found(name string) string {
	return `(() => { const n = ` + quote(name) + `, top = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document, says = e => (e.getAttribute('aria-label') ?? e.innerText ?? '').trim().replace(/\s+/g, ' ');
`
}

// named is a script for the button, link or menu with a text.
func named(name string) string {
	return found(name) + `const all = [...top.querySelectorAll('button, a, summary, [role=option]')].filter(e => e.checkVisibility());
return all.find(e => says(e) === n) ?? all.find(e => says(e).startsWith(n) && says(e) !== n + '…'); })()`
}

// field is a script for the field with a label.
func field(label string) string {
	return found(label) + `const all = [...top.querySelectorAll('label')], l = all.find(e => says(e) === n) ?? all.find(e => says(e).startsWith(n + ' '));
return l ? (l.htmlFor ? document.getElementById(l.htmlFor) : l.querySelector('input, select, textarea')) : top.querySelector('[aria-label=' + JSON.stringify(n) + ']'); })()`
}

// click clicks what has a name, at the moment it is there: a page that draws itself anew
// may have taken it away a moment later.
func (b *tab) click(name string) {
	b.t.Helper()
	b.wait(`(() => { const e = ` + named(name) + `; if (!e || e.disabled) return false; e.click(); return true; })()`)
}

// fill writes into the field with a label, as a person does: the page hears of it.
func (b *tab) fill(label, text string) {
	b.t.Helper()
	b.wait(`(() => { const e = ` + field(label) + `; if (!e) return false; e.focus(); const proto = e instanceof HTMLTextAreaElement ? HTMLTextAreaElement : e instanceof HTMLSelectElement ? HTMLSelectElement : HTMLInputElement;
Object.getOwnPropertyDescriptor(proto.prototype, 'value').set.call(e, ` + quote(text) + `); e.dispatchEvent(new Event('input', { bubbles: true })); e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`)
}

// check ticks the box or the choice with a label.
func (b *tab) check(label string) {
	b.t.Helper()
	b.wait(`(() => { const e = ` + field(label) + `; if (!e) return false; if (!e.checked) e.click(); return true; })()`)
}

// press presses a key with modifiers.
func (b *tab) press(keys string, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	must(b.t, chromedp.Do(b.ctx, chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...))))
}

// write replaces the text of the editor, as typing does.
func (b *tab) write(text string) {
	b.t.Helper()
	b.wait("document.querySelector('.cm-content')")
	must(b.t, b.run("document.querySelector('.cm-content').focus()", nil))
	b.press("a", chromedp.ModifierCtrl)
	_, err := chromedp.Call(b.ctx, input.InsertText, input.InsertTextParams{Text: text})
	must(b.t, err)
}

// size gives the window a size.
func (b *tab) size(width, height int64) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
	must(b.t, err)
}

// colours chooses light or dark, as the system of a person does.
func (b *tab) colours(scheme string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	must(b.t, err)
}

// picture keeps a picture where GATEHOUSE_TEST_PICTURES names a folder.
func (b *tab) picture(name string) {
	folder := os.Getenv("GATEHOUSE_TEST_PICTURES")
	if folder == "" {
		return
	}
	if png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot()); err == nil {
		_ = os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644)
	}
}
