package idps_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal/idps"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	core "github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/idp"
	"github.com/gatehouse-io/gatehouse/ports/registration"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// echoing answers every registration with the first client.
type echoing struct {
	registration.Registrar
	first core.Client
}

func (e *echoing) Register(ctx context.Context, at registration.Place, endpoint, key string, metadata *doc.Node) (c core.Client, err error) {
	if e.first.ID == "" {
		e.first, err = e.Registrar.Register(ctx, at, endpoint, key, metadata)
	}
	return e.first, err
}

// TestTwins: a registration that is answered with the client of another app is refused, and
// that app keeps its client.
func TestTwins(t *testing.T) {
	w := openWith(t, idp.Gluu, true, 1)
	w.service.Registrar = &echoing{Registrar: w.service.Registrar}
	orders, gold := w.offer(1, "orders", "shop")
	one, two := grant(7, orders, gold), grant(8, orders, gold)
	if err := w.act(issuers.Issue, one, nil); err != nil {
		t.Fatal(err)
	}
	id, scopes := w.only()
	for range 2 {
		if err := w.act(issuers.Issue, two, nil); fault.CodeOf(err) != idps.CodeTwin || !invalid(err) || !strings.Contains(err.Error(), id) {
			t.Error(err)
		}
	}
	if now, left := w.only(); now != id || len(left) != len(scopes) {
		t.Error(now, left)
	}
	w.view(func(r store.Reader) error {
		n, err := r.Count(t.Context(), store.Query{Kind: core.ClientKind})
		if n != 1 {
			t.Error(n, "clients are known")
		}
		return err
	})
}

// TestTwinsOfOld: if two apps share a client, as in older versions, the first app that is
// deleted leaves the client to the other.
func TestTwinsOfOld(t *testing.T) {
	w := openWith(t, idp.Gluu, true, 1)
	orders, gold := w.offer(1, "orders", "shop")
	one, two := grant(7, orders, gold), grant(8, orders, gold)
	for _, g := range []*issuers.Grant{one, two} {
		if err := w.act(issuers.Issue, g, nil); err != nil {
			t.Fatal(err)
		}
	}
	kind := &store.Kind[core.Registered]{Name: core.ClientKind, ID: core.Registered.Key, Org: func(c core.Registered) tenant.ID { return c.Portal }}
	w.update(func(wr store.Writer) error {
		first, err := kind.Get(t.Context(), wr, core.Registered{App: 7, IdP: 1}.Key())
		if err != nil {
			return err
		}
		_, err = kind.Edit(t.Context(), wr, core.Registered{App: 8, IdP: 1}.Key(), nil, func(c core.Registered) (core.Registered, error) {
			c.ClientID, c.Sealed = first.Value.ClientID, first.Value.Sealed
			return c, nil
		})
		return err
	})
	if err := w.act(issuers.Revoke, one, nil); err != nil || len(w.server.Clients()) != 2 {
		t.Error(err, w.server.Clients())
	}
	if err := w.act(issuers.Revoke, two, nil); err != nil || len(w.server.Clients()) != 1 {
		t.Error(err, w.server.Clients())
	}
}
