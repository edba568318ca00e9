// Package validation holds what a JSON schema cannot say about API documents and
// definitions: relations between their parts, and what this control plane wants
// on top of what gateways want (docs/wire/conversion.md#validation, docs/wire/apis.md#validation).
// All of it is computed on the JSON tree; nothing is changed.
package validation

import (
	"fmt"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	Field   string // dotted location: "x-tyk-api-gateway.info.name"; "" is the whole document
	Message string // safe to show: names the rule, never a value that could be secret
}

// String returns both, as one line of an error text.
func (p Problem) String() string {
	if p.Field == "" {
		return p.Message
	}
	return p.Field + ": " + p.Message
}

// problems collects the first faults.
type problems []Problem

func (p *problems) add(field, format string, args ...any) {
	if p.full() {
		return
	}
	*p = append(*p, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
}

// full reports whether no more are kept: places cost memory, and the first say enough.
func (p *problems) full() bool { return len(*p) == shape.MaxProblems }

// at joins a location; parts are names, or locations already.
func at(parts ...any) string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = fmt.Sprint(p)
	}
	return place(names)
}

// place joins a location of names, each as long as texts show it.
func place(names []string) string {
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = doc.Short(name)
	}
	return strings.Join(short, ".")
}
