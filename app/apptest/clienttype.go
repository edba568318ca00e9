package apptest

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// clientType is a client type as its own resource will store it.
type clientType struct {
	table.Base
	Name, Description, GrantType, OktaAppType string
}

// Table implements table.Row.
func (clientType) Table() *table.Table[clientType] {
	return &table.Table[clientType]{Kind: product.TemplateKind, Noun: "client type", Base: func(t *clientType) *table.Base { return &t.Base }}
}

// ClientTypes stores client types in a portal, with the numbers from 1: no operation
// makes them yet.
func ClientTypes(ctx context.Context, st store.Store, in tenant.Scope, names ...string) error {
	_, err := st.Update(ctx, in, func(w store.Writer) error {
		for i, name := range names {
			made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			v := clientType{Name: name, GrantType: "authorization_code", OktaAppType: "web"}
			v.Base = table.Base{ID: table.ID(i + 1), Portal: in.Org(), CID: table.NewCID(made, name), CreatedAt: made, UpdatedAt: made}
			if err := portal.KindOf[clientType]().Insert(ctx, w, v); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
