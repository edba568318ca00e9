// Package graphql is the port to a checker of GraphQL schemas in their definition language
// (GraphQL, October 2021, 3).
package graphql

import "errors"

// Errors that a Checker returns, wrapped with the problem and its place.
var (
	ErrSchema = errors.New("not a GraphQL schema")
	ErrLarge  = errors.New("too large")
)

// Checker reads schemas.
type Checker interface {
	// Weigh returns an upper bound of the tokens in a text, computed from its characters, or
	// ErrLarge for a text that Check would not read completely. Weigh is cheap, so the caller can
	// reserve memory before Check.
	Weigh(sdl []byte) (tokens int, err error)
	// Check parses a schema and checks its definitions against each other. Its cost is limited:
	// beyond the limit it returns ErrLarge.
	Check(sdl []byte) error
}
