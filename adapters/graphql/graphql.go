// Package graphql checks GraphQL schemas in their definition language.
package graphql

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	port "github.com/gatehouse-io/gatehouse/ports/graphql"
)

// Bounds of what checking a schema may cost. The library itself bounds how deep its
// parts nest.
const (
	maxTokens = 300_000
	maxSteps  = 50_000_000
)

// Checker implements the port. The zero Checker is ready to use.
type Checker struct{}

// Weigh implements the port. A name or a number counts once; every other character
// counts once, except white space.
func (Checker) Weigh(sdl []byte) (int, error) {
	n, word := 0, false
	for i := 0; i < len(sdl); i++ {
		switch c := sdl[i]; {
		case c <= ' ' || c == ',':
			word = false
		case c == '"':
			i, word = closing(sdl, i), false
			n++
		case c == '#':
			for i+1 < len(sdl) && sdl[i+1] != '\n' && sdl[i+1] != '\r' {
				i++
			}
			n, word = n+1, false
		case c == '_' || c == '.' || c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			if !word {
				n++
			}
			word = true
		default:
			n, word = n+1, false
		}
	}
	if n > maxTokens {
		return n, fmt.Errorf("%w: the schema has more than %d tokens", port.ErrLarge, maxTokens)
	}
	return n, nil
}

// closing returns the index where the string that begins at i ends: at the next quote,
// or at three quotes if it begins with three.
func closing(sdl []byte, i int) int {
	at := func(i int) bool { return i+2 < len(sdl) && sdl[i] == '"' && sdl[i+1] == '"' && sdl[i+2] == '"' }
	if at(i) {
		for i += 3; i < len(sdl) && !at(i); i++ {
			if sdl[i] == '\\' && at(i+1) {
				i += 3
			}
		}
		return min(i+2, len(sdl)-1)
	}
	for i++; i < len(sdl) && sdl[i] != '"' && sdl[i] != '\n'; i++ {
		if sdl[i] == '\\' {
			i++
		}
	}
	return min(i, len(sdl)-1)
}

// Check implements the port.
func (c Checker) Check(sdl []byte) (err error) {
	defer func() { // the library panics on union members that do not exist
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: its types do not fit together", port.ErrSchema)
		}
	}()
	if !utf8.Valid(sdl) {
		return fmt.Errorf("%w: it is not UTF-8", port.ErrSchema)
	}
	if _, err := c.Weigh(sdl); err != nil {
		return err
	}
	own, err := parser.ParseSchemaWithLimit(&ast.Source{Name: "schema", Input: string(sdl)}, maxTokens)
	if err != nil {
		return refusal(err)
	}
	if len(own.Definitions)+len(own.Extensions)+len(own.Directives)+len(own.Schema) == 0 {
		return fmt.Errorf("%w: it defines nothing", port.ErrSchema)
	}
	if steps(own) > maxSteps {
		return fmt.Errorf("%w: to compare the fields of the schema takes more than %d steps", port.ErrLarge, maxSteps)
	}
	whole, err := parser.ParseSchema(validator.Prelude)
	if err != nil {
		return fmt.Errorf("graphql: built-in types: %w", err)
	}
	whole.Merge(own)
	if _, err := validator.ValidateSchemaDocument(whole); err != nil {
		return refusal(err)
	}
	return nil
}

// refusal says what is wrong, and at which place.
func refusal(err error) error {
	found, ok := errors.AsType[*gqlerror.Error](err)
	if !ok {
		return fmt.Errorf("%w: %s", port.ErrSchema, err.Error())
	}
	if len(found.Locations) == 0 {
		return fmt.Errorf("%w: %s", port.ErrSchema, found.Message)
	}
	return fmt.Errorf("%w: line %d: %s", port.ErrSchema, found.Locations[0].Line, found.Message)
}
