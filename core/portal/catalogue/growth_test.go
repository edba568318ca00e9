package catalogue_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

// TestShowsGrowth: the time of Shows grows linearly with the catalogues of the product, and
// hardly with the number of other catalogues.
func TestShowsGrowth(t *testing.T) {
	growth.Linear(t, 2_000, func(size int) func() {
		var visible, in []table.ID
		for i := range table.ID(size) {
			visible, in = append(visible, 2*i), append(in, 2*i+1)
		}
		return func() {
			if catalogue.Shows(visible, in) || catalogue.Offers(visible, catalogue.Item{Catalogues: in}, catalogue.Item{Catalogues: in}) {
				t.Error("what no catalogue shows is shown")
			}
		}
	})
}
