package rows

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// ListedType is a client type in the list of a product's client types.
type ListedType struct {
	ID   table.ID `json:"ID"`
	Name string   `json:"Name"`
}

// ShownType is the full representation of a client type of a product.
type ShownType struct {
	ListedType
	Description string `json:"Description"`
	GrantType   string `json:"GrantType"`
	OktaAppType string `json:"OktaAppType" doc:"Used only with Okta."`
	CreatedAt   string `json:"CreatedAt"`
	UpdatedAt   string `json:"UpdatedAt"`
}

type (
	typeNamed struct {
		within
		Type string `path:"client_type_id" doc:"Number or CID of the client type."`
	}
	typing struct {
		within
		Body table.Body[choice] `body:""`
	}
)

// choice is a body that names a client type.
type choice struct {
	table.Base
	Type table.ID
}

// Table implements table.Row.
func (choice) Table() *table.Table[choice] { return choices }

var choices = &table.Table[choice]{
	Kind: "portal-client-type-choice", Noun: "client type choice",
	Base:   func(c *choice) *table.Base { return &c.Base },
	Fields: []table.Field[choice]{{Name: "ID", At: func(c *choice) any { return &c.Type }, Required: true, Target: idp.TypeKind}},
}

// typesOf returns the client types of a product.
func typesOf(ctx context.Context, r store.Reader, p product.Product) (out []idp.ClientType, err error) {
	for _, id := range p.Templates {
		t, err := portal.Glance[idp.ClientType](ctx, r, idp.TypeKind, id)
		if err != nil {
			return nil, err
		}
		if t.ID != 0 {
			out = append(out, t)
		}
	}
	return out, nil
}

// typeOf returns one client type of a product.
func typeOf(ctx context.Context, r store.Reader, p product.Product, name string) (idp.ClientType, error) {
	id, found, err := portal.Resolver(ctx, r)(idp.TypeKind, name)
	if err != nil || !found || !slices.Contains(p.Templates, id) {
		if err == nil {
			err = fault.New(fault.NotFound, idp.TypeKind+".not_found", "record not found")
		}
		return idp.ClientType{}, err
	}
	return portal.Glance[idp.ClientType](ctx, r, idp.TypeKind, id)
}

func listedType(t idp.ClientType) ListedType { return ListedType{t.ID, t.Name} }

func shownType(t idp.ClientType) ShownType {
	return ShownType{listedType(t), t.Description, string(t.GrantType), t.OktaAppType, table.Stamp(t.CreatedAt), table.Stamp(t.UpdatedAt)}
}

func (f family) types(ctx context.Context, in listing) (out operation.Listing[ListedType], err error) {
	err = f.Store.View(ctx, in.Scope, func(r store.Reader) error {
		p, err := of(ctx, r, in.within)
		if err != nil {
			return err
		}
		all, err := typesOf(ctx, r, p)
		out = portal.Excerpt(all, in.Page, listedType)
		return err
	})
	return out, err
}

func (f family) oneType(ctx context.Context, in typeNamed) (out ShownType, err error) {
	err = f.Store.View(ctx, in.Scope, func(r store.Reader) error {
		p, err := of(ctx, r, in.within)
		if err != nil {
			return err
		}
		t, err := typeOf(ctx, r, p, in.Type)
		out = shownType(t)
		return err
	})
	return out, err
}

func (f family) attachType(ctx context.Context, in typing) (out ShownType, err error) {
	err = f.update(ctx, in.within, func(ctx context.Context, w store.Writer, p product.Product, _ crud.Stamp) (product.Product, error) {
		var c choice
		if err := in.Body.Apply(&c, true, portal.Resolver(ctx, w)); err != nil {
			return p, err
		}
		if p.Templates, err = with(p.Templates, c.Type); err != nil {
			return p, err
		}
		t, err := typeOf(ctx, w, p, c.Type.String())
		out = shownType(t)
		return p, err
	})
	return out, err
}

func (f family) detachType(ctx context.Context, in typeNamed) (portal.Status, error) {
	return portal.Status{Status: "ok"}, f.update(ctx, in.within, func(ctx context.Context, w store.Writer, p product.Product, _ crud.Stamp) (product.Product, error) {
		t, err := typeOf(ctx, w, p, in.Type)
		p.Templates = without(p.Templates, t.ID)
		return p, err
	})
}
