package imports

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Apply merges a template with a document and returns the result; neither is changed. Objects
// are merged. For all other values, including lists, the document takes precedence
// (docs/wire/assets.md#use).
func Apply(template, document *doc.Node) *doc.Node {
	if document == nil {
		return template.Clone()
	}
	out := document.Clone()
	merge(template, out)
	return out
}

// merge adds missing members to an object.
func merge(template, into *doc.Node) {
	if !into.Is(doc.TypeObject) {
		return
	}
	for name, v := range template.Members() {
		if mine := into.Get(name); mine == nil {
			into.Set(name, v.Clone())
		} else {
			merge(v, mine)
		}
	}
}

// DryRun builds the document that would be saved for a body {"oas", "tyk_oas"}. Either part
// may be missing: a description alone is imported, a description with a stored document is a
// patch of it, and a stored document alone gets the settings. A template, or nil, is applied
// first. The body is not changed; errors are as with Import.
func DryRun(body, template *doc.Node, s Settings) (*doc.Node, error) {
	description, stored := body.Get("oas"), body.Get("tyk_oas")
	var out *doc.Node
	var err error
	switch {
	case given(description) && given(stored):
		out = description.Clone()
		err = Patch(out, Apply(template, stored), s)
	case given(description):
		out = Apply(template, description)
		err = Import(out, s)
	case given(stored):
		if out = Apply(template, stored); !s.Empty() {
			err = Patch(out, out.Clone(), s)
		}
	default:
		err = fault.New(fault.Invalid, "oas.document", "oas or tyk_oas is required").At("oas")
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}
