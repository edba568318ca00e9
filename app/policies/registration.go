package policies

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Registration returns the registration of the kind of policies, which refer to the
// APIs that they give access to. With ownership, a viewer sees a policy through these
// APIs.
func Registration(apis *store.Kind[apidef.API], s Settings) crud.Registration {
	return crud.Facts[policy.Policy]{
		Kind: Kind, Name: policy.Policy.Name, Uses: uses, Find: find,
		Permission: func(policy.Policy) access.Permission { return access.Policies },
		Sight: func(v crud.Viewer) crud.Seeing[policy.Policy] {
			viewer := crud.Viewer{Who: v.Who, Door: access.Policies}.Of(s.Ownership, access.Read)
			if viewer.All {
				return nil
			}
			l := newLookup(apis, viewer)
			return func(ctx context.Context, r store.Reader, p policy.Policy) (bool, error) {
				err := l.fetch(ctx, r, p.APIs())
				return err == nil && l.known.Shown(p.APIs()), err
			}
		},
		Announces: signal.Always(signal.PolicyChanged, byPolicyID),
		Feed:      Feed(s.SeparateGateways),
		Past:      func(p policy.Policy) ([]byte, error) { return json.Marshal(p.View()) },
		Sample: func(at crud.Stamp) (policy.Policy, error) {
			d, err := policy.NewDraft([]byte(`{"name":"Gold","rate":100,"per":60,"access_rights":{"orders":{"api_id":"orders","api_name":"Orders","versions":["Default"]}}}`))
			if err != nil {
				return policy.Policy{}, err
			}
			return policy.New(at.ID, at.Org, at.Now(), d, policy.Checks{})
		},
	}.Registration()
}

// uses yields the APIs that a policy gives access to.
func uses(p policy.Policy) iter.Seq[crud.Use] {
	return func(yield func(crud.Use) bool) {
		for _, id := range p.APIs() {
			if !yield(crud.Use{Target: integrity.Target{Kind: apidef.Kind, ID: id}, Where: where + id}) {
				return
			}
		}
	}
}

// Feed returns the feed of all published policies. Unless gateways are separate, it
// leaves out rights to APIs of other organisations: a gateway that several
// organisations share checks the rights of a key, and not its organisation.
func Feed(separate bool) *gateway.Source {
	return &gateway.Source{Name: "policies", What: "published policy", Kind: policy.Kind, Uses: []string{apidef.Kind}, Entry: func(rec store.Record, l gateway.Lookup) feed.Entry {
		p, err := policy.Load(rec.Doc)
		switch {
		case err != nil:
			return feed.Broken("a policy")
		case !p.Published():
			return feed.Entry{}
		}
		var foreign []string
		for _, id := range p.APIs() {
			if !separate && l.Elsewhere(apidef.Kind, "api_id", id) {
				foreign = append(foreign, id)
			}
		}
		return feed.Of(p.Entry(foreign...))
	}}
}
