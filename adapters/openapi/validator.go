// Package openapi validates API documents: their form by a JSON schema of our own, the
// relations of their parts by the rules of core, and on demand their examples and
// defaults by kin-openapi. It also publishes the schema.
package openapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/pattern"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// Validator implements the port. It is safe for concurrent use; each schema is compiled
// once, on first use.
type Validator struct{ forms catalogue }

// New returns a Validator.
func New() *Validator {
	c := catalogue{}
	for _, v := range []port.Variant{port.OAS, port.Streams, port.MCP, port.Template, port.StreamsTemplate} {
		for _, version := range []string{"3.0", "3.1"} {
			for flags := range 4 {
				c.add(form{variant: v, version: version, strict: flags&1 != 0, allStreams: flags&2 != 0})
			}
		}
	}
	return &Validator{forms: c}
}

var (
	_ port.Validator = (*Validator)(nil)
	_ port.Schemas   = (*Validator)(nil)
)

// maxDepth is the maximum nesting depth of a document: all code that reads it, here and
// in gateways, recurses level by level.
const maxDepth = 1000

// Validate implements port.Validator. Relations are checked only when the form is
// valid: otherwise they would report the same mistakes in other words.
func (v *Validator) Validate(d *doc.Node, o port.Options) []port.Problem {
	if d.Deeper(maxDepth) {
		return one("", fmt.Sprintf("is nested deeper than %d levels", maxDepth))
	}
	if patterns(d) > pattern.MaxCost {
		return one("", "has regular expressions with too many classes of characters")
	}
	if found := v.form(d, o); len(found) > 0 {
		return found
	}
	found := append(validation.OpenAPI(d), validation.Document(d, o.Variant == port.MCP)...)
	switch o.Variant {
	case port.MCP:
		found = append(found, validation.Primitives(d)...)
	case port.Streams, port.StreamsTemplate:
		if !o.AllStreams {
			found = append(found, validation.Streams(d)...)
		}
	}
	if len(found) > 0 {
		return found[:min(len(found), maxProblems)]
	}
	if !o.Examples && !o.Defaults {
		return nil
	}
	members, err := doc.LoadObject(d.JSON())
	if err != nil {
		return one("", "is not JSON: "+err.Error())
	}
	return values(members, o)
}

// Schema implements port.Schemas.
func (v *Validator) Schema(variant port.Variant, full string) (json.RawMessage, error) {
	minor, ok := version(full)
	e, known := v.forms[form{variant: cmp.Or(variant, port.OAS), version: minor, strict: true}]
	if !ok || !known {
		return nil, fmt.Errorf("openapi: %s %q: %w", variant, full, port.ErrNoSchema)
	}
	return e.text()
}

// form validates a document against its schema.
func (v *Validator) form(d *doc.Node, o port.Options) []port.Problem {
	if !d.Is(doc.TypeObject) {
		return one("", "must be an object")
	}
	full := d.Get("openapi")
	minor, ok := version(full.Text())
	if !ok || !full.Is(doc.Absent, doc.TypeString) {
		return one("openapi", "no such version of OpenAPI is known here; 3.0 and 3.1 are")
	}
	f := form{variant: cmp.Or(o.Variant, port.OAS), version: minor, strict: !o.AllowUnknown, allStreams: o.AllStreams}
	e, ok := v.forms[f]
	if !ok {
		return one("", fmt.Sprintf("no schema for documents of kind %q", o.Variant))
	}
	schema, err := e.compiled()
	if err != nil {
		return one("", err.Error())
	}
	document, err := e.document()
	if err != nil {
		return one("", err.Error())
	}
	found := misspelt(d, document)
	err = schema.Validate(plain(d))
	if tree, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		var all findings
		all.collect(tree)
		found = append(found, all.list(nil, "", d)...) // in the order of the document
	} else if err != nil {
		found = append(found, one("", err.Error())...)
	}
	return found[:min(len(found), maxProblems)]
}

// plain converts a tree into the values that the schema library reads. Numbers become
// floats: the library would compute numbers with a huge exponent digit by digit.
func plain(n *doc.Node) any {
	switch n.Type() {
	case doc.TypeObject:
		m := make(map[string]any, n.Len())
		for name, v := range n.Members() {
			m[name] = plain(v)
		}
		return m
	case doc.TypeArray:
		items := n.Items()
		list := make([]any, len(items))
		for i, v := range items {
			list[i] = plain(v)
		}
		return list
	case doc.TypeString:
		return n.Text()
	case doc.TypeNumber:
		return min(max(n.Float(), -math.MaxFloat64), math.MaxFloat64)
	case doc.TypeBool:
		return n.True()
	}
	return nil
}

func one(field, message string) []port.Problem {
	return []port.Problem{{Field: field, Message: message}}
}
