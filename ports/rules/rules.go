// Package rules is the port to whatever decides if a call may go ahead, and the
// built-in decision from the permission map.
package rules

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Verdict is the outcome of a decision.
type Verdict struct {
	Denials []string        // reasons, safe to show to the caller; empty means go ahead
	Patch   json.RawMessage // RFC 7386 merge patch for the request body, or nil
}

// Engine decides about calls.
type Engine interface {
	// Decide returns the verdict on a call by an authenticated principal. An
	// error means that no decision could be made: the call does not go ahead.
	Decide(ctx context.Context, c *operation.Call) (Verdict, error)
}

// Thorough is an Engine that also decides about the further permissions that a row needs
// (operation.Needs). Of other engines the guard asks the permission map about those.
type Thorough interface {
	Engine
	DecidesNeeds()
}

// BuiltIn decides by the caller's permission map (docs/wire/permissions.md).
type BuiltIn struct{}

// Decide implements Engine.
func (BuiltIn) Decide(_ context.Context, c *operation.Call) (Verdict, error) {
	if operation.OwnBusiness(c) || c.Principal.Permissions.Allows(c.Spec.Permission, c.Spec.Intent) {
		return Verdict{}, nil
	}
	// Two blanks before the path: docs/wire/errors.md#standard-errors.
	return Verdict{Denials: []string{"You do not have permission to access  " + c.RawPath}}, nil
}
