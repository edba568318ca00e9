package guard_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// An additional permission is required whatever the rules say, and a dry run is not
// logged as done.
func TestNeedsAndRehearsals(t *testing.T) {
	var log bytes.Buffer
	g := guard.New(guard.Config{
		Authenticators: map[operation.Surface]guard.Authenticator{operation.Management: func(_ context.Context, c *operation.Call) error {
			c.Principal.Permissions = access.Map{"apis": access.LevelWrite, "api_assets": access.Level(c.Token)}
			return nil
		}},
		Rules: rules.BuiltIn{}, Audit: guard.Log(slog.New(slog.NewTextHandler(&log, nil))),
	})
	fn := func(context.Context, struct{}) (bool, error) { return true, nil }
	o := operation.Group{Surface: operation.Management, Name: "x", Path: "/x", Tag: "X", Permission: access.APIs}.Rows(
		operation.PUT("put", "", "Put", fn, operation.Needs(access.Assets, access.Read, "template"), operation.Rehearsable(nil), operation.Example(nil, true)))[0]
	for _, c := range []struct {
		level, query string
		kind         fault.Kind
		outcome      string
	}{
		{"read", "template=t", 0, "outcome=done"},
		{"deny", "", 0, "outcome=done"},
		{"deny", "template=t", fault.Denied, "outcome=auth.needs.api_assets"},
		{"read", "template=t&dry_run=true", 0, "outcome=rehearsed"},
		{"deny", "template=t&dry_run=true", fault.Denied, "outcome=auth.needs.api_assets"},
	} {
		log.Reset()
		query, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		_, err = g(o.Do)(t.Context(), &operation.Call{Spec: &o.Spec, Token: c.level, Query: query})
		if err == nil && c.kind != 0 || err != nil && fault.KindOf(err) != c.kind || !strings.Contains(log.String(), c.outcome) {
			t.Errorf("%s %s: %v, %s", c.level, c.query, err, log.String())
		}
	}
}

// deciding is an engine that records the body of the last call.
type deciding struct{ body *string }

func (d deciding) Decide(_ context.Context, c *operation.Call) (rules.Verdict, error) {
	*d.body = string(c.Body)
	return rules.Verdict{}, nil
}

// The body is read after the caller is authenticated, and before the rules decide.
func TestOrder(t *testing.T) {
	fn := func(context.Context, struct {
		Body map[string]any `body:""`
	}) (bool, error) {
		return true, nil
	}
	row := func(s operation.Surface) operation.Operation {
		return operation.Group{Surface: s, Name: "x", Path: "/x", Tag: "X", Permission: access.APIs}.Rows(
			operation.POST("post", "", "Post", fn, operation.Example(map[string]any{}, true)))[0]
	}
	for _, c := range []struct {
		surface       operation.Surface
		token         string
		maintenance   bool
		broken        error
		read, decided string
		kind          fault.Kind
	}{
		{operation.Management, "wrong", false, nil, "", "", fault.Unauthenticated},
		{operation.Admin, "wrong", false, nil, "", "", fault.Unauthenticated},
		{operation.Node, "wrong", false, nil, "", "", fault.Unauthenticated},
		{operation.Probe, "right", false, nil, "", "", fault.Unauthenticated}, // a surface without an authenticator
		{operation.Management, "right", true, nil, "", "", fault.Unavailable},
		{operation.Management, "right", false, fault.New(fault.TooLarge, "", "large"), "read", "", fault.TooLarge},
		{operation.Admin, "right", false, fault.New(fault.TooLarge, "", "large"), "read", "", fault.TooLarge},
		{operation.Management, "right", false, nil, "read", `{"a":1}`, 0},
		{operation.Admin, "right", false, nil, "read", "", 0},
		{operation.Node, "right", false, nil, "read", "", 0},
	} {
		read, decided := "", ""
		who := func(_ context.Context, c *operation.Call) error {
			if c.Token != "right" {
				return guard.Unauthenticated()
			}
			return nil
		}
		o := row(c.surface)
		g := guard.New(guard.Config{
			Authenticators: map[operation.Surface]guard.Authenticator{operation.Management: who, operation.Admin: who, operation.Node: who},
			Rules:          deciding{&decided}, Maintenance: c.maintenance, Audit: guard.Log(slog.New(slog.DiscardHandler)),
		})
		call := &operation.Call{Spec: &o.Spec, Token: c.token}
		call.Incoming = func(context.Context) error {
			read += "read"
			call.Body = []byte(`{"a":1}`)
			return c.broken
		}
		_, err := g(o.Do)(t.Context(), call)
		if c.kind == 0 && err != nil || c.kind != 0 && fault.KindOf(err) != c.kind || read != c.read || decided != c.decided {
			t.Errorf("%+v: %v, read %q, decided about %q", c, err, read, decided)
		}
	}
}
