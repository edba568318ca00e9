package idps

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var _ issuers.Scoped = Issuer{}

// Outdated implements issuers.Scoped. Without a registry, an approval writes the scopes to API
// definitions and clients together, so clients keep their scopes until then. A client that cannot
// be changed keeps its scopes as well.
func (s Issuer) Outdated(ctx context.Context, r store.Reader, g *issuers.Grant) (at table.ID, is bool, err error) {
	var m memo
	if !s.Registry || g.Was.RegistrationURI == "" || json.Unmarshal(g.Was.Own, &m) != nil {
		return 0, false, nil
	}
	rec, there, err := get(ctx, r, clients, idp.Registered{App: m.App, IdP: m.IdP}.Key())
	if err != nil || !there {
		return 0, false, err
	}
	has, claimed := rec.Claimed(m.Claim)
	want := scopes(g, g.Products)
	set := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	return m.IdP, claimed && len(want) > 0 && !slices.Equal(set(has), set(want)), nil
}

// Answers implements issuers.Scoped.
func (s Issuer) Answers(ctx context.Context, scope tenant.Scope, id table.ID) error {
	var p idp.Provider
	err := s.Store.View(ctx, scope, func(r store.Reader) error {
		v, err := Kind.Get(ctx, r, id.Key())
		p = v.Value
		return err
	})
	if err != nil {
		return err
	}
	at, err := s.at(p)
	if err == nil {
		_, err = s.Registrar.Discover(ctx, at)
	}
	return explain(err)
}
