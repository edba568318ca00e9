// Package validation checks rules for API documents and definitions that a JSON schema cannot
// express: relations between their parts, and rules of this control plane beyond those of
// gateways (docs/wire/conversion.md#validation, docs/wire/apis.md#validation). All checks work
// on the JSON tree and change nothing.
package validation

import (
	"fmt"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// Problem is one error in a document.
type Problem struct {
	Field   string // dotted location: "x-tyk-api-gateway.info.name"; "" is the whole document
	Message string // safe to show: names the rule, never a value that could be secret
}

// String returns field and message as one line of an error text.
func (p Problem) String() string {
	if p.Field == "" {
		return p.Message
	}
	return p.Field + ": " + p.Message
}

// problems collects the first problems.
type problems []Problem

func (p *problems) add(field, format string, args ...any) {
	if p.full() {
		return
	}
	*p = append(*p, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

// full reports whether the maximum is reached: problems cost memory, and the first ones
// suffice.
func (p *problems) full() bool { return len(*p) == shape.MaxProblems }

// at joins the parts of a location: names, or locations.
func at(parts ...any) string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = fmt.Sprint(p)
	}
	return place(names)
}

// place joins names to a location, and shortens each.
func place(names []string) string {
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = doc.Short(name)
	}
	return strings.Join(short, ".")
}
