package openapi

import (
	"regexp"
	"slices"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gatehouse-io/gatehouse/core/pattern"
)

// maxEffort limits the work for the examples and defaults of a document. Without a limit, schemas
// nested two by two, forty levels deep, would take years: a schema tries all its parts with the
// same value, and each part tries its own parts.
const maxEffort effort = 2_000_000

// effort is the remaining budget of work.
type effort int

// spend subtracts the work that the library does to validate a value against a schema, by walking
// the same way. above are the schemas that the value is already being validated against; they are
// not entered again. spend removes patterns that values are not matched against.
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
	within(s.AnyOf, 2) // the matching schema is validated once more
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

// size is about the length of a value as text.
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

// matching returns the cost of matching a text against a pattern: each step may look at each
// character.
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

// The library keeps each pattern that a value was matched against, with its matcher, for good. So
// both the number of patterns and their size are limited, and the matcher is not a compiled
// pattern. Values are not matched against patterns beyond these limits.
const (
	maxPatterns = 10_000
	maxPattern  = 1_000 // bytes
)

// keptPatterns are the patterns that the library keeps.
var keptPatterns struct {
	sync.Mutex
	texts map[string]bool
}

// keepable reports whether values may be matched against a pattern.
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

// uncompiled is a pattern that is compiled anew for each value, because the library keeps it for
// good.
type uncompiled string

// MatchString implements openapi3.RegexMatcher. The pattern compiles, because the document was
// validated before.
func (u uncompiled) MatchString(s string) bool {
	re, err := regexp.Compile(string(u))
	return err != nil || re.MatchString(s)
}
