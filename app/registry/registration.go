package registry

import (
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Registration is what identity providers bring: they name APIs and policies, in
// their mappings.
func Registration() crud.Registration {
	return crud.Facts[registry.IdP]{
		Kind: clientIDPs, Name: func(p registry.IdP) string { return p.Name }, Uses: uses,
		Announces: signal.Always(signal.ClientIdPChanged, clientIDPs.Alias),
		Feed:      Feed(),
		Sample: func(at crud.Stamp) (registry.IdP, error) {
			d := registry.Draft{ClientIdPID: "corp", Name: "Corporate login", JWKSURI: "https://login.example.com/jwks.json",
				APIMappings: registry.Mappings{}.With("orders", exampleMapping)}
			return registry.New(at.ID, at.Org, at.Now, d)
		},
	}.Registration()
}

// Feed is the feed of the registry of identity providers.
func Feed() *gateway.Source {
	return &gateway.Source{Name: "clientidps", What: "client IdP", Kind: registry.Kind, Uses: []string{apidef.Kind}, Entry: func(rec store.Record, l gateway.Lookup) feed.Entry {
		return feed.ClientIDP(rec.Doc, func(apiID string) []tenant.ID { return l.Orgs(apidef.Kind, "api_id", apiID) })
	}}
}
