package idps

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Issuer issues clients that are registered with identity providers.
type Issuer struct{ *Service }

var _ issuers.Issuer = Issuer{}

// memo is the data of the steps besides the grant. The claim identifies the credential: it
// is the idempotency key of the registration, so that a retry finds the client of an
// earlier attempt.
type memo struct {
	Claim    string
	App, IdP table.ID
	// Added are the additions to the definitions of APIs; nil: the definitions were not
	// read yet.
	Added map[string]idp.Added `json:",omitempty"`
}

// Codes of the faults of grants.
const (
	CodeRotate = "portal_oauth_provider.rotate"
	CodeMethod = "portal_oauth_provider.method"
	CodeType   = "portal_oauth_provider.type"
)

// Prepare implements issuers.Issuer.
func (s Issuer) Prepare(ctx context.Context, r store.Reader, act issuers.Act, g *issuers.Grant) (err error) {
	var m memo
	switch act {
	case issuers.Rotate:
		return fault.New(fault.Invalid, CodeRotate, "clients of identity providers can't be rotated: delete the credential, and request access again")
	case issuers.Issue:
		t, p, err := s.typeOf(ctx, r, g.ClientType)
		if err != nil {
			return err
		}
		if g.IdP != 0 && g.IdP != p.ID {
			return fault.New(fault.Invalid, CodeType, "ClientTypeID is not a client type of the identity provider")
		}
		if err := s.grantable(ctx, r, g); err != nil {
			return err
		}
		if _, err := t.Request(p.Type, wanted(g)); err != nil {
			return err
		}
		m = memo{Claim: s.Keys.NewKey(), App: g.App.ID, IdP: p.ID}
	default:
		if len(g.Was.Own) > 0 {
			if err := json.Unmarshal(g.Was.Own, &m); err != nil {
				return err
			}
		}
		if act == issuers.Change {
			if err := s.grantable(ctx, r, g); err != nil && (g.Grows || len(g.Products) > len(g.Before)) {
				return err
			}
		}
	}
	g.Memo, err = json.Marshal(m)
	return err
}

// typeOf returns a client type and its provider.
func (s Issuer) typeOf(ctx context.Context, r store.Reader, id table.ID) (idp.ClientType, idp.Provider, error) {
	t, err := portal.Find(ctx, r, TypeKind, id.String())
	if fault.KindOf(err) == fault.NotFound {
		err = fault.New(fault.Invalid, CodeType, "the client type of the access request does not exist any more")
	}
	if err != nil {
		return t, idp.Provider{}, err
	}
	p, err := portal.Find(ctx, r, Kind, t.ProviderID.String())
	return t, p, err
}

// grantable refuses products and plans whose tokens could not be told apart.
func (s Issuer) grantable(ctx context.Context, r store.Reader, g *issuers.Grant) error {
	for _, one := range g.Products {
		p, err := products.Kind.Get(ctx, r, one.ID.Key())
		if err != nil {
			return err
		}
		if p.Value.AuthType() != "jwt" {
			return fault.New(fault.Invalid, CodeMethod, "the APIs of the product %s authenticate by %s: clients that are registered need JWT", p.Value.Title(), p.Value.AuthType())
		}
		if err := idp.CheckScopes(p.Value.Title(), one.Scopes); err != nil {
			return err
		}
	}
	if len(g.Plan.Scopes) == 0 {
		return fault.New(fault.Invalid, idp.CodeScope, "JWTScope of the plan can't be blank: tokens of clients say by it how much they may call")
	}
	return nil
}

// scopes returns the scopes of products and of the plan.
func scopes(g *issuers.Grant, list []issuers.Product) (out []string) {
	for _, p := range list {
		out = idp.Grown(out, p.Scopes)
	}
	return idp.Grown(out, g.Plan.Scopes)
}

func wanted(g *issuers.Grant) idp.Wanted {
	return idp.Wanted{Name: g.App.Name, Redirects: g.App.Redirects(), Scopes: scopes(g, g.Products)}
}

// Steps implements issuers.Issuer.
func (s Issuer) Steps(org tenant.ID, act issuers.Act, g *issuers.Grant) []intents.Step {
	a := acting{Service: s.Service, org: org, g: g}
	if err := json.Unmarshal(g.Memo, &a.memo); err != nil {
		return []intents.Step{{Name: "read the memo", Do: func(context.Context) error { return err }}}
	}
	var look []intents.Step
	if !s.Registry {
		look = []intents.Step{{Name: "look at the definitions", Do: a.look, Undo: a.undefine, Notes: true}}
	}
	switch act {
	case issuers.Issue:
		return append(look,
			intents.Step{Name: "register the client", Do: a.register, Undo: a.withdraw},
			intents.Step{Name: "tell the dashboard of its scopes", Do: a.tell, Undo: a.untell},
		)
	case issuers.Change:
		before := a
		if g.Earlier.ID != 0 {
			back := *g
			back.Plan, before.g = g.Earlier, &back
		}
		return append(look,
			intents.Step{Name: "change the client", Do: a.change(g.Products), Undo: before.change(g.Before)},
			intents.Step{Name: "tell the dashboard of its scopes", Do: a.tell, Undo: a.untell},
		)
	}
	if act == issuers.Spread { // a repair to the desired state is not undone
		return []intents.Step{{Name: "change the scopes of the client", Do: a.change(g.Products)}}
	}
	if act == issuers.Follow {
		back := *g
		back.App = g.Formerly
		before := acting{Service: s.Service, org: org, g: &back, memo: a.memo}
		return []intents.Step{{Name: "change the redirections of the client", Do: a.change(g.Products), Undo: before.change(g.Products)}}
	}
	return []intents.Step{{Name: "delete the client", Do: a.withdraw}}
}

// Discard implements issuers.Issuer: nothing is rotated.
func (Issuer) Discard(tenant.ID, *issuers.Grant) []intents.Step { return nil }
