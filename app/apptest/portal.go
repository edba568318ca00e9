package apptest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Portal is what a portal under test stands on.
type Portal struct {
	DB    *memdb.DB
	Tools crud.Tools
	Keys  secret.Keys
	Scope tenant.Scope
}

// NewPortal returns a portal with a store of its own.
func NewPortal(t testing.TB) Portal {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := crypto.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	return Portal{DB: db, Keys: keys}.Beside(t, "portal:test")
}

// Beside returns another portal in the same store.
func (p Portal) Beside(t testing.TB, org tenant.ID) Portal {
	t.Helper()
	scope, err := tenant.Of(org)
	if err != nil {
		t.Fatal(err)
	}
	p.Scope, p.Tools = scope, crud.Tools{Store: p.DB, Now: time.Now, NewID: Numbered("%d"), Log: slog.New(slog.DiscardHandler)}
	return p
}

// Operations returns the operations of resources, by ID.
func (p Portal) Operations(resources ...crud.Registrar) map[string]operation.Operation {
	out := map[string]operation.Operation{}
	for _, r := range resources {
		for _, o := range r.Registration().Operations(p.Tools) {
			out[o.ID] = o
		}
	}
	return out
}

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
