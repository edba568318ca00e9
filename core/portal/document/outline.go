package document

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Methods are those of operations, in the order in which pages show them.
var Methods = []string{"get", "post", "put", "patch", "delete", "head", "options", "trace"}

// Bounds of outlines.
const (
	maxOutlined = 500
	maxSaid     = 300 // bytes of a description
)

// Operation is an operation of an API, in short.
type Operation struct {
	Method, Path, Name, Summary, Description string
}

// Anchor names the place of an operation on the page of its API. It depends on nothing but
// the operation, so that addresses of places last.
func (o Operation) Anchor() string { return Anchor(o.Method, o.Path) }

// Anchor names the place of an operation on the page of its API.
func Anchor(method, path string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(path)) // into memory
	return fmt.Sprintf("%s-%s-%08x", strings.ToLower(method), table.Slug(path), sum.Sum32())
}

// Outline returns the operations of an OpenAPI description, as many as pages show.
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

// said returns the beginning of a text, apart from the text that it stands in.
func said(n *doc.Node, name string) string {
	text := n.Get(name).Text()
	return strings.ToValidUTF8(strings.Clone(text[:min(len(text), maxSaid)]), "")
}
