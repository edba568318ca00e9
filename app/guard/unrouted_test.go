package guard_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// The response to a call that has no operation is the same for all callers, wrong
// credentials are not counted, and calls with a right credential are audited. While a
// surface is not set up, the response says so.
func TestUnrouted(t *testing.T) {
	missing := fault.New(fault.NotFound, operation.CodeNoRoute, "Not Found")
	var early error
	heard, asked := 0, 0
	g := guard.New(guard.Config{
		Authenticators: map[operation.Surface]guard.Authenticator{operation.Management: func(_ context.Context, c *operation.Call) error {
			if asked++; c.Token != "right" && c.Session != "right" {
				return guard.Unauthenticated()
			}
			c.Principal.ID = "ada"
			return nil
		}, operation.Portal: func(context.Context, *operation.Call) error {
			t.Error("the caller of a public call is asked for")
			return nil
		}},
		SetUp: map[operation.Surface]guard.SetUp{operation.Portal: func(context.Context) error { return early }},
		Audit: func(_ context.Context, c *operation.Call, err error) {
			if heard++; c.Principal.ID != "ada" || fault.CodeOf(err) != operation.CodeNoRoute {
				t.Errorf("%+v %v", c.Principal, err)
			}
		},
	})
	do := g(func(context.Context, *operation.Call) (any, error) { return nil, missing })
	for _, c := range []struct {
		surface        operation.Surface
		token, session string
		asked, heard   int
	}{
		{operation.Management, "", "", 0, 0}, {operation.Management, "wrong", "", 1, 0}, {operation.Management, "right", "", 1, 1},
		{operation.Management, "", "right", 1, 1}, {operation.Admin, "right", "", 0, 0},
	} {
		heard, asked = 0, 0
		spec := &operation.Spec{ID: "unrouted", Surface: c.surface, Unrouted: true}
		_, err := do(t.Context(), &operation.Call{Spec: spec, Token: c.token, Session: c.session, Remote: "192.0.2.1:1"})
		if fault.CodeOf(err) != operation.CodeNoRoute || asked != c.asked || heard != c.heard {
			t.Errorf("%+v: %v, asked %d, heard %d", c, err, asked, heard)
		}
	}
	for _, want := range []error{nil, fault.New(fault.Unavailable, "not.set_up", "not yet")} {
		early = want
		spec := &operation.Spec{ID: "unrouted", Surface: operation.Portal, Public: true, Unrouted: true}
		if _, err := do(t.Context(), &operation.Call{Spec: spec, Token: "right"}); want != nil && !errors.Is(err, want) || want == nil && fault.CodeOf(err) != operation.CodeNoRoute {
			t.Errorf("%v, want %v", err, want)
		}
	}
}
