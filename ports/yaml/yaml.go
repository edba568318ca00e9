// Package yaml is the port to a codec between JSON documents and YAML.
package yaml

import (
	"errors"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Errors that a Codec returns, wrapped with the problem and its place.
var (
	ErrSyntax = errors.New("not readable as YAML")
	ErrLarge  = errors.New("too large")
)

// Limits are the largest size of a text after its aliases are expanded: bytes of JSON, and
// number of values.
type Limits struct {
	Bytes, Values int
}

// Codec decodes and encodes YAML. It keeps the order of members.
type Codec interface {
	// Weigh returns an upper bound of the expanded size within the limits, computed from the
	// characters of the text, or ErrLarge for a text with more values than allowed. Weigh is
	// cheap, so the caller can reserve memory before Parse.
	Weigh(text []byte, most Limits) (Limits, error)
	// Parse decodes a YAML text, or JSON, which is valid YAML, to a JSON tree. Keys that are not
	// texts, such as status codes, become texts as written. Only the first document of a stream
	// counts.
	Parse(text []byte, l Limits) (*doc.Node, error)
	// Format encodes a JSON tree as YAML.
	Format(n *doc.Node) ([]byte, error)
}
