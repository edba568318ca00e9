package feed

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// ClientIDP returns the entry of an identity provider (docs/wire/feeds.md#client-idps).
// Gateways identify a provider by its client_idp_id, and two providers with the same one break
// each other: if several organisations have chosen the same ID, all but one are identified by
// _id. Gateways ignore organisations, so mappings to APIs that only other organisations have
// are left out; orgs returns the organisations with an API. record is a stored provider, an
// object with any content.
func ClientIDP(record []byte, orgs func(apiID string) []tenant.ID) Entry {
	n, err := doc.ParseNode(record)
	if err != nil || !n.Get("api_mappings").Is(doc.Absent, doc.TypeObject) {
		return Broken("an identity provider")
	}
	if problems := registry.Type.Check(n); problems != nil {
		return Entry{Problems: problems}
	}
	p, err := registry.Load(record)
	if err != nil {
		return Broken("an identity provider")
	}
	if n, err = doc.ParseNode(p.AppendFeed(nil)); err != nil {
		return Broken("an identity provider")
	}
	kept := doc.NewObject()
	for api, m := range n.Get("api_mappings").Members() {
		if with := orgs(api); len(with) == 0 || slices.Contains(with, p.OrgID) {
			kept.Set(api, m)
		}
	}
	n.Set("api_mappings", kept)
	e := Entry{Text: n.JSON(), Name: p.ClientIdPID, Since: p.Created}
	if p.ClientIdPID != p.ID {
		n.Set("client_idp_id", doc.NewString(p.ID))
		e.Other = n.JSON()
	}
	return e
}
