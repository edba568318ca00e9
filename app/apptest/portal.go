package apptest

import (
	"log/slog"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
)

// Portal is the environment of a portal under test.
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
