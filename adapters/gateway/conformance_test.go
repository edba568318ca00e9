// Package gateway_test runs the same conformance tests on all implementations of the
// control API of gateways.
package gateway_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/gateway/local"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/gateway/gatewaytest"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// away is a store that does not answer.
type away struct{}

func (away) View(context.Context, tenant.Scope, func(store.Reader) error) error {
	return store.ErrUnavailable
}

func (away) Update(context.Context, tenant.Scope, func(store.Writer) error) (store.Revision, error) {
	return 0, store.ErrUnavailable
}

func newLocal(t *testing.T) gatewaytest.World {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range gatewaytest.Policies {
		p, err := policy.Load([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		scope, err := tenant.Of(p.OrgID())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Update(t.Context(), scope, func(w store.Writer) error { return policies.Kind.Insert(t.Context(), w, p) }); err != nil {
			t.Fatal(err)
		}
	}
	secrets, err := crypto.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	keys := local.Keys{Store: db, Secrets: secrets, Passwords: crypto.Passwords{Iterations: 1}, NewID: crypto.NewID(time.Now), Now: time.Now,
		Policy: policies.AtGateways}
	control := func(st store.Store) gateway.Control {
		k, shelf := keys, local.Shelf{Store: st, Secrets: secrets}
		k.Store = st
		return gateway.Control{
			Keys: &k, Certificates: &local.Certificates{Shelf: shelf},
			Clients: &local.Clients{Shelf: shelf, NewID: keys.NewID, Loaded: func(_ context.Context, _ store.Reader, api string) (bool, error) {
				return slices.ContainsFunc(gatewaytest.APIs, func(a gatewaytest.API) bool { return a.ID == api }), nil
			}},
			Installation: &local.Installation{Shelf: shelf},
		}
	}
	return gatewaytest.World{Control: control(db), Away: control(away{}), Org: gatewaytest.Org, Other: gatewaytest.Other}
}

func TestLocalKeys(t *testing.T) { gatewaytest.RunKeys(t, newLocal) }

func TestLocalClients(t *testing.T) { gatewaytest.RunClients(t, newLocal) }

func TestLocalCertificates(t *testing.T) { gatewaytest.RunCertificates(t, newLocal) }

func TestLocalInstallation(t *testing.T) { gatewaytest.RunInstallation(t, newLocal) }
