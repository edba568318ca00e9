package console_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// BenchmarkFirstPage measures the time from the change of the address to the rows of a
// list of 10,000 APIs.
func BenchmarkFirstPage(b *testing.B) {
	w := newWorld(b)
	for i := range 10_000 {
		w.ask("POST", "/api/apis", fmt.Sprintf(`{"api_definition":{"name":"API %05d","api_id":"api-%d","active":true,"use_keyless":true,"proxy":{"listen_path":"/api-%d/","target_url":"http://127.0.0.1:9/","strip_listen_path":true},"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default"}}}}}`, i, i, i))
	}
	page := w.signIn(b)
	const shown = `new Promise(done => { const began = performance.now(); location.hash = '#/apis'; const look = () => document.querySelector('tbody tr') ? done(performance.now() - began) : setTimeout(look, 1); look(); })`
	var total float64
	for b.Loop() {
		page.visit("hooks")
		page.See("There are no webhooks yet")
		total += value[float64](page, shown)
	}
	b.ReportMetric(total/float64(b.N), "ms/page")
}

// BenchmarkSignIn measures the time until a user can type the password, on a line of 1.6
// Mbit/s and 150 ms.
func BenchmarkSignIn(b *testing.B) {
	w := newWorld(b)
	const rate, latency = 1.6e6 / 8, 150
	var total time.Duration
	for b.Loop() {
		page := open(b, w.at)
		page.Expect("/api/users/me")
		_, err := chromedp.Call(page.Ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{{Latency: latency, DownloadThroughput: rate, UploadThroughput: rate}}})
		must(b, err)
		_, err = chromedp.Call(page.Ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{Latency: latency, DownloadThroughput: rate, UploadThroughput: rate})
		must(b, err)
		began := time.Now()
		page.load("")
		page.Wait("document.querySelector('#password')")
		total += time.Since(began)
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/sign-in")
}

// BenchmarkTyping measures the delay of typing in a document of 2 MB: from a key press
// to the frame with its letter, for each of many letters one after the other; and the
// longest time for which the page is blocked when the user pauses and the document is
// parsed again.
func BenchmarkTyping(b *testing.B) {
	w := newWorld(b)
	id := w.asset(b, long(2<<20))
	page := w.signIn(b)
	page.visit("assets/" + id + "?view=raw")
	page.Wait("document.querySelector('.cm-content')?.innerText.length > 100")
	must(b, page.Run(`(() => { window.letters = []; window.still = []; let down = 0;
addEventListener('keydown', () => { down = performance.now(); requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = () => letters.push(performance.now() - down); c.port2.postMessage(0); }); }, true);
new PerformanceObserver(l => l.getEntries().forEach(e => still.push(e.duration))).observe({ type: 'longtask' });
document.querySelector('.cm-content').focus(); })()`, nil))
	for b.Loop() {
		for _, letter := range "the quick brown fox jumps over the lazy dog" {
			page.Press(string(letter))
		}
		time.Sleep(time.Second) // simulates a pause of the user
	}
	all := value[[]float64](page, "letters.sort((a, b) => a - b)")
	b.ReportMetric(all[len(all)/2], "ms/letter")
	b.ReportMetric(all[len(all)*95/100], "ms/letter-p95")
	b.ReportMetric(value[float64](page, "Math.max(0, ...still)"), "ms/pause")
}
