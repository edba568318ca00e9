// Package idps has the operations on the identity providers at which the portal registers
// clients, and on client types (docs/wire/portal-oauth-providers.md).
package idps

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/registration"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Config is the configuration of a Service.
type Config struct {
	crud.Tools
	Keys secret.Keys
	// Registrar calls identity providers.
	Registrar registration.Registrar
	// Open returns the dashboard of a provider of the portal.
	Open synchronise.Providers
	// Registry says that dashboards learn about clients from their registry of client
	// IdPs, rather than from the definitions of APIs.
	Registry bool
}

// Service has the operations on identity providers.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// The kinds of providers and client types.
var (
	Kind     = portal.KindOf[idp.Provider]()
	TypeKind = portal.KindOf[idp.ClientType]()
)

// Codes of faults.
const (
	CodeUsed = "portal_oauth_provider.used"
	CodeMany = "portal_oauth_provider.many"
)

// maxBody bounds request bodies in bytes: a few texts.
const maxBody = 256 << 10

// strict sets the statuses of writes: 400 for invalid input, 404 for missing records.
func strict() operation.Option {
	bad := operation.Answer{Status: 400}
	return operation.Answers(map[string]operation.Answer{"invalid": bad, "conflict": bad})
}

// Resource defines providers as a resource.
func (s *Service) Resource() portal.Resource[idp.Provider, Listed, Shown] {
	return portal.Resource[idp.Provider, Listed, Shown]{
		Kind: Kind, Name: "portal-oauth-providers", Path: "/oauth-providers", Param: "provider_id", One: "an identity provider", Many: "identity providers",
		List: list, Show: show, Sealed: func(p *idp.Provider) *string { return &p.Sealed },
		Sample: idp.Provider{Name: "Acme login", Type: idp.Keycloak, WellKnownURL: "https://login.example.com/realms/acme/.well-known/openid-configuration"},
		Hooks:  portal.Announcing(portal.Hooks[idp.Provider]{Check: unused, Before: s.before, After: after}, s.announced),
		Rows: func(o portal.Operations[idp.Provider, Listed, Shown]) []operation.Row {
			writing := []operation.Option{strict(), operation.Redact("RegistrationAccessToken"), operation.Limits(maxBody, 0), operation.Faulting(table.CodeInvalid, CodeMany)}
			return []operation.Row{
				o.ListRow(), portal.CreateRowAs(o, func(v Shown) Listed { return v.Listed }, writing...), o.GetRow(), o.UpdateRow(writing...),
				o.ForcedDeleteRow(strict(), operation.Faulting(CodeUsed), operation.Notes("With force=true, the client types of the provider are deleted and removed from products, access requests for them are rejected, and their clients are deleted where possible.")),
			}
		},
	}
}

// TypeResource defines client types as a resource.
func (s *Service) TypeResource() portal.Resource[idp.ClientType, Type, Type] {
	return portal.Resource[idp.ClientType, Type, Type]{
		Kind: TypeKind, Name: "portal-client-types", Path: "/oauth-providers/{provider_id}/client-types", Param: "client_type_id", One: "a client type", Many: "client types",
		Above: &portal.Above{Kind: idp.Kind, Param: "provider_id"},
		List:  listType, Show: listType,
		Sample: idp.ClientType{
			Name: "Web application", Description: "With a server", ResponseTypes: "code", GrantType: "authorization_code,refresh_token", TokenEndpointAuthMethod: "client_secret_basic", OktaAppType: idp.OktaWeb,
		},
		Begin: func(t *idp.ClientType, parent table.ID) { t.ProviderID = parent },
		Hooks: portal.Announcing(portal.Hooks[idp.ClientType]{Check: fitting, Before: settled, After: detached}, func(ctx context.Context, c *portal.Change[idp.ClientType]) {
			if done, ok := c.Memo.(ended); ok && c.Op == store.Deleted {
				s.withdraw(context.WithoutCancel(ctx), c.Scope, done)
			}
		}),
		Rows: func(o portal.Operations[idp.ClientType, Type, Type]) []operation.Row {
			writing := []operation.Option{strict(), operation.Limits(maxBody, 0), operation.Faulting(table.CodeInvalid, CodeMany)}
			return []operation.Row{
				o.ListRow(), o.CreateRow(writing...), o.GetRow(), o.UpdateRow(writing...),
				o.ForcedDeleteRow(strict(), operation.Faulting(CodeUsed), operation.Notes("With force=true, the client type is removed from products, access requests for it are rejected, and its clients are deleted where possible.")),
			}
		},
	}
}

// unused refuses to delete a provider whose client types are named by products, unless the
// client forces it.
func unused(ctx context.Context, r store.Reader, c *portal.Change[idp.Provider]) error {
	if c.Op != store.Deleted || c.Force {
		return nil
	}
	all, err := typesOf(ctx, r, c.Old.ID)
	if err != nil {
		return err
	}
	return free(ctx, r, "identity provider", all...)
}

// free returns a fault if a client type is in use: a product that is not deleted names it,
// or an access request for it has not been rejected, so that its credentials would end.
func free(ctx context.Context, r store.Reader, what string, all ...idp.ClientType) error {
	var ids []table.ID
	for _, t := range all {
		ids = append(ids, t.ID)
		named, err := products.Typed(ctx, r, t.ID)
		if err != nil {
			return err
		}
		named = slices.DeleteFunc(named, func(p product.Product) bool { return !p.DeletedAt.IsZero() })
		if len(named) > 0 {
			return fault.New(fault.Invalid, CodeUsed, "%s is used by the product %s: take it off, or delete it with force=true", what, named[0].Title())
		}
	}
	open, err := requested(ctx, r, ids)
	if err == nil && len(open) > 0 {
		err = fault.New(fault.Invalid, CodeUsed, "%s is used by the access request %s: reject it, or delete with force=true", what, open[0])
	}
	return err
}

// before refuses a provider over the limit, and seals the token in the request.
func (s *Service) before(ctx context.Context, w store.Writer, c *portal.Change[idp.Provider]) (err error) {
	if c.Op == store.Deleted {
		return nil
	}
	if c.Op == store.Created {
		n, err := w.Count(ctx, store.Query{Kind: idp.Kind})
		if err != nil {
			return err
		}
		if n >= idp.MaxProviders {
			return fault.New(fault.Invalid, CodeMany, "there are too many identity providers (the maximum is %d)", idp.MaxProviders)
		}
	}
	if !c.Sent.Has("RegistrationAccessToken") {
		return nil
	}
	if c.New.Sealed = ""; c.New.Token != "" {
		c.New.Sealed, err = s.Keys.Seal(c.New.Token)
	}
	return err
}

// after deletes the client types of a deleted provider, with what depends on them.
func after(ctx context.Context, w store.Writer, c *portal.Change[idp.Provider]) error {
	if c.Op != store.Deleted {
		return nil
	}
	all, err := typesOf(ctx, w, c.Old.ID)
	if err != nil {
		return err
	}
	var ids []table.ID
	for _, t := range all {
		ids = append(ids, t.ID)
		if err := detach(ctx, w, t.ID, c.At.Now()); err != nil {
			return err
		}
		if err := portal.Remove(ctx, w, TypeKind, t.ID, c.At); err != nil {
			return err
		}
	}
	if c.Memo, err = reject(ctx, w, c.At, ids...); err != nil {
		return err
	}
	// Its entries at dashboards are marked for removal, and its approvals deleted.
	known, err := find(ctx, w, entries, byIdP, c.Old.ID)
	for _, e := range known {
		if e.Gone = true; err == nil {
			err = put(ctx, w, entries, e)
		}
	}
	if err != nil {
		return err
	}
	list, err := find(ctx, w, approvals, byIdP, c.Old.ID)
	for _, a := range list {
		if err == nil {
			err = drop(ctx, w, approvals, a.Key())
		}
	}
	return err
}

// typesOf returns the client types of a provider in order of number.
func typesOf(ctx context.Context, r store.Reader, id table.ID) ([]idp.ClientType, error) {
	return store.Collect(portal.All(ctx, r, TypeKind, id))
}
