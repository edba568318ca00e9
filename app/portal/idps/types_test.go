package idps_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/e2e/idp"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestUsedByRequests: a client type of an access request can be deleted only with force,
// even if no product names it any more: its credentials would end.
func TestUsedByRequests(t *testing.T) {
	w := open(t, idp.Keycloak, true)
	var made request.Request
	w.update(func(wr store.Writer) (err error) {
		made, err = portal.Add(t.Context(), wr, apps.Requests, w.at(), request.Request{ClientTypeID: 1, Status: request.Approved})
		return err
	})
	force := map[string][]string{"force": {"true"}}
	kind := map[string]string{"provider_id": "1", "client_type_id": "1"}
	for _, name := range []string{"portal-client-types.delete", "portal-oauth-providers.delete"} {
		if _, err := w.try(name, kind, "", nil); !invalid(err) {
			t.Error(name, err)
		}
	}
	if _, err := w.try("portal-client-types.delete", kind, "", force); err != nil {
		t.Error(err)
	}
	w.view(func(r store.Reader) error {
		q, err := portal.Find(t.Context(), r, apps.Requests, made.ID.String())
		if err == nil && q.Status != request.Rejected {
			t.Error(q.Status)
		}
		return err
	})
	// A rejected request is ignored.
	w.update(func(wr store.Writer) error {
		_, err := portal.Add(t.Context(), wr, apps.Requests, w.at(), request.Request{ClientTypeID: table.ID(2), Status: request.Rejected})
		return err
	})
	if _, err := w.try("portal-oauth-providers.delete", map[string]string{"provider_id": "1"}, "", nil); err != nil {
		t.Error(err)
	}
}

// TestForceWithSilence: a client type is deleted by force although its provider does not
// answer: three calls wait for it, and not one for each client. The doctor finds the
// remaining clients.
func TestForceWithSilence(t *testing.T) {
	w := openWith(t, idp.Keycloak, false, 1)
	orders, gold := w.offer(1, "orders", "shop")
	w.update(func(wr store.Writer) error {
		_, err := portal.Add(t.Context(), wr, apps.Requests, w.at(), request.Request{ClientTypeID: 1, Status: request.Approved})
		return err
	})
	const all = 5
	for app := range table.ID(all) {
		g := grant(7+app, orders, gold)
		if err := w.act(issuers.Issue, g, nil); err != nil {
			t.Fatal(err)
		}
		w.credential(7+app, g)
	}
	w.server.Misbehave(idp.Deletion, idp.Down, -1)
	if _, err := w.try("portal-client-types.delete", map[string]string{"provider_id": "1", "client_type_id": "1"}, "", map[string][]string{"force": {"true"}}); err != nil {
		t.Fatal(err)
	}
	if n := w.server.Calls(idp.Deletion); n != 3 {
		t.Error(n)
	}
	w.server.Behave()
	if found, err := w.doctor().Examine(t.Context(), w.Scope, true); err != nil || len(found.Findings) != all || len(w.server.Clients()) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
