package product_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

// TestTakeGrowth: the time of Take grows linearly with the APIs of the product.
func TestTakeGrowth(t *testing.T) {
	growth.Linear(t, 500, func(size int) func() {
		p := product.Product{}
		for i := range size {
			p.APIs = append(p.APIs, product.Detail{APIID: fmt.Sprintf("the identifier of the API %d", i), Description: "says something"})
		}
		r := p.Record()
		return func() { p.Take(r) }
	})
}
