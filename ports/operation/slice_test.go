package operation_test

import (
	"cmp"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// TestSelect compares pages of unsorted lists with the same pages of sorted ones.
func TestSelect(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		list := make([]int, random.IntN(300)*(1+9*random.IntN(2)))
		for i := range list {
			list[i] = random.IntN(1 + random.IntN(400)) // some are equal
		}
		switch random.IntN(4) {
		case 0:
			slices.Sort(list)
		case 1:
			slices.SortFunc(list, func(a, b int) int { return b - a })
		}
		p, size := operation.Paging{P: strconv.Itoa(random.IntN(30) - 1)}, 1+random.IntN(40)
		want, err := operation.Slice(slices.Sorted(slices.Values(list)), p, size)
		if err != nil {
			t.Fatal(err)
		}
		got, err := operation.Select(coming(list), p, size, cmp.Compare[int])
		if err != nil || !slices.Equal(got.Items, want.Items) || got.Pages != want.Pages {
			t.Fatalf("page %s of %d of %v: %v, %v; want %v", p.P, size, list, got, err, want)
		}
		slices.Sort(list)
		if got, err = operation.Select(coming(list), p, size, nil); err != nil || !slices.Equal(got.Items, want.Items) || got.Pages != want.Pages {
			t.Fatalf("page %s of %d of %v as it comes: %v, %v; want %v", p.P, size, list, got, err, want)
		}
	}
	if _, err := operation.Select(coming([]int{1}), operation.Paging{P: "x"}, 10, cmp.Compare[int]); err == nil {
		t.Error("a page that is no number")
	}
	broken := errors.New("the store is gone")
	if got, err := operation.Select(func(yield func(int, error) bool) { _ = yield(1, nil) && yield(0, broken) }, operation.Paging{}, 10, cmp.Compare[int]); !errors.Is(err, broken) || len(got.Items) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func coming(list []int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}
