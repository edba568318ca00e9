package gateway

import (
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// APIs is the source of /system/apis: every active API of every class (contract
// gateway.md 3), with webhooks as they are now. Gateways know an API by its
// api_id alone; where gateways are separate, each loads only one of several.
func APIs(separate bool) Source {
	s := Source{Name: "apis", What: "active API", Kind: apidef.Kind, Uses: []string{webhook.Kind}, Entry: apiEntry}
	if separate {
		s.Entry = func(rec store.Record, l Lookup) feed.Entry {
			e := apiEntry(rec, l)
			e.Name = ""
			return e
		}
	}
	return s
}

func apiEntry(rec store.Record, l Lookup) feed.Entry {
	o, err := doc.LoadObject(rec.Doc)
	if err != nil {
		return feed.Broken("an API")
	}
	return feed.API(o, func(id string) (webhook.Hook, bool) {
		found, ok := l.Record(webhook.Kind, id)
		if !ok {
			return webhook.Hook{}, false
		}
		h, err := webhook.Load(found.Doc)
		return h, err == nil
	})
}

// Policies is the source of /system/policies: every policy that is published
// (contract gateway.md 4).
func Policies() Source {
	return Source{Name: "policies", What: "published policy", Kind: policy.Kind, Entry: policyEntry}
}

func policyEntry(rec store.Record, _ Lookup) feed.Entry {
	p, err := policy.Load(rec.Doc)
	switch {
	case err != nil:
		return feed.Broken("a policy")
	case !p.Published():
		return feed.Entry{}
	}
	return feed.Of(p.Entry())
}

// ClientIDPs is the source of /system/clientidps: the registry of identity
// providers (contract gateway.md 5).
func ClientIDPs() Source {
	return Source{Name: "clientidps", What: "client IdP", Kind: registry.Kind, Uses: []string{apidef.Kind}, Entry: clientIDPEntry}
}

func clientIDPEntry(rec store.Record, l Lookup) feed.Entry {
	return feed.ClientIDP(rec.Doc, func(apiID string) []tenant.ID { return l.Orgs(apidef.Kind, "api_id", apiID) })
}
