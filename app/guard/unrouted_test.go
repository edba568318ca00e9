package guard_test

import (
	"context"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// The answer to a call that has no operation is the same for all, wrong credentials count
// nowhere, and the audit hears of those whose credential is right.
func TestUnrouted(t *testing.T) {
	missing := fault.New(fault.NotFound, operation.CodeNoRoute, "Not Found")
	heard, asked := 0, 0
	g := guard.New(guard.Config{
		Authenticators: map[operation.Surface]guard.Authenticator{operation.Management: func(_ context.Context, c *operation.Call) error {
			if asked++; c.Token != "right" && c.Session != "right" {
				return guard.Unauthenticated()
			}
			c.Principal.ID = "ada"
			return nil
		}},
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
}
