package portal_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// BenchmarkFirstPaint measures when the catalogue of 1,000 products is first painted, on
// the first visit over a line of 1.6 Mbit/s and 150 ms.
func BenchmarkFirstPaint(b *testing.B) {
	w := newWorld(b, config.PortalAlone)
	for i := range 1000 {
		w.api("POST", "/products", object{"Name": fmt.Sprint("p", i), "DisplayName": fmt.Sprint("Product ", i), "Path": fmt.Sprint("p", i), "Description": "Take payments in 30 currencies, and give refunds within a day.", "IsDocumentationOnly": true, "Catalogues": []int{1}})
	}
	const painted = `new Promise(done => new PerformanceObserver(list => { const e = list.getEntriesByName('first-contentful-paint')[0]; if (e) done(e.startTime); }).observe({type: 'paint', buffered: true}))`
	var total float64
	for b.Loop() {
		page := w.visitor(b) // a new profile, so nothing is cached
		page.Slow()
		page.Go("/portal/catalogue-products")
		total += browser.Value[float64](page, painted)
	}
	b.ReportMetric(total/float64(b.N), "ms/paint")
}
