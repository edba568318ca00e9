package console_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// BenchmarkFirstPage measures what people wait for at a list of 10,000 APIs: from the
// change of the address to the rows.
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
		page.see("There are no webhooks yet")
		total += value[float64](page, shown)
	}
	b.ReportMetric(total/float64(b.N), "ms/page")
}

// BenchmarkSignIn measures how long it takes until somebody can write the password, on a
// line of 1.6 Mbit/s and 150 ms.
func BenchmarkSignIn(b *testing.B) {
	w := newWorld(b)
	const rate, latency = 1.6e6 / 8, 150
	var total time.Duration
	for b.Loop() {
		page := open(b, w.at)
		page.expect("/api/users/me")
		_, err := chromedp.Call(page.ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{{Latency: latency, DownloadThroughput: rate, UploadThroughput: rate}}})
		must(b, err)
		_, err = chromedp.Call(page.ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{Latency: latency, DownloadThroughput: rate, UploadThroughput: rate})
		must(b, err)
		began := time.Now()
		page.load("")
		page.wait("document.querySelector('#password')")
		total += time.Since(began)
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(b.N), "ms/sign-in")
}
