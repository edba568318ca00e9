package operation

import "strings"

// Slice returns the page of a complete list that was asked for: for lists that
// have to be looked through before anybody knows what is on them.
func Slice[T any](all []T, p Paging, size int) (Page[T], error) {
	out := Page[T]{Items: []T{}, Pages: 1}
	n, err := p.page()
	if err != nil {
		return out, err
	}
	if n > 0 {
		out.Pages = max(1, (len(all)+size-1)/size)
		from := min((n-1)*size, len(all))
		all = all[from:min(from+size, len(all))]
	}
	out.Items = append(out.Items, all...)
	return out, nil
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
