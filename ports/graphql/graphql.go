// Package graphql is the port to what checks GraphQL schemas in their definition
// language (GraphQL, October 2021, 3).
package graphql

import "errors"

// Errors a Checker reports, wrapped with what is wrong and where.
var (
	ErrSchema = errors.New("not a GraphQL schema")
	ErrLarge  = errors.New("too large")
)

// Checker reads schemas.
type Checker interface {
	// Weigh returns how many tokens a text may have, from a look at its characters, or
	// ErrLarge for one that Check would not read to its end. It is cheap: room can be
	// made before Check.
	Weigh(sdl []byte) (tokens int, err error)
	// Check reads a schema and holds its definitions against each other. What that may
	// cost is bounded: ErrLarge.
	Check(sdl []byte) error
}
