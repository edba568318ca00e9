// Package yaml is the port to what reads and writes JSON documents as YAML.
package yaml

import (
	"errors"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Errors a Codec reports, wrapped with what is wrong and where.
var (
	ErrSyntax = errors.New("not readable as YAML")
	ErrLarge  = errors.New("too large")
)

// Limits bounds what a text may become when aliases are followed: bytes of JSON,
// and values.
type Limits struct {
	Bytes, Values int
}

// Codec reads and writes YAML. Members keep the order in which they stand.
type Codec interface {
	// Weigh returns what a text may become within the limits, from a look at its
	// characters, or ErrLarge for one with more values than they allow. It is cheap:
	// room can be made before Parse.
	Weigh(text []byte, most Limits) (Limits, error)
	// Parse reads a YAML text, of which JSON is a part, as a JSON tree. Keys that
	// are no text become text as they are written, such as status codes. Only the
	// first document of a stream counts.
	Parse(text []byte, l Limits) (*doc.Node, error)
	// Format writes a JSON tree as YAML.
	Format(n *doc.Node) ([]byte, error)
}
