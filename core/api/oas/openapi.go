package oas

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Operation is one operation of an OpenAPI document.
type Operation struct {
	Path, Method string    // Method in upper case
	Item, Node   *doc.Node // the path item, and the operation within it
}

// ID returns the operationId, or "".
func (o Operation) ID() string { return o.Node.Get("operationId").Text() }

// Operations returns the operations of a document: paths in their order, methods in the order
// of the OpenAPI specification. References to path items are resolved.
func Operations(document *doc.Node) []Operation {
	var out []Operation
	for path, item := range document.Get("paths").Members() {
		if !strings.HasPrefix(path, "/") {
			continue // an extension
		}
		item = Resolve(document, item)
		for _, method := range []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"} {
			if o := item.Get(method); o.Is(doc.TypeObject) {
				out = append(out, Operation{Path: path, Method: strings.ToUpper(method), Item: item, Node: o})
			}
		}
	}
	return out
}

// maxReferences is the maximum length of a chain of references.
const maxReferences = 16

// Resolve follows references within the document and returns their target; nil when they
// dangle, lead outside, or are circular.
func Resolve(document, n *doc.Node) *doc.Node {
	for range maxReferences {
		ref := n.Get("$ref")
		if !ref.Is(doc.TypeString) {
			return n
		}
		n = Follow(document, ref.Text())
	}
	return nil
}

// pointerEscapes are the escapes of a JSON pointer (RFC 6901, 4).
var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// maxReference is the maximum length of a reference within a document in bytes, because a
// reference is parsed again at each use. A reference to the longest path is shorter, even with
// all characters escaped.
const maxReference = 16 << 10

// Pointer returns the steps of a reference such as "#/components/schemas/x" (RFC 6901, 6); ok
// is false if it does not point into the document.
func Pointer(ref string) (steps []string, ok bool) {
	if len(ref) > maxReference {
		return nil, false
	}
	fragment, inside := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if !inside || err != nil || pointer != "" && pointer[0] != '/' {
		return nil, false
	}
	steps = strings.Split(pointer, "/")[1:]
	for i, step := range steps {
		steps[i] = pointerEscapes.Replace(step)
	}
	return steps, true
}

// Follow returns the target of a reference such as "#/components/schemas/x" within the
// document, or nil. It follows only this one reference.
func Follow(document *doc.Node, ref string) *doc.Node {
	steps, ok := Pointer(ref)
	if !ok {
		return nil
	}
	n := document
	for _, step := range steps {
		if n.Is(doc.TypeArray) {
			at, err := strconv.Atoi(step)
			if err != nil {
				return nil
			}
			n = n.Item(at)
			continue
		}
		n = n.Get(step)
	}
	return n
}
