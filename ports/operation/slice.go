package operation

import (
	"math/bits"
	"slices"
	"strings"
)

// Slice returns the page of a complete list that was asked for: for lists that
// have to be looked through before anybody knows what is on them.
func Slice[T any](all []T, p Paging, size int) (Page[T], error) {
	out := Page[T]{Items: []T{}, Pages: 1}
	from, to, err := p.Bounds(size)
	if err != nil {
		return out, err
	}
	if to != AllItems {
		out.Pages = max(1, (len(all)+size-1)/size)
	}
	all = all[min(from, len(all)):min(to, len(all))]
	out.Items = append(out.Items, all...)
	return out, nil
}

// Select is Slice for a list that is in no order yet, which it changes. Only what is
// on the page is sorted: of a long list that takes a fraction of the time.
func Select[T any](all []T, p Paging, size int, order func(a, b T) int) (Page[T], error) {
	n, err := p.page()
	if err != nil {
		return Page[T]{Items: []T{}, Pages: 1}, err
	}
	from, to := 0, len(all)
	if n > 0 {
		from = min((n-1)*size, len(all))
		to = min(from+size, len(all))
		part(all, from, order)
		part(all[from:], to-from, order)
	}
	slices.SortFunc(all[from:to], order)
	return Slice(all, p, size)
}

// few is what share of a long list is so small that the rest is looked at once.
const few = 16

// part moves the n values that come first in an order to the front.
func part[T any](list []T, n int, order func(a, b T) int) {
	if n == 0 || n > len(list)/few {
		divide(list, n, order)
		return
	}
	// The values that come first so far, and behind them as many that come before the last of
	// these. All others are looked at once, in the order in which they lie in memory.
	best := list[:2*n]
	divide(best, n, order)
	last, next := slices.MaxFunc(best[:n], order), n
	for i := 2 * n; i < len(list); i++ {
		if order(list[i], last) >= 0 {
			continue
		}
		if next == len(best) {
			divide(best, n, order)
			last, next = slices.MaxFunc(best[:n], order), n
		}
		best[next], list[i] = list[i], best[next]
		next++
	}
	divide(best, n, order)
}

// divide is part for short lists: it divides the list around one of its values again and
// again, and goes on where n lies.
func divide[T any](list []T, n int, order func(a, b T) int) {
	for rounds := 2 * bits.Len(uint(len(list))); n > 0 && n < len(list); rounds-- {
		if rounds == 0 || len(list) < 16 { // of a list made for it every value would be a bad one
			slices.SortFunc(list, order)
			return
		}
		pivot := middle(list[0], list[len(list)/2], list[len(list)-1], order)
		i, j := 0, len(list)-1
		for i <= j {
			for order(list[i], pivot) < 0 {
				i++
			}
			for order(list[j], pivot) > 0 {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch { // what is between them equals the value
		case n <= j:
			list = list[:j+1]
		case n >= i:
			list, n = list[i:], n-i
		default:
			return
		}
	}
}

// middle returns the one of three values that is neither first nor last.
func middle[T any](a, b, c T, order func(a, b T) int) T {
	if order(a, b) > 0 {
		a, b = b, a
	}
	if order(b, c) > 0 {
		b = c
	}
	if order(a, b) > 0 {
		return a
	}
	return b
}

// Commas returns the values of a query parameter that takes several, separated by
// commas: trimmed, without blank ones.
func Commas(list string) (out []string) {
	for v := range strings.SplitSeq(list, ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}
