package registry

import (
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Feed is the feed of the registry of identity providers.
func Feed() *gateway.Source {
	return &gateway.Source{Name: "clientidps", What: "client IdP", Kind: registry.Kind, Uses: []string{apidef.Kind}, Entry: func(rec store.Record, l gateway.Lookup) feed.Entry {
		return feed.ClientIDP(rec.Doc, func(apiID string) []tenant.ID { return l.Orgs(apidef.Kind, "api_id", apiID) })
	}}
}
