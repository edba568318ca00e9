package apidef

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Categories returns the categories of the API: for a classic one the #tags at the end of its
// name, otherwise its own list (docs/wire/apis.md#wrapper).
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

// distinct trims and drops blank and repeated ones.
func distinct(names []string) []string {
	out, have := make([]string, 0, len(names)), make(map[string]bool, len(names))
	for _, n := range names {
		if n = strings.TrimSpace(n); n != "" && !have[n] {
			out, have[n] = append(out, n), true
		}
	}
	return out
}

// checkCaps refuses lists with more entries than an API may have.
func (a API) checkCaps(def *doc.Node) error {
	if err := caps.Definition.Check(def); err != nil {
		return err
	}
	wrapper := doc.NewObject()
	for _, c := range caps.Wrapper.Caps {
		raw, ok := a.wrapper.Get(c.Field)
		if !ok {
			continue
		}
		n, err := doc.ParseNode(raw)
		if err != nil {
			return err
		}
		wrapper.Set(c.Field, n)
	}
	return caps.Wrapper.Check(wrapper)
}
