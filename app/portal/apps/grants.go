package apps

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type (
	planOf      = plan.Plan
	productOf   = product.Product
	catalogueOf = catalogue.Catalogue
)

// CodeGone is the fault code for an access request whose plan or product was deleted.
const CodeGone = "portal_access.gone"

// methodOf returns the method that issues credentials for a request.
func methodOf(r request.Request) string {
	switch {
	case r.DCREnabled:
		return issuers.Registration
	case r.AuthType == request.JWT:
		return issuers.Nothing
	case r.AuthType == request.MultiAuth:
		return issuers.Certified
	case r.AuthType == request.OAuth:
		return issuers.Client
	}
	return issuers.Tokens
}

// CodeMethod is the fault code for an authentication method without an issuer.
const CodeMethod = "portal_access.method"

// issuer returns the issuer for a method.
func (s *Service) issuer(method, authType string) (issuers.Issuer, error) {
	out, known := s.Issuers[method]
	if !known || method == issuers.Tokens && authType != request.AuthToken {
		return nil, fault.New(fault.Invalid, CodeMethod, "the portal issues no credentials for the authentication method %s", authType)
	}
	return out, nil
}

// bearer returns the data about an app and its owner that go into a credential.
func (s *Service) bearer(ctx context.Context, r store.Reader, a application.App) (b credential.Bearer, err error) {
	owner, err := portal.Find(ctx, r, people.Users, a.UserID.String())
	if err != nil {
		return b, gone("the owner of the app", err)
	}
	b = credential.Bearer{App: a.ID, Name: a.Name, Developer: owner.ID, Organisation: owner.OrganisationID, Teams: owner.Teams}
	if s.Describe != nil {
		b.Names, err = s.Describe(ctx, r, owner)
	}
	return b, err
}

// gone turns a NotFound error into CodeGone.
func gone(what string, err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return fault.New(fault.Invalid, CodeGone, "%s does not exist any more", what)
	}
	return err
}

// grant returns the grant for access to products under a plan.
func (s *Service) grant(ctx context.Context, r store.Reader, a application.App, planID table.ID, list []table.ID) (*issuers.Grant, error) {
	g := &issuers.Grant{App: a, At: s.Now().UTC()}
	var err error
	if g.Bearer, err = s.bearer(ctx, r, a); err != nil {
		return nil, err
	}
	p, err := portal.Find(ctx, r, plans.Kind, planID.String())
	if err != nil {
		return nil, gone("the plan", err)
	}
	g.Provider, g.Plan = p.ProviderID, issuers.Plan{ID: p.ID, Policy: p.Ref.Name(), Ref: p.Ref, Scopes: p.Scopes(), KeyExpiresIn: p.KeyExpiresIn}
	g.Products, err = opened(ctx, r, list, false)
	return g, err
}

// opened returns products as issuers need them. lenient leaves out products that were
// deleted.
func opened(ctx context.Context, r store.Reader, list []table.ID, lenient bool) (out []issuers.Product, err error) {
	for _, id := range list {
		v, err := products.Kind.Get(ctx, r, id.Key())
		switch p := v.Value; {
		case fault.KindOf(err) == fault.NotFound && lenient:
			continue
		case err == nil && p.Away() && !lenient, fault.KindOf(err) == fault.NotFound:
			return nil, gone("product "+id.String(), products.Kind.Absent())
		case err != nil:
			return nil, err
		default:
			out = append(out, issuers.Product{ID: p.ID, Policy: p.Ref.Name(), Ref: p.Ref, APIs: p.IDs(), Scopes: p.ScopeList(), Bind: p.BindCertificateToToken, Managed: p.Mode() == product.Managed, Away: p.Away()})
		}
	}
	return out, nil
}

// limits returns the plan of a credential that is revoked or changed; the zero Plan if it was
// deleted.
func limits(ctx context.Context, r store.Reader, id table.ID) (issuers.Plan, error) {
	v, err := plans.Kind.Get(ctx, r, id.Key())
	if err != nil {
		return issuers.Plan{}, fault.AbsentFine(err)
	}
	return issuers.Plan{ID: v.Value.ID, Policy: v.Value.Ref.Name(), Ref: v.Value.Ref, Scopes: v.Value.Scopes()}, nil
}

// held returns the grant for an existing credential. With lenient, its products and plan may
// have been deleted.
func (s *Service) held(ctx context.Context, r store.Reader, c credential.Credential, lenient bool) (g *issuers.Grant, err error) {
	a, err := portal.Find(ctx, r, Kind, c.AppID.String())
	if err != nil && !lenient {
		return nil, err
	}
	if lenient {
		g = &issuers.Grant{App: a, At: s.Now().UTC(), Provider: c.ProviderID}
		if a.ID != 0 {
			if g.Bearer, err = s.bearer(ctx, r, a); err != nil && fault.CodeOf(err) != CodeGone {
				return nil, err
			}
		}
		if g.Products, err = opened(ctx, r, c.Products, true); err != nil {
			return nil, err
		}
		if g.Plan, err = limits(ctx, r, c.PlanID); err != nil {
			return nil, err
		}
	} else if g, err = s.grant(ctx, r, a, c.PlanID, c.Products); err != nil {
		return nil, err
	}
	g.Credential, g.Request, g.Provider = c.ID, c.RequestID, c.ProviderID
	if c.Custom != nil {
		g.ClientType = c.Custom.ClientType
	} else if req, err := portal.Find(ctx, r, Requests, c.RequestID.String()); err == nil {
		g.ClientType = req.ClientTypeID
	}
	is, err := Credentials.Get(ctx, r, c.ID.Key())
	if err != nil {
		return nil, err
	}
	g.Serial = is.Serial
	g.Was, err = s.opened(c)
	g.Values = g.Was
	return g, err
}
