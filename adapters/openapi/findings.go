package openapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/gatehouse-io/gatehouse/core/doc"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// maxProblems is how many problems one answer lists.
const maxProblems = 50

// findings are a schema's complaints about a value and, below it, about its members.
// The schema library visits members in random order.
type findings struct {
	messages []string
	members  map[string]*findings
}

func (f *findings) add(location []string, message string) {
	for _, name := range location {
		if f.members == nil {
			f.members = map[string]*findings{}
		}
		if f.members[name] == nil {
			f.members[name] = &findings{}
		}
		f = f.members[name]
	}
	if !slices.Contains(f.messages, message) {
		f.messages = append(f.messages, message)
	}
}

// list appends the complaints about a value in the order of the document, maxProblems of
// them at most.
func (f *findings) list(out []port.Problem, at string, n *doc.Node) []port.Problem {
	for _, message := range f.messages {
		if len(out) < maxProblems {
			out = append(out, port.Problem{Field: at, Message: message})
		}
	}
	if len(f.members) == 0 {
		return out
	}
	below := func(name string, v *doc.Node) {
		if m := f.members[name]; m != nil && len(out) < maxProblems {
			out = m.list(out, strings.TrimPrefix(at+"."+name, "."), v)
		}
	}
	for name, v := range n.Members() {
		below(name, v)
	}
	for i, v := range n.Items() {
		below(strconv.Itoa(i), v)
	}
	return out
}

// collect lists the leaves of a tree. Of alternatives none of which fits it says
// so, and goes on with the one that fits best.
func (f *findings) collect(e *jsonschema.ValidationError) {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		f.add(e.InstanceLocation, "fits none of the allowed forms")
		if best := closest(e.Causes); best != nil {
			f.collect(best)
		}
		return
	}
	if len(e.Causes) == 0 {
		f.add(e.InstanceLocation, describe(e.ErrorKind))
	}
	for _, cause := range e.Causes {
		f.collect(cause)
	}
}

// closest returns the alternative with the fewest complaints, the first of equals.
func closest(causes []*jsonschema.ValidationError) (best *jsonschema.ValidationError) {
	least := 0
	for _, cause := range causes {
		if n := distance(cause); best == nil || n < least {
			best, least = cause, n
		}
	}
	return best
}

// far is the distance of a form that was not meant.
const far = 1 << 20

// distance counts the complaints below e. What lacks the $ref of a reference was
// never meant as one.
func distance(e *jsonschema.ValidationError) int {
	alternatives := false
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		if slices.Contains(k.Missing, "$ref") {
			return far
		}
		return len(k.Missing)
	case *kind.AdditionalProperties:
		return len(k.Properties)
	case *kind.AnyOf, *kind.OneOf:
		alternatives = true
	}
	if len(e.Causes) == 0 {
		return 1
	}
	least, sum := far, 0
	for _, cause := range e.Causes {
		n := distance(cause)
		least, sum = min(least, n), min(sum+n, far)
	}
	if alternatives {
		return least
	}
	return sum
}

// patternNames says in words what a pattern wants.
var patternNames = map[string]string{
	textPattern:     "must not be blank",
	secondsPattern:  `must be a duration in whole h, m and s, such as "1m30s"`,
	timeoutPattern:  `must be a duration in m, s and ms, such as "1.5s" or "500ms"`,
	durationPattern: `must be a duration such as "1m30s" or "250ms"`,
	domainPattern:   "must be a domain, which may hold * and a port",
	toolPattern:     "must be 1 to 128 letters, digits, '_', '.' or '-'",
}

// describe says what is wrong without repeating the value, which may be secret.
func describe(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("is %s, must be %s", k.Got, strings.Join(k.Want, " or "))
	case *kind.Required:
		return "lacks " + strings.Join(k.Missing, ", ")
	case *kind.AdditionalProperties:
		return "has unknown members: " + strings.Join(slices.Sorted(slices.Values(k.Properties)), ", ")
	case *kind.Enum:
		return fmt.Sprintf("must be one of %q", k.Want)
	case *kind.Const:
		return fmt.Sprintf("must be %q", fmt.Sprint(k.Want))
	case *kind.Pattern:
		if words, ok := patternNames[k.Want]; ok {
			return words
		}
		return "does not match " + k.Want
	case *kind.Format:
		return fmt.Sprintf("is no valid %s: %v", k.Want, k.Err)
	case *kind.Minimum:
		return "must be at least " + k.Want.RatString()
	case *kind.Maximum:
		return "must be at most " + k.Want.RatString()
	case *kind.MinItems:
		return fmt.Sprintf("needs at least %d items", k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("needs at least %d members", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("may have at most %d members", k.Want)
	case *kind.UniqueItems:
		return "has the same item twice"
	}
	return "has a combination of members that is not allowed"
}
