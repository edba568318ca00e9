package apidef

import (
	"slices"
	"strings"
)

// Categories returns the categories of the API: of a classic one the #tags at
// the end of its name, of another its own list (contract dashboard.md 9.2).
func (a API) Categories() []string {
	if a.class != Classic {
		return distinct(texts(a.wrapper, "categories"))
	}
	var out []string
	for _, word := range strings.Fields(a.Name()) {
		if tag, ok := strings.CutPrefix(word, "#"); ok {
			out = append(out, tag)
		}
	}
	return distinct(out)
}

// distinct trims and drops what is blank or repeated.
func distinct(names []string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		if n = strings.TrimSpace(n); n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
