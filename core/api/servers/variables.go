package servers

import (
	"regexp"
	"strconv"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/pattern"
)

var variableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// server converts an address to a servers entry: named expressions become variables
// (docs/wire/versions.md#server-variables).
func server(address string) (*doc.Node, error) {
	var plain []byte
	variables := doc.NewObject()
	for i := 0; i < len(address); i++ {
		switch address[i] {
		case '}':
			return nil, badAddress("unbalanced braces in %q", address)
		case '{':
			end := closing(address, i)
			if end < 0 {
				return nil, badAddress("unbalanced braces in %q", address)
			}
			name, err := variable(address[i+1:end], variables)
			if err != nil {
				return nil, err
			}
			variables.Put(doc.NewString("pathParam"+strconv.Itoa(variables.Len()+1)), name, "default")
			plain = append(plain, "{"+name+"}"...)
			i = end
		default:
			plain = append(plain, address[i])
		}
	}
	entry := doc.NewObject()
	entry.Set("url", doc.NewString(string(plain)))
	if variables.Len() > 0 {
		entry.Set("variables", variables)
	}
	return entry, nil
}

// variable checks the inside of braces and returns its name.
func variable(inside string, known *doc.Node) (string, error) {
	name, expression := inside, ""
	for i := range len(inside) {
		if inside[i] == ':' {
			name, expression = inside[:i], inside[i+1:]
			break
		}
	}
	groups, err := pattern.Check(expression)
	switch {
	case name == "":
		return "", badAddress("an expression in an address has no name: {%s}", inside)
	case !variableName.MatchString(name):
		return "", badAddress("%q is no name for an expression in an address", name)
	case known.Get(name) != nil:
		return "", badAddress("an address uses the name %q twice", name)
	case err != nil:
		return "", badAddress("the expression {%s} of an address does not compile", inside)
	case groups > 0:
		return "", badAddress("the expression {%s} of an address has capture groups", inside)
	}
	return name, nil
}

// closing returns the position at which the brace that opens at i is closed, or -1.
func closing(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func badAddress(format string, args ...any) error {
	return fault.New(fault.Invalid, "oas.servers", format, args...).At("servers")
}
