package imports

import (
	"net/url"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// methods are the operations of a path item in the order of the OpenAPI
// specification.
var methods = [...]string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// Operation is one operation of a description.
type Operation struct {
	Path, Method string    // Method in upper case
	Item, Node   *doc.Node // the path item, and the operation within it
}

// ID returns the operationId, or "".
func (o Operation) ID() string { return o.Node.Get("operationId").Text() }

// Operations lists the operations of a description: paths in their order,
// methods in the order of the OpenAPI specification.
func Operations(document *doc.Node) []Operation {
	var out []Operation
	for path, item := range document.Get("paths").Members() {
		if !strings.HasPrefix(path, "/") {
			continue // an extension
		}
		for _, method := range methods {
			if o := item.Get(method); o.Is(doc.TypeObject) {
				out = append(out, Operation{Path: path, Method: strings.ToUpper(method), Item: item, Node: o})
			}
		}
	}
	return out
}

// pointerEscapes are those of a JSON pointer (RFC 6901, 4).
var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// maxReferences is how many references are followed one after the other.
const maxReferences = 16

// Resolve follows references within the document and returns what they lead to;
// nil when they lead nowhere, outside or in a circle.
func Resolve(document, n *doc.Node) *doc.Node {
	for range maxReferences {
		ref := n.Get("$ref")
		if !ref.Is(doc.TypeString) {
			return n
		}
		pointer, ok := strings.CutPrefix(ref.Text(), "#/")
		if !ok {
			return nil
		}
		n = document
		for part := range strings.SplitSeq(pointer, "/") {
			if plain, err := url.PathUnescape(part); err == nil {
				part = plain
			}
			n = n.Get(pointerEscapes.Replace(part))
		}
	}
	return nil
}
