// Package browser drives a real browser in tests of pages.
//
// All tests of a package share one browser; each test has its own profile. GATEHOUSE_TEST_BROWSER
// names another browser than Debian's Chromium, and GATEHOUSE_TEST_PICTURES a folder for
// screenshots.
package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// Patience is how long a test waits for a page, also on a busy machine. A test that passes does
// not wait for it.
const Patience = time.Minute

// shared is the browser of this process.
var shared struct {
	sync.Once
	ctx    context.Context
	cancel []context.CancelFunc
	err    error
}

// Main runs the tests of a package, and ends the browser.
func Main(m *testing.M) {
	code := harness.Run(m)
	for _, cancel := range slices.Backward(shared.cancel) {
		cancel()
	}
	os.Exit(code)
}

// program finds the browser, preferably one without windows, which takes a third of the processor
// time.
func program() (string, error) {
	for _, name := range []string{os.Getenv("GATEHOUSE_TEST_BROWSER"), "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if at, err := exec.LookPath(name); name != "" && err == nil {
			return at, nil
		}
	}
	return "", fmt.Errorf("there is no browser: install chromium, or name one in GATEHOUSE_TEST_BROWSER")
}

func start() {
	at, err := program()
	if err != nil {
		shared.err = err
		return
	}
	at, env := deaf(at)
	opts := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(at), chromedp.Env(env...), chromedp.Flag("no-sandbox", os.Geteuid() == 0))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	shared.ctx, shared.cancel = ctx, []context.CancelFunc{stop, cancel}
	shared.err = chromedp.Do(ctx)
}

// Tab is a page with its own profile, and the browser's errors.
type Tab struct {
	T   testing.TB
	Ctx context.Context
	At  string // the origin of the server

	mu       sync.Mutex
	asked    map[network.RequestID]string // requests without an answer
	troubles []string
	foreign  []string
	allowed  []string // parts of addresses whose errors are expected
	provoked bool     // the policy is expected to block something
}

// watch records violations of the page's policy from the first script on.
const watch = `window.violations = []; document.addEventListener('securitypolicyviolation', e => window.violations.push(e.violatedDirective + ' ' + e.blockedURI + ' ' + (e.sample || '')));`

// Open opens a page at a server. At the end of the test the browser must not have reported an
// error, a violation of the policy, or a request to another host.
func Open(t testing.TB, at string) *Tab {
	t.Helper()
	shared.Do(start)
	if shared.err != nil {
		harness.LeaveOut(t, "browser", shared.err)
	}
	ctx, cancel := chromedp.NewContext(shared.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &Tab{T: t, Ctx: ctx, At: at, asked: map[network.RequestID]string{}}
	must(t, chromedp.Do(ctx))
	must(t, chromedp.Listen(ctx, b.hear))
	_, err := chromedp.Call(ctx, log.Enable, struct{}{})
	must(t, err)
	_, err = chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watch})
	must(t, err)
	t.Cleanup(b.settle)
	b.Size(1440, 900)
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hear records an event of the browser.
func (b *Tab) hear(ev any) {
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
	case *network.EventLoadingFinished:
		delete(b.asked, e.RequestID)
	case *network.EventLoadingFailed:
		delete(b.asked, e.RequestID)
	case *network.EventRequestWillBeSent:
		b.asked[e.RequestID] = e.Request.Method + " " + e.Request.URL
		if u := e.Request.URL; !strings.HasPrefix(u, b.At) && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") && !strings.HasPrefix(u, "javascript:") {
			b.foreign = append(b.foreign, u)
		}
	}
}

// Expect allows error responses for addresses that contain these parts.
func (b *Tab) Expect(parts ...string) { b.allowed = append(b.allowed, parts...) }

// Provoke allows that the policy of pages blocks what a test tries.
func (b *Tab) Provoke() {
	b.provoked = true
	b.Expect("Content Security Policy")
}

// Go opens an address of the server, or part of it.
func (b *Tab) Go(path string) {
	b.T.Helper()
	ctx, cancel := context.WithTimeout(b.Ctx, Patience)
	defer cancel()
	must(b.T, chromedp.Do(ctx, chromedp.Navigate(b.At+path)))
}

// Scripts switches the scripts of pages on or off.
func (b *Tab) Scripts(on bool) {
	b.T.Helper()
	_, err := chromedp.Call(b.Ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
	must(b.T, err)
}

func (b *Tab) settle() {
	var violations []string
	if err := b.Run("window.violations", &violations); err == nil && len(violations) > 0 && !b.provoked {
		b.T.Errorf("the policy of the page was violated: %q", violations)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.troubles {
		if !slices.ContainsFunc(b.allowed, func(part string) bool { return strings.Contains(text, part) }) {
			b.T.Errorf("the browser reports %s", text)
		}
	}
	if len(b.foreign) > 0 {
		b.T.Errorf("requests to other hosts: %q", b.foreign)
	}
}

// Run evaluates a script and decodes its result. It waits for a promise.
func (b *Tab) Run(script string, into any) error {
	ctx, cancel := context.WithTimeout(b.Ctx, Patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[[]byte](script, chromedp.EvalAwaitPromise))
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// Value is Run for a test that cannot continue without the result.
func Value[T any](b *Tab, script string) (out T) {
	b.T.Helper()
	if err := b.Run(script, &out); err != nil {
		b.T.Fatalf("%s: %v", Clip(script), err)
	}
	return out
}

// Clip shortens a text for a message.
func Clip(s string) string {
	if len(s) > 160 {
		return s[:160] + "…"
	}
	return s
}

// Quote encodes a Go string as a JavaScript string.
func Quote(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// state returns the visible page, for the message of a failure.
func (b *Tab) state() string {
	says := Value[string](b, "location.href + ' says: ' + (document.querySelector('dialog[open]') ?? document.querySelector('main') ?? document.body).innerText.slice(0, 900)")
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf("%s\nWithout an answer: %q; troubles: %q", says, slices.Collect(maps.Values(b.asked)), b.troubles)
}

// Wait waits until a script is true.
func (b *Tab) Wait(script string) {
	b.T.Helper()
	for end := time.Now().Add(Patience); ; {
		var ok bool
		err := b.Run("!!("+script+")", &ok)
		if ok {
			return
		}
		if time.Now().After(end) {
			b.Picture("failed-" + strings.ReplaceAll(b.T.Name(), "/", "-"))
			b.T.Fatalf("%s never holds (%v). %s", Clip(script), err, b.state())
		}
		time.Sleep(15 * time.Millisecond)
	}
}

// See waits until the page shows a text.
func (b *Tab) See(text string) {
	b.T.Helper()
	b.Wait("document.body.innerText.toLowerCase().includes(" + Quote(strings.ToLower(text)) + ")")
}

// found returns the beginning of a script that finds elements by their visible name, in the
// dialog if one is open.
func found(name string) string {
	return `(() => { const n = ` + Quote(name) + `, top = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document, says = e => (e.getAttribute('aria-label') ?? e.innerText ?? '').trim().replace(/\s+/g, ' ');
`
}

// Named returns a script for the button, link or menu with a text.
func Named(name string) string {
	return found(name) + `const all = [...top.querySelectorAll('button, a, summary, [role=option]')].filter(e => e.checkVisibility());
return all.find(e => says(e) === n) ?? all.find(e => says(e).startsWith(n) && says(e) !== n + '…'); })()`
}

// Field returns a script for the field with a label.
func Field(label string) string {
	return found(label) + `const all = [...top.querySelectorAll('label')], l = all.find(e => says(e) === n) ?? all.find(e => says(e).startsWith(n + ' '));
return l ? (l.htmlFor ? document.getElementById(l.htmlFor) : l.querySelector('input, select, textarea')) : top.querySelector('[aria-label=' + JSON.stringify(n) + ']'); })()`
}

// Click clicks the element with a name as soon as it exists: a page that redraws itself may
// remove it a moment later.
func (b *Tab) Click(name string) {
	b.T.Helper()
	b.Wait(`(() => { const e = ` + Named(name) + `; if (!e || e.disabled) return false; e.click(); return true; })()`)
}

// Fill writes into the field with a label, with the events of a user's input.
func (b *Tab) Fill(label, text string) {
	b.T.Helper()
	b.Wait(`(() => { const e = ` + Field(label) + `; if (!e) return false; e.focus(); const proto = e instanceof HTMLTextAreaElement ? HTMLTextAreaElement : e instanceof HTMLSelectElement ? HTMLSelectElement : HTMLInputElement;
Object.getOwnPropertyDescriptor(proto.prototype, 'value').set.call(e, ` + Quote(text) + `); e.dispatchEvent(new Event('input', { bubbles: true })); e.dispatchEvent(new Event('change', { bubbles: true })); return true; })()`)
}

// Check ticks the checkbox or radio button with a label.
func (b *Tab) Check(label string) {
	b.T.Helper()
	b.Wait(`(() => { const e = ` + Field(label) + `; if (!e) return false; if (!e.checked) e.click(); return true; })()`)
}

// Press presses a key with modifiers.
func (b *Tab) Press(keys string, modifiers ...chromedp.Modifier) {
	b.T.Helper()
	must(b.T, chromedp.Do(b.Ctx, chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...))))
}

// Size sets the size of the window.
func (b *Tab) Size(width, height int64) {
	b.T.Helper()
	_, err := chromedp.Call(b.Ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
	must(b.T, err)
}

// Colours sets the preferred colour scheme, light or dark.
func (b *Tab) Colours(scheme string) {
	b.T.Helper()
	_, err := chromedp.Call(b.Ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	must(b.T, err)
}

// Print shows the page in the print media type, with the dark colour scheme.
func (b *Tab) Print() {
	b.T.Helper()
	_, err := chromedp.Call(b.Ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	must(b.T, err)
}

// Slow limits the browser's network to 1.6 Mbit/s and 150 ms.
func (b *Tab) Slow() {
	b.T.Helper()
	const rate, latency = 1.6e6 / 8, 150
	_, err := chromedp.Call(b.Ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{{Latency: latency, DownloadThroughput: rate, UploadThroughput: rate}}})
	must(b.T, err)
	_, err = chromedp.Call(b.Ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{Latency: latency, DownloadThroughput: rate, UploadThroughput: rate})
	must(b.T, err)
}

// Picture stores a screenshot if GATEHOUSE_TEST_PICTURES names a folder.
func (b *Tab) Picture(name string) {
	folder := os.Getenv("GATEHOUSE_TEST_PICTURES")
	if folder == "" {
		return
	}
	if png, err := chromedp.Run(b.Ctx, chromedp.CaptureScreenshot()); err == nil {
		_ = os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644)
	}
}
