package portal

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestGallery states that a description is converted once, also with concurrent visits,
// and that the cache stays within its limits.
func TestGallery(t *testing.T) {
	var g gallery
	var drawn atomic.Int32
	draw := func(weight int) func() (reference, error) {
		return func() (reference, error) {
			drawn.Add(1)
			return reference{Description: strings.Repeat("x", weight)}, nil
		}
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if r, err := g.of("one", draw(10)); err != nil || len(r.Description) != 10 {
				t.Error(r, err)
			}
		})
	}
	if all.Wait(); drawn.Load() != 1 {
		t.Errorf("drawn %d times", drawn.Load())
	}
	if _, err := g.of("bad", func() (reference, error) { return reference{}, errors.New("bad") }); err == nil {
		t.Error("what cannot be drawn has no reference")
	}
	for i := range 2 * maxDrawn {
		_, _ = g.of(fmt.Sprint(i), draw(0))
		_, _ = g.of("one", draw(10)) // it is used again and again
	}
	if g.order.Len() != maxDrawn || len(g.known) != maxDrawn || drawn.Load() != 1+2*maxDrawn {
		t.Errorf("%d, %d kept, %d drawn", g.order.Len(), len(g.known), drawn.Load())
	}
	for i := range 10 {
		_, _ = g.of(fmt.Sprint("large ", i), draw(maxWeight/4))
	}
	if g.weight > maxWeight || g.order.Len() != 3 {
		t.Errorf("%d bytes of %d references", g.weight, g.order.Len())
	}
	_, _ = g.of("too large", draw(2*maxWeight))
	if g.weight != 0 || g.order.Len() != 0 || len(g.known) != 0 {
		t.Errorf("%d bytes of %d references", g.weight, g.order.Len())
	}
	if _, err := func() (r reference, err error) {
		defer func() { _ = recover() }()
		return g.of("panic", func() (reference, error) { panic("drawn badly") })
	}(); err != nil {
		t.Error(err)
	}
	if _, err := g.of("panic", draw(0)); err == nil {
		t.Error("a drawing that broke off is no reference")
	}
}
