// Package rules is the port to the engine that decides whether a call is allowed, and the
// built-in decision by the permission map.
package rules

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Verdict is the outcome of a decision.
type Verdict struct {
	Denials []string        // reasons, safe to show to the caller; empty: the call is allowed
	Patch   json.RawMessage // RFC 7386 merge patch for the request body, or nil
}

// Engine decides about calls.
type Engine interface {
	// Decide returns the verdict on a call by an authenticated principal. An error means that no
	// decision was possible: the call is refused.
	Decide(ctx context.Context, c *operation.Call) (Verdict, error)
}

// Thorough is an Engine that also decides about the other permissions that a row needs
// (operation.Needs). With other engines, the guard checks those in the permission map.
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
