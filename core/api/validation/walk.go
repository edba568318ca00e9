package validation

import (
	"mime"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// namesInside are the members of an OpenAPI document with free names inside; the other list is
// of members with a value of any form.
var (
	namesInside = []string{
		"paths", "webhooks", "schemas", "responses", "parameters", "examples", "requestBodies", "headers", "securitySchemes",
		"links", "callbacks", "pathItems", "properties", "patternProperties", "dependentSchemas", "$defs", "content", "encoding",
	}
	anything = []string{"example", "default", "enum", "const", "value"}
)

// walk visits every object of a document once.
type walk struct {
	problems *problems
	root     *doc.Node
	old      bool // version 3.0
	path     []string
	circles  map[string]bool // references, and whether they are circular
}

// enter walks a member or item; names says that its members have free names.
func (w *walk) enter(name string, n *doc.Node, names bool) {
	w.path = append(w.path, name)
	defer func() { w.path = w.path[:len(w.path)-1] }()
	switch n.Type() {
	case doc.TypeArray:
		if name == "examples" {
			return // of a 3.1 schema: values of any form
		}
		for i, item := range n.Items() {
			if item.Is(doc.TypeObject, doc.TypeArray) {
				w.enter(strconv.Itoa(i), item, false)
			}
		}
	case doc.TypeObject:
		switch {
		case !names:
			w.examine(n)
		case name == "links":
			w.links(n)
		case name == "responses":
			w.responses(n)
		case name == "examples":
			w.examples(n)
		case name == "encoding":
			w.encodings(n)
		}
		for member, v := range n.Members() {
			if !v.Is(doc.TypeObject, doc.TypeArray) || !names && (slices.Contains(anything, member) || strings.HasPrefix(member, "x-")) {
				continue
			}
			if (member == "parameters" || member == "requestBody") && kindAt(w.path) == kindLink {
				continue // values for the linked operation
			}
			w.enter(member, v, !names && slices.Contains(namesInside, member))
		}
	}
}

// examine checks one object of any kind: the members that it checks have the same meaning
// everywhere.
func (w *walk) examine(n *doc.Node) {
	if ref := n.Get("$ref"); ref.Is(doc.TypeString) {
		switch text := ref.Text(); {
		case !strings.HasPrefix(text, "#"):
			w.add("$ref", "leads out of the document; such references are not followed")
		case text != "#" && !strings.HasPrefix(text, "#/"):
			w.add("$ref", "names an anchor, which gateways do not follow; name a place, such as #/components/schemas/order")
		case oas.Follow(w.root, text) == nil:
			w.add("$ref", "leads nowhere")
		case w.endless(text):
			w.add("$ref", "leads back to itself")
		default: // the target must have the kind of its place: otherwise gateways cannot load the document
			steps, _ := oas.Pointer(text)
			if want, have := kindAt(w.path), kindAt(steps); want != "" && have != "" && want != have && have != kindDocument {
				w.add("$ref", "must lead to "+string(want))
			}
		}
		return
	}
	w.explained(n)
	// A discriminator names schemas of this document. Gateways take a text that looks like a URL
	// for a reference.
	for value, schema := range n.Get("discriminator", "mapping").Members() {
		if ref := schema.Text(); !strings.HasPrefix(ref, "#") && strings.Contains(ref, "/") {
			w.add("discriminator.mapping."+value, "leads out of the document; such references are not followed")
		}
	}
	if !w.old {
		return
	}
	if n.Get("type").Text() == "array" && n.Get("items") == nil {
		w.add("items", "is needed for an array")
	}
	if n.Get("readOnly").True() && n.Get("writeOnly").True() {
		w.add("readOnly", "and writeOnly exclude each other")
	}
}

// explained requires external documentation to have a URL.
func (w *walk) explained(n *doc.Node) {
	if docs := n.Get("externalDocs"); docs.Is(doc.TypeObject) && docs.Get("url").Text() == "" {
		w.add("externalDocs.url", "must not be empty")
	}
}

// endless reports whether a chain of references is circular: no gateway could load the
// document. The result is stored for the whole chain, so each reference of a document is
// followed once.
func (w *walk) endless(ref string) bool {
	var way []string
	circle := false
	for {
		known, met := w.circles[ref]
		if met {
			circle = known
			break
		}
		way, w.circles[ref] = append(way, ref), true // until the end of the chain
		next := oas.Follow(w.root, ref).Get("$ref")
		if !next.Is(doc.TypeString) {
			break
		}
		ref = next.Text()
	}
	for _, ref := range way {
		w.circles[ref] = circle
	}
	return circle
}

// links requires each link to have a target.
func (w *walk) links(n *doc.Node) {
	for name, link := range n.Members() {
		if link.Is(doc.TypeObject) && link.Get("$ref") == nil && link.Get("operationId").Text() == "" && link.Get("operationRef").Text() == "" {
			w.add(name, "names no operation")
		}
	}
}

// responses requires that an operation has a response besides extensions, and that a reference
// to a response has no other members except extensions: otherwise gateways refuse the whole
// document, in any version.
func (w *walk) responses(n *doc.Node) {
	some := kindAt(w.path[:len(w.path)-1]) != kindOperation
	for status, response := range n.Members() {
		if strings.HasPrefix(status, "x-") {
			continue
		}
		if some = true; !response.Get("$ref").Is(doc.TypeString) {
			continue
		}
		for _, name := range response.Names() {
			if name != "$ref" && !strings.HasPrefix(name, "x-") {
				w.add(status+"."+name, "stands beside $ref, which gateways refuse; move it into the response that $ref names, or write the response out here")
			}
		}
	}
	if !some {
		w.problems.add(place(w.path), "has no response")
	}
}

// examples requires an example of the components to have a value: otherwise gateways refuse
// the whole document. Gateways themselves check examples beside a schema, or do not.
func (w *walk) examples(n *doc.Node) {
	if !slices.Equal(w.path, []string{"components", "examples"}) {
		return
	}
	for name, example := range n.Members() {
		if example.Is(doc.TypeObject) && example.Get("$ref") == nil && example.Get("value").Is(doc.Absent, doc.TypeNull) && example.Get("externalValue").Text() == "" {
			w.add(name, "has neither value nor externalValue")
		}
	}
}

// encodings requires the content types of parts of a body to be media types or ranges of them.
func (w *walk) encodings(n *doc.Node) {
	for name, encoding := range n.Members() {
		types := encoding.Get("contentType").Text()
		if types != "" && slices.ContainsFunc(strings.Split(types, ","), func(one string) bool {
			_, _, err := mime.ParseMediaType(one)
			return err != nil || !strings.Contains(one, "/")
		}) {
			w.add(name+".contentType", "must be media types, such as \"image/png, image/jpeg\"")
		}
	}
}

func (w *walk) add(member, message string) {
	if w.problems.full() {
		return
	}
	w.problems.add(place(append(w.path, member)), "%s", message)
}
