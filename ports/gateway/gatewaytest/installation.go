package gatewaytest

import (
	"errors"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// RunInstallation runs the tests of gateways as a whole. open makes a new world.
func RunInstallation(t *testing.T, open func(t *testing.T) World) {
	run(t, open, map[string]func(*testing.T, World){"keys of organisations": orgKeys, "reloads": reloads, "no gateway": installationAway})
}

const limits = `{"rate":10,"per":60,"quota_max":1000,"quota_renewal_rate":3600,"alias":"all of it"}`

func orgKeys(t *testing.T, w World) {
	ctx, in := t.Context(), w.Installation
	if _, err := in.OrgKey(ctx, Org); !errors.Is(err, gateway.ErrUnknown) {
		t.Error(err)
	}
	if err := in.DeleteOrgKey(ctx, Org); !errors.Is(err, gateway.ErrUnknown) {
		t.Error(err)
	}
	for _, org := range []tenant.ID{Other, Org, Org} { // the call can be repeated
		if err := in.PutOrgKey(ctx, org, doctest.Node(t, limits)); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := in.OrgKey(ctx, Org); err != nil || s.Get("rate").Float() != 10 || s.Get("alias").Text() != "all of it" || s.Get("org_id").Text() != string(Org) {
		t.Error(err)
	}
	changed := doctest.Node(t, limits)
	changed.Set("rate", doc.NewInt(20))
	if err := in.PutOrgKey(ctx, Org, changed); err != nil {
		t.Fatal(err)
	}
	if s, err := in.OrgKey(ctx, Org); err != nil || s.Get("rate").Float() != 20 {
		t.Error(err)
	}
	if got, err := in.OrgKeys(ctx); err != nil || !slices.Equal(got, []tenant.ID{Org, Other}) {
		t.Error(got, err)
	}
	if err := in.DeleteOrgKey(ctx, Org); err != nil {
		t.Fatal(err)
	}
	if got, err := in.OrgKeys(ctx); err != nil || !slices.Equal(got, []tenant.ID{Other}) {
		t.Error(got, err)
	}
	for _, org := range []tenant.ID{"../keys", "a/b"} {
		if _, err := in.OrgKey(ctx, org); !errors.Is(err, gateway.ErrUnknown) {
			t.Errorf("%s: %v", org, err)
		}
	}
}

func reloads(t *testing.T, w World) {
	if err := w.Installation.Reload(t.Context()); err != nil {
		t.Error(err)
	}
	for _, s := range w.Installation.Probe(t.Context()) {
		if !s.Asked || !s.Answers || s.Breaker != gateway.BreakerClosed || s.Trouble != "" {
			t.Errorf("%+v", s)
		}
	}
}

func installationAway(t *testing.T, w World) {
	ctx, in := t.Context(), w.Away.Installation
	every := map[string]error{"reload": in.Reload(ctx)}
	_, every["list"] = in.OrgKeys(ctx)
	_, every["read"] = in.OrgKey(ctx, Org)
	every["put"] = in.PutOrgKey(ctx, Org, doctest.Node(t, limits))
	every["delete"] = in.DeleteOrgKey(ctx, Org)
	for name, err := range every {
		if !errors.Is(err, gateway.ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, s := range w.Away.Installation.Probe(t.Context()) {
		if s.Answers {
			t.Errorf("%+v", s)
		}
	}
}
