package openapi

import (
	"fmt"
	"maps"
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

// findings are a schema's errors about a value and, below it, about its members. The schema
// library visits members in random order.
type findings struct {
	messages []string
	members  map[string]*findings
	noForm   bool // no alternative matches, which says less than the errors inside
}

// below returns the findings at a location.
func (f *findings) below(location []string) *findings {
	for _, name := range location {
		if f.members == nil {
			f.members = map[string]*findings{}
		}
		if f.members[name] == nil {
			f.members[name] = &findings{}
		}
		f = f.members[name]
	}
	return f
}

func (f *findings) add(location []string, message string) {
	f = f.below(location)
	if !slices.Contains(f.messages, message) {
		f.messages = append(f.messages, message)
	}
}

// noForm is the message about a value that matches none of several alternatives.
const noForm = "fits none of the allowed forms"

// list appends the problems of a value in the order of the document, at most maxProblems.
func (f *findings) list(out []port.Problem, at string, n *doc.Node) []port.Problem {
	// Of a value that fits no form it is said at once what the closest one wants: alone that would
	// read as if there were no other.
	messages := f.messages
	if i := slices.Index(messages, noForm); i >= 0 && i+1 < len(messages) {
		messages = slices.Replace(slices.Clone(messages), i, i+2, noForm+"; for the closest one it "+messages[i+1])
	}
	for _, message := range messages {
		if len(out) < maxProblems {
			out = append(out, port.Problem{Field: at, Message: message})
		}
	}
	inside := func(name string, v *doc.Node) {
		if m := f.members[name]; m != nil && len(out) < maxProblems {
			out = m.list(out, strings.TrimPrefix(at+"."+name, "."), v)
		}
	}
	if len(f.members) > 0 {
		for name, v := range n.Members() {
			inside(name, v)
		}
		for i, v := range n.Items() {
			inside(strconv.Itoa(i), v)
		}
	}
	if f.noForm && !slices.Contains(f.messages, noForm) && len(out) < maxProblems {
		out = append(out, port.Problem{Field: at, Message: noForm})
	}
	return out
}

// collect lists the leaves of a tree. Of alternatives none of which fits it goes on with
// the one that fits best. That none fits comes last when it is clear what was meant.
func (f *findings) collect(e *jsonschema.ValidationError) {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		if at, message := choices(e); message != "" {
			f.below(e.InstanceLocation).noForm = true
			f.add(at, message)
			return
		}
		best, sure := closest(e)
		if sure {
			f.below(e.InstanceLocation).noForm = true
		} else {
			f.add(e.InstanceLocation, noForm)
		}
		if best != nil {
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

// closest returns the alternative with the fewest errors; among equals, the first whose errors
// are only about members. sure reports whether it is clearly the alternative that was meant:
// its errors are only about members, or all others say that they were not meant.
func closest(e *jsonschema.ValidationError) (best *jsonschema.ValidationError, sure bool) {
	least, likely := 0, 0 // likely counts the alternatives that may have been meant
	depth := len(e.InstanceLocation)
	for _, cause := range e.Causes {
		n := 2 * distance(cause)
		if shallow(cause, depth) {
			n++
		}
		if slices.ContainsFunc(telling(cause, depth), decides) {
			n += 2 * far
		}
		if n < 2*far {
			likely++
		}
		if best == nil || n < least {
			best, least = cause, n
		}
	}
	return best, least < 2*far && (likely == 1 || least&1 == 0)
}

// shallow reports whether a form has errors about the value itself, such as a missing member,
// and not only about its members.
func shallow(e *jsonschema.ValidationError, depth int) bool {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return false
	}
	return len(e.Causes) == 0 && len(e.InstanceLocation) == depth ||
		slices.ContainsFunc(e.Causes, func(cause *jsonschema.ValidationError) bool { return shallow(cause, depth) })
}

// telling lists the errors of an alternative that distinguish it from others: about the type
// of the value itself, about a member that has one of a few values, and about a missing $ref.
func telling(e *jsonschema.ValidationError, depth int) (out []*jsonschema.ValidationError) {
	at := len(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return nil
	case *kind.Required:
		if at == depth && slices.Contains(k.Missing, "$ref") {
			out = append(out, e)
		}
	case *kind.Type:
		if at == depth {
			out = append(out, e)
		}
	case *kind.Enum, *kind.Const:
		if at == depth+1 {
			out = append(out, e)
		}
	}
	for _, cause := range e.Causes {
		out = append(out, telling(cause, depth)...)
	}
	return out
}

// decides reports whether an error alone shows that another form was meant. A member with
// several possible values does not show that: it may contain a mistake.
func decides(e *jsonschema.ValidationError) bool {
	k, enum := e.ErrorKind.(*kind.Enum)
	return !enum || len(k.Want) == 1
}

// choices returns the one location about which all alternatives, except references, have
// errors, and a message with the values that they accept; the message is empty if there is no
// such location.
func choices(e *jsonschema.ValidationError) (at []string, message string) {
	depth, forms, got := len(e.InstanceLocation), 0, ""
	wants, said := map[string][]any{}, map[string]int{} // by member; "" is the type of the value itself
	for _, cause := range e.Causes {
		all := telling(cause, depth)
		if slices.ContainsFunc(all, func(t *jsonschema.ValidationError) bool { _, ref := t.ErrorKind.(*kind.Required); return ref }) {
			continue
		}
		forms++
		for _, t := range all {
			place := strings.Join(t.InstanceLocation[depth:], "")
			if said[place] == forms-1 { // all forms before have an error here, and this form is not counted yet
				said[place]++
			}
			switch k := t.ErrorKind.(type) {
			case *kind.Type:
				got = k.Got
				for _, name := range k.Want {
					wants[place] = append(wants[place], name)
				}
			case *kind.Enum:
				wants[place] = append(wants[place], k.Want...)
			case *kind.Const:
				wants[place] = append(wants[place], k.Want)
			}
		}
	}
	for _, place := range slices.Sorted(maps.Keys(said)) {
		if said[place] != forms {
			continue
		}
		var values []any
		var names []string
		for _, v := range wants[place] {
			if name := fmt.Sprint(v); !slices.Contains(names, name) {
				values, names = append(values, v), append(names, name)
			}
		}
		if place == "" {
			return e.InstanceLocation, describe(&kind.Type{Got: got, Want: names})
		}
		return append(slices.Clone(e.InstanceLocation), place), describe(&kind.Enum{Want: values})
	}
	return nil, ""
}

// far is the distance of a form that was not meant.
const far = 1 << 20

// distance counts the errors below e. A reference without its $ref was not meant as a
// reference.
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

// patternNames describes patterns in words.
var patternNames = map[string]string{
	textPattern:     "must not be blank",
	secondsPattern:  `must be a duration in whole h, m and s, such as "1m30s"`,
	timeoutPattern:  `must be a duration in m, s and ms, such as "1.5s" or "500ms"`,
	durationPattern: `must be a duration such as "1m30s" or "250ms"`,
	domainPattern:   "must be a domain, which may hold * and a port",
	toolPattern:     "must be 1 to 128 letters, digits, '_', '.' or '-'",
}

// describe returns the message of an error without the value, which may be secret.
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
