package gatewaytest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// RunClients runs the tests of OAuth clients. open makes a new world.
func RunClients(t *testing.T, open func(t *testing.T) World) {
	run(t, open, map[string]func(*testing.T, World){
		"a life": clientLife, "lists": clientLists, "names that are no part of an address": clientNames, "no tokens": clientTokens, "no gateway": clientsAway,
	})
}

const clientSecret = "wY2YxYzU4NGEtM2I4Zi00"

func ordersClient(id string) gateway.ClientName { return gateway.ClientName{API: "orders", ID: id} }

func sampleClient(t *testing.T, id string) gateway.Client {
	t.Helper()
	return gateway.Client{ID: id, Secret: clientSecret, RedirectURI: "https://a.example/cb,https://b.example/cb", Policy: "gold", Description: "The shop", Meta: doctest.Node(t, `{"team":"a"}`)}
}

func sameClient(a, b gateway.Client) bool {
	meta := a.Meta.Equal(b.Meta)
	a.Meta, b.Meta = nil, nil
	return meta && a == b
}

func clientLife(t *testing.T, w World) {
	ctx, c := t.Context(), sampleClient(t, "shop")
	for range 2 { // the call can be repeated
		if err := w.Clients.PutClient(ctx, Org, "orders", c); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := w.Clients.Client(ctx, Org, ordersClient("shop")); err != nil || !sameClient(got, c) {
		t.Errorf("%+v, %v", got, err)
	}
	c.Description, c.Meta, c.Secret = "Another", nil, "vjM2YxYzU4NGEtM2I4Zi00"
	if err := w.Clients.PutClient(ctx, Org, "orders", c); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Clients.Client(ctx, Org, ordersClient("shop")); err != nil || !sameClient(got, c) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := w.Clients.PutClient(ctx, Org, "nowhere", c); !errors.Is(err, gateway.ErrRefused) || strings.Contains(err.Error(), c.Secret) {
		t.Error(err)
	}
	for range 2 { // the second time, it is gone already
		if err := w.Clients.DeleteClient(ctx, Org, ordersClient("shop")); err != nil {
			t.Error(err)
		}
	}
	if _, err := w.Clients.Client(ctx, Org, ordersClient("shop")); !errors.Is(err, gateway.ErrUnknown) {
		t.Error(err)
	}
}

func clientLists(t *testing.T, w World) {
	ctx := t.Context()
	for _, id := range []string{"b", "c", "a"} {
		if err := w.Clients.PutClient(ctx, Org, "orders", sampleClient(t, id)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Clients.PutClient(ctx, Org, "claims", sampleClient(t, "b")); err != nil {
		t.Fatal(err)
	}
	for api, want := range map[string][]string{"orders": {"a", "b", "c"}, "claims": {"b"}, "nowhere": nil} {
		list, err := w.Clients.ListClients(ctx, Org, api)
		var ids []string
		for _, c := range list {
			ids = append(ids, c.ID)
		}
		if err != nil || !slices.Equal(ids, want) {
			t.Errorf("%s: %v, %v", api, ids, err)
		}
	}
	for id, want := range map[string][]string{"b": {"claims", "orders"}, "a": {"orders"}, "none": {}} {
		if apis, err := w.Clients.ClientAPIs(ctx, Org, id); err != nil || !slices.Equal(apis, want) {
			t.Errorf("%s: %v, %v", id, apis, err)
		}
	}
	if apis, err := w.Clients.ClientAPIs(ctx, Other, "b"); err != nil || len(apis) != 0 {
		t.Errorf("another organisation: %v, %v", apis, err)
	}
}

func clientNames(t *testing.T, w World) {
	for _, id := range []string{"../../keys", "..", "a/b", "x?y#z"} {
		if _, err := w.Clients.Client(t.Context(), Org, ordersClient(id)); !errors.Is(err, gateway.ErrUnknown) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func clientTokens(t *testing.T, w World) {
	ctx := t.Context()
	if err := w.Clients.PutClient(ctx, Org, "orders", sampleClient(t, "shop")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []gateway.ClientName{ordersClient("shop"), ordersClient("none")} {
		if list, err := w.Clients.ClientTokens(ctx, Org, name); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
	}
	if err := w.Clients.RevokeToken(ctx, Org, "shop", "eyJvcmciOiJvMSJ9", "access_token"); err != nil {
		t.Error(err)
	}
	if err := w.Clients.RevokeTokens(ctx, Org, "shop", clientSecret); err != nil {
		t.Error(err)
	}
	if n, err := w.Clients.Authorize(ctx, Org, gateway.Authorization{Client: ordersClient("shop"), ListenPath: "/orders/", ResponseType: "code"}); !errors.Is(err, gateway.ErrRefused) {
		t.Errorf("an API without OAuth issues %v, %v", n, err)
	}
}

func clientsAway(t *testing.T, w World) {
	ctx, c := t.Context(), w.Away.Clients
	every := map[string]error{}
	every["put"] = c.PutClient(ctx, Org, "orders", sampleClient(t, "new"))
	_, every["read"] = c.Client(ctx, Org, ordersClient("shop"))
	_, every["list"] = c.ListClients(ctx, Org, "orders")
	_, every["APIs"] = c.ClientAPIs(ctx, Org, "shop")
	_, every["tokens"] = c.ClientTokens(ctx, Org, ordersClient("shop"))
	every["revoke"] = c.RevokeToken(ctx, Org, "shop", "token-1", "")
	every["revoke all"] = c.RevokeTokens(ctx, Org, "shop", clientSecret)
	_, every["authorize"] = c.Authorize(ctx, Org, gateway.Authorization{Client: ordersClient("shop"), ListenPath: "/orders/", ResponseType: "code", KeyRules: doc.NewObject()})
	every["delete"] = c.DeleteClient(ctx, Org, ordersClient("shop"))
	for name, err := range every {
		if !errors.Is(err, gateway.ErrUnreachable) || strings.Contains(err.Error(), clientSecret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
