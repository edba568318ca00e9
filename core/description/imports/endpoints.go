package imports

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// validationStatus is the status of a gateway's response to an invalid request.
const validationStatus = 422

// endpoints sets an ID and the requested blocks for every operation, and returns all IDs
// (docs/wire/import.md#settings, docs/wire/import.md#operation-ids). IDs come first, because
// the path items that they create count as described.
func (b *builder) endpoints() map[string]bool {
	known := oas.EndpointsOf(b.document)
	for _, o := range oas.Operations(b.document) {
		known.Described(o.Path, o.Method)
	}
	ids := map[string]bool{}
	for _, o := range oas.Operations(b.document) {
		id := known.Described(o.Path, o.Method)
		ids[id] = true
		if on := b.s.AllowList; on != nil {
			b.block(id, "allow").Set("enabled", doc.NewBool(*on))
			blocked := b.ext.Get("middleware", "operations", id, "block")
			if *on && blocked.Get("enabled").True() { // an allowed operation is not blocked
				blocked.Set("enabled", doc.NewBool(false))
			}
		}
		if on := b.s.ValidateRequest; on != nil && validatable(b.document, o) {
			block := b.block(id, "validateRequest")
			block.Set("enabled", doc.NewBool(*on))
			block.Set("errorResponseCode", doc.NewInt(validationStatus))
		}
		if on := b.s.MockResponse; on != nil && mockable(b.document, o) {
			examples := doc.NewObject()
			examples.Set("enabled", doc.NewBool(*on))
			block := b.block(id, "mockResponse")
			block.Set("enabled", doc.NewBool(*on))
			block.Set("fromOASExamples", examples)
		}
	}
	// Some operations would make gateways fail. The request did not name them, so they do not get
	// the setting.
	operations := b.ext.Get("middleware", "operations")
	for _, e := range validation.Endless(b.document, operations) {
		if on := map[string]*bool{validation.MockResponse: b.s.MockResponse, validation.ValidateRequest: b.s.ValidateRequest}[e.Setting]; on != nil && *on {
			operations.Get(e.ID).Delete(e.Setting)
		}
	}
	return ids
}

// block returns the settings block of an operation, and creates it if it is missing.
func (b *builder) block(id, name string) *doc.Node {
	operations := child(child(b.ext, "middleware"), "operations")
	return child(child(operations, id), name)
}

// validatable reports whether an operation has parameters or a JSON body to validate.
func validatable(document *doc.Node, o oas.Operation) bool {
	if o.Node.Get("parameters").Len() > 0 || o.Item.Get("parameters").Len() > 0 {
		return true
	}
	content := oas.Resolve(document, o.Node.Get("requestBody")).Get("content")
	for _, media := range []string{"application/json", "application/*", "*/*"} {
		if content.Get(media) != nil {
			return true
		}
	}
	return false
}

// mockable reports whether a response has an example or a schema.
func mockable(document *doc.Node, o oas.Operation) bool {
	for _, response := range o.Node.Get("responses").Members() {
		for _, media := range oas.Resolve(document, response).Get("content").Members() {
			values := []*doc.Node{media.Get("example"), media.Get("schema")}
			for _, example := range media.Get("examples").Members() {
				values = append(values, oas.Resolve(document, example).Get("value"))
			}
			if slices.ContainsFunc(values, given) {
				return true
			}
		}
	}
	return false
}

func given(n *doc.Node) bool { return !n.Is(doc.Absent, doc.TypeNull) }

// child returns a member that is an object, and creates it if it is not.
func child(n *doc.Node, name string) *doc.Node {
	c := n.Get(name)
	if !c.Is(doc.TypeObject) {
		c = doc.NewObject()
		n.Set(name, c)
	}
	return c
}
