package document

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Methods are the methods of operations, in the order in which pages show them.
var Methods = []string{"get", "post", "put", "patch", "delete", "head", "options", "trace"}

// Limits of outlines.
const (
	maxOutlined = 500
	maxSaid     = 300 // bytes of a description
)

// Operation is the summary of an operation of an API.
type Operation struct {
	Method, Path, Name, Summary, Description string
}

// Anchor returns the anchor of an operation on the page of its API. It depends only on the
// operation, so that links stay valid.
func (o Operation) Anchor() string { return Anchor(o.Method, o.Path) }

// Anchor returns the anchor of an operation on the page of its API.
func Anchor(method, path string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(path)) // into memory
	return fmt.Sprintf("%s-%s-%08x", strings.ToLower(method), table.Slug(path), sum.Sum32())
}

// Outline returns the operations of an OpenAPI description, up to the maximum of a page.
func Outline(n *doc.Node) (out []Operation) {
	paths := n.Get("paths")
	for _, path := range slices.Sorted(slices.Values(paths.Names())) {
		item := paths.Get(path)
		for _, method := range Methods {
			o := item.Get(method)
			if !o.Is(doc.TypeObject) {
				continue
			}
			if len(out) == maxOutlined {
				return out
			}
			out = append(out, Operation{strings.ToUpper(method), strings.Clone(path), said(o, "operationId"), said(o, "summary"), said(o, "description")})
		}
	}
	return out
}

// said returns a copy of the beginning of a text, so that the document can be freed.
func said(n *doc.Node, name string) string {
	text := n.Get(name).Text()
	return strings.ToValidUTF8(strings.Clone(text[:min(len(text), maxSaid)]), "")
}
