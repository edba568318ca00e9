package operation

import (
	"iter"
	"math/bits"
	"slices"
	"strings"
)

// Slice returns the requested page of a complete list: for lists that must be read completely
// before their pages are known.
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

// Select is Slice for a list that is not sorted yet; a nil order keeps the order of the list.
// It keeps only items that may be on the page: for a long list this takes a fraction of the
// time of sorting, and little memory.
func Select[T any](list iter.Seq2[T, error], p Paging, size int, order func(a, b T) int) (Page[T], error) {
	out := Page[T]{Items: []T{}, Pages: 1}
	from, to, err := p.Bounds(size)
	if err != nil {
		return out, err
	}
	var best []T // candidates for the first items, up to twice as many as needed
	var last T
	n, full := 0, false
	for v, err := range list {
		if err != nil {
			return out, err
		}
		switch n++; {
		case order == nil && len(best) == to, full && order(v, last) >= 0:
			continue
		}
		if best = append(best, v); order != nil && len(best)/2 >= to {
			divide(best, to, order)
			clear(best[to:])
			best = best[:to]
			last, full = slices.MaxFunc(best, order), true
		}
	}
	if to == AllItems {
		to = len(best)
	} else {
		out.Pages = max(1, (n+size-1)/size)
	}
	from, to = min(from, len(best)), min(to, len(best))
	if order != nil {
		divide(best, from, order)
		divide(best[from:], to-from, order)
		slices.SortFunc(best[from:to], order)
	}
	out.Items = append(out.Items, best[from:to]...)
	return out, nil
}

// divide moves the n smallest values of an order to the front (quickselect). It partitions the
// list around one of its values repeatedly, and continues in the part that contains position
// n.
func divide[T any](list []T, n int, order func(a, b T) int) {
	for rounds := 2 * bits.Len(uint(len(list))); n > 0 && n < len(list); rounds-- {
		if rounds == 0 || len(list) < 16 { // a list can be crafted so that every pivot is a bad one
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
		switch { // the values between both parts equal the pivot
		case n <= j:
			list = list[:j+1]
		case n >= i:
			list, n = list[i:], n-i
		default:
			return
		}
	}
}

// middle returns the median of three values.
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

// Commas returns the values of a comma-separated query parameter: trimmed, without blank ones.
func Commas(list string) (out []string) {
	for v := range strings.SplitSeq(list, ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}
