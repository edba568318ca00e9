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

// A further permission is wanted whatever the rules say, and what is only
// rehearsed is not written down as done.
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
