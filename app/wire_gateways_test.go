package app_test

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/gateway/local"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// issuing is what lives in gateways that also issue tokens.
type issuing struct{ *local.Clients }

func (i issuing) Authorize(_ context.Context, org tenant.ID, a gateway.Authorization) (*doc.Node, error) {
	if a.ListenPath != "/orders/" || a.KeyRules != nil && a.KeyRules.Get("org_id").Text() != string(org) {
		return nil, gateway.ErrRefused
	}
	out := doc.NewObject()
	out.Set("code", doc.NewString("c0de"))
	out.Set("redirect_to", doc.NewString(a.RedirectURI+"?code=c0de"))
	return out, nil
}

func (issuing) ClientTokens(context.Context, tenant.ID, gateway.ClientName) ([]gateway.ClientToken, error) {
	return []gateway.ClientToken{{Code: "5a7d110b", Expires: 1767330000}, {Code: "6b8e221c", Expires: 1767331000}}, nil
}

// noStore is a store that does not answer, as gateways that are away.
type noStore struct{}

func (noStore) View(context.Context, tenant.Scope, func(store.Reader) error) error {
	return errors.New("dial tcp 10.0.0.7:8080: connection refused")
}

func (noStore) Update(context.Context, tenant.Scope, func(store.Writer) error) (store.Revision, error) {
	return 0, errors.New("dial tcp 10.0.0.7:8080: connection refused")
}

// withGateways lets gateways keep their things in a store of their own.
func withGateways(st store.Store) app.Option { return app.WithGatewayControl(gatewaysOf(st)) }

func gatewaysOf(st store.Store) gateway.Control {
	secrets, err := crypto.NewKeys("a secret of the gateways")
	if err != nil {
		panic(err)
	}
	shelf := local.Shelf{Store: st, Secrets: secrets}
	return gateway.Control{
		Certificates: &local.Certificates{Shelf: shelf},
		Clients: issuing{&local.Clients{Shelf: shelf, NewID: apptest.Numbered("%024x"), Loaded: func(_ context.Context, _ store.Reader, api string) (bool, error) {
			return api == "orders", nil
		}}},
		Keys: &local.Keys{Store: st, Secrets: secrets, Passwords: crypto.Passwords{Iterations: 2}, NewID: apptest.Numbered("%024x"), Now: apptest.Clock(),
			Policy: func(context.Context, store.Reader, string) (*doc.Node, error) { return nil, gateway.ErrRefused }},
	}
}

// ownStore is a store of gateways.
func ownStore() store.Store {
	db, err := memdb.New(apptest.Clock())
	if err != nil {
		panic(err)
	}
	return db
}

// gatewaySwitches are what transcripts about things in gateways need.
func gatewaySwitches(file string) []app.Option {
	switch file {
	case "oauth-issued.txt":
		return []app.Option{withGateways(ownStore()), app.WithRedirectSeparator(";")}
	case "gateways-away.txt":
		return []app.Option{withGateways(noStore{})}
	}
	return nil
}
