package datagraph_test

import (
	"fmt"
	"regexp"
	"strings"
)

// tokens matches the tokens of the schema language that this package writes (GraphQL 2.1);
// other text is an error.
var tokens = regexp.MustCompile(`^(?:[\s,]+|"(?:[^"\\\n\r]|\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt]))*"|[_A-Za-z][_0-9A-Za-z]*|[{}()\[\]:!])`)

// reader parses a schema and collects what to check.
type reader struct {
	tokens []string
	err    error
	types  map[string]string                     // keyword by name
	fields map[string]map[string]map[string]bool // arguments by type and field
	used   map[string][]string                   // directions in which a type is used: "in" or "out"
	needs  map[string][]string                   // inputs that an input requires
}

// readSDL parses a schema and checks that names are valid and unique, that types exist and are
// used in the right direction, and that required inputs are not circular (GraphQL 3). It
// returns the arguments of every field.
func readSDL(text string) (map[string]map[string]map[string]bool, error) {
	r := &reader{types: map[string]string{}, fields: map[string]map[string]map[string]bool{}, used: map[string][]string{}, needs: map[string][]string{}}
	for text != "" {
		t := tokens.FindString(text)
		if t == "" {
			return nil, fmt.Errorf("no token: %.40q", text)
		}
		if text = text[len(t):]; strings.Trim(t, " \t\r\n,") != "" {
			r.tokens = append(r.tokens, t)
		}
	}
	for _, name := range []string{"Int", "Float", "String", "Boolean", "ID"} {
		r.types[name] = "scalar"
	}
	for len(r.tokens) > 0 && r.err == nil {
		r.definition()
	}
	r.check()
	return r.fields, r.err
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *reader) peek() string {
	if len(r.tokens) == 0 || r.err != nil {
		return ""
	}
	return r.tokens[0]
}

func (r *reader) next() string {
	t := r.peek()
	if t == "" {
		r.fail("the schema ends too early")
		return ""
	}
	r.tokens = r.tokens[1:]
	return t
}

func (r *reader) accept(t string) bool {
	if r.peek() != t {
		return false
	}
	r.tokens = r.tokens[1:]
	return true
}

func (r *reader) expect(t string) {
	if got := r.next(); got != t {
		r.fail("%q instead of %q", got, t)
	}
}

func (r *reader) name() string {
	t := r.next()
	if t == "" || !(t[0] == '_' || t[0] >= 'A' && t[0] <= 'Z' || t[0] >= 'a' && t[0] <= 'z') || strings.HasPrefix(t, "__") {
		r.fail("%q is no name", t)
	}
	return t
}

func (r *reader) description() {
	if strings.HasPrefix(r.peek(), `"`) {
		r.next()
	}
}

func (r *reader) definition() {
	r.description()
	keyword, name := r.name(), r.name()
	if r.types[name] != "" {
		r.fail("%s is defined twice", name)
	}
	r.types[name] = keyword
	switch keyword {
	case "scalar":
		return
	case "type", "input", "enum":
	default:
		r.fail("unknown keyword %s", keyword)
	}
	r.expect("{")
	r.fields[name] = map[string]map[string]bool{}
	for r.err == nil && (len(r.fields[name]) == 0 || r.peek() != "}") {
		r.description()
		field := r.name()
		if r.fields[name][field] != nil {
			r.fail("%s.%s is defined twice", name, field)
		}
		r.fields[name][field] = r.arguments(keyword)
		if keyword == "enum" {
			if field == "true" || field == "false" || field == "null" {
				r.fail("%s.%s is no value", name, field)
			}
			continue
		}
		r.expect(":")
		if needed := r.typ(map[string]string{"type": "out", "input": "in"}[keyword]); keyword == "input" && needed != "" {
			r.needs[name] = append(r.needs[name], needed)
		}
	}
	r.expect("}")
}

func (r *reader) arguments(keyword string) map[string]bool {
	args := map[string]bool{}
	if keyword != "type" || !r.accept("(") {
		return args
	}
	for r.err == nil && (len(args) == 0 || r.peek() != ")") {
		name := r.name()
		if args[name] {
			r.fail("the argument %s is defined twice", name)
		}
		args[name] = true
		r.expect(":")
		r.typ("in")
	}
	r.expect(")")
	return args
}

// typ parses a reference to a type and returns its name if it is required.
func (r *reader) typ(direction string) (needed string) {
	if r.accept("[") {
		r.typ(direction)
		r.expect("]")
		r.accept("!")
		return ""
	}
	name := r.name()
	r.used[name] = append(r.used[name], direction)
	if r.accept("!") {
		return name
	}
	return ""
}

func (r *reader) check() {
	if r.types["Query"] != "type" {
		r.fail("there is no Query")
	}
	for name, directions := range r.used {
		for _, d := range directions {
			if k := r.types[name]; k == "" || k == "type" && d == "in" || k == "input" && d == "out" {
				r.fail("%s, which is %q, goes %s", name, k, d)
			}
		}
	}
	// An input terminates if all inputs that it requires do.
	for changed := true; changed; {
		changed = false
		for name, needs := range r.needs {
			left := needs[:0]
			for _, n := range needs {
				if len(r.needs[n]) > 0 {
					left = append(left, n)
				}
			}
			changed = changed || len(left) < len(needs)
			r.needs[name] = left
		}
	}
	for name, needs := range r.needs {
		if len(needs) > 0 {
			r.fail("%s needs %v without end", name, needs)
		}
	}
}
