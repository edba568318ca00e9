package openapi

import (
	"regexp"
	"slices"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gatehouse-io/gatehouse/core/pattern"
)

// maxEffort is how much may be looked at for the examples and defaults of a document. Schemas that
// are made of others twice each, forty times in a row, would take years: a schema tries what it is made
// of with the same value, and what these are made of.
const maxEffort effort = 2_000_000

// effort is what may still be looked at.
type effort int

// spend counts what the library looks at to hold a value against a schema, by going the same way.
// above are the schemas that the value is being held against, which are not entered again. It
// takes patterns away that values are not held against.
func (e *effort) spend(s *openapi3.Schema, value any, above []*openapi3.Schema) {
	if s == nil || slices.Contains(above, s) {
		return
	}
	*e -= effort(4 + len(above)/8 + size(s.Enum)/16 + len(s.Required) + len(s.Type.Slice()))
	above = append(above, s)
	within := func(list openapi3.SchemaRefs, times int) {
		for range times {
			for _, r := range list {
				if r != nil && *e >= 0 {
					e.spend(r.Value, value, above)
				}
			}
		}
	}
	within(openapi3.SchemaRefs{s.Not}, 1)
	within(s.OneOf, 1)
	within(s.AnyOf, 2) // the one that fits is looked at once more
	within(s.AllOf, 1)
	switch v := value.(type) {
	case string:
		if s.Pattern != "" && !keepable(s.Pattern) {
			s.Pattern = ""
		}
		*e -= effort(len(v)/16 + e.matching(s.Pattern, len(v)))
	case []any:
		*e -= effort(size(v) / 16)
		for _, item := range v {
			if s.Items != nil && *e >= 0 {
				e.spend(s.Items.Value, item, nil)
			}
		}
	case map[string]any:
		*e -= effort(len(s.Properties))
		for name, item := range v {
			r := s.Properties[name]
			if r == nil {
				r = s.AdditionalProperties.Schema
			}
			if r != nil && *e >= 0 {
				e.spend(r.Value, item, nil)
			}
		}
	}
}

// size is about how long a value is as text.
func size(value any) int {
	switch v := value.(type) {
	case string:
		return len(v) + 2
	case []any:
		n := 2
		for _, item := range v {
			n += size(item)
		}
		return n
	case map[string]any:
		n := 2
		for name, item := range v {
			n += len(name) + size(item)
		}
		return n
	}
	return 8
}

// matching is what it takes to hold a text against a pattern: each step may look at each character.
func (e *effort) matching(text string, length int) int {
	if text == "" {
		return 0
	}
	steps, err := pattern.Size(goPattern(text))
	if err != nil || steps > int(maxEffort) {
		return int(maxEffort)
	}
	return steps + steps/32*length
}

// The library keeps each pattern that a value was held against, and what it matched with, for good. So
// there are bounds for both, and what is kept is not the compiled pattern. Values are not
// held against further ones.
const (
	maxPatterns = 10_000
	maxPattern  = 1_000 // bytes
)

// keptPatterns are those that the library keeps.
var keptPatterns struct {
	sync.Mutex
	texts map[string]bool
}

// keepable reports whether values are held against a pattern.
func keepable(text string) bool {
	keptPatterns.Lock()
	defer keptPatterns.Unlock()
	if keptPatterns.texts[text] {
		return true
	}
	if len(text) > maxPattern || len(keptPatterns.texts) >= maxPatterns {
		return false
	}
	if keptPatterns.texts == nil {
		keptPatterns.texts = map[string]bool{}
	}
	keptPatterns.texts[text] = true
	return true
}

// matcher is the openapi3.RegexCompilerFunc for patterns of schemas.
func matcher(text string) (openapi3.RegexMatcher, error) {
	return uncompiled(goPattern(text)), nil
}

// uncompiled is a pattern that is compiled for each value, because the library keeps it for good.
type uncompiled string

// MatchString implements openapi3.RegexMatcher. The document has been checked: its patterns compile.
func (u uncompiled) MatchString(s string) bool {
	re, err := regexp.Compile(string(u))
	return err != nil || re.MatchString(s)
}
