package apps_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestProvisionClientType: a client type in the request is checked only if the products use
// client registration; otherwise it need not exist, and is not stored.
func TestProvisionClientType(t *testing.T) {
	w := open(t, newOurs(t, false))
	w.update(func(wr store.Writer) error {
		p := product.Product{ProviderID: 1, Ref: sync.Ref{ID: "three"}, Name: "three", Path: "three", APIs: product.Details{{APIID: "three"}}, AuthTypes: []string{"jwt"}, DCREnabled: true, Templates: []table.ID{1}}
		if _, err := portal.Add(t.Context(), wr, products.Kind, w.at(), p); err != nil {
			return err
		}
		_, err := portal.Add(t.Context(), wr, portal.KindOf[idp.ClientType](), w.at(), idp.ClientType{ProviderID: 1, Name: "Server"})
		return err
	})
	for _, c := range []struct{ body, want string }{
		{`{"PlanID":1,"ProductIDs":[1],"DCRTemplateID":1}`, ""},
		{`{"PlanID":1,"ProductIDs":[1],"DCRTemplateID":9}`, ""},
		{`{"PlanID":1,"ProductIDs":[1],"DCRTemplateID":{"ID":[]}}`, ""},
		{`{"PlanID":1,"ProductIDs":[9],"DCRTemplateID":9}`, "ProductIDs is invalid"},
		{`{"PlanID":1,"ProductIDs":[3],"DCRTemplateID":9}`, "DCRTemplateID is invalid"},
		{`{"PlanID":1,"ProductIDs":[3]}`, "DCRTemplateID can't be blank"},
	} {
		err := w.provision(c.body)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: %v", c.body, err)
		}
	}
	w.update(func(r store.Writer) error {
		n := 0
		for req, err := range portal.All(t.Context(), r, apps.Requests, 0) {
			if err != nil {
				return err
			}
			if n++; req.ClientTypeID != 0 {
				t.Errorf("the client type %d is stored", req.ClientTypeID)
			}
		}
		if n != 3 {
			t.Errorf("%d access requests", n)
		}
		return nil
	})
}

// TestOtherMethod: a request is approved with the current method of its product, or refused
// when it lacks the data for that method.
func TestOtherMethod(t *testing.T) {
	w, r := open(t, newOurs(t, false)), &registrar{meanwhile: func() {}}
	w.registers = r
	w.start(&fate{})
	for range 2 {
		if err := w.provision(`{"PlanID":1,"ProductIDs":[1]}`); err != nil {
			t.Fatal(err)
		}
	}
	become := func(method string, registers bool) {
		w.update(func(wr store.Writer) error {
			_, err := portal.Edit(t.Context(), wr, products.Kind, 1, w.at(), func(p product.Product) (product.Product, error) {
				p.AuthTypes, p.DCREnabled, p.Templates = []string{method}, registers, []table.ID{1}
				return p, nil
			})
			return err
		})
	}
	become("jwt", true)
	if err := w.approve("1"); err == nil || err.Error() != "DCRTemplateID can't be blank" || w.requests()[0].Status != string(request.Pending) {
		t.Errorf("%v, %+v", err, w.requests()[0])
	}
	become("basic", false)
	if err := w.approve("1"); err == nil || !strings.Contains(err.Error(), "can't be requested") {
		t.Error(err)
	}
	become("jwt", false)
	hide := func(hidden bool) {
		w.update(func(wr store.Writer) error {
			_, err := products.Kind.Edit(t.Context(), wr, table.ID(1).Key(), nil, func(p product.Product) (product.Product, error) {
				p.Hidden = hidden
				return p, nil
			})
			return err
		})
	}
	hide(true) // nothing would be issued, but there is nothing to be approved either
	if err := w.approve("1"); fault.CodeOf(err) != apps.CodeGone || w.requests()[0].Status != string(request.Pending) {
		t.Errorf("%v, %+v", err, w.requests()[0])
	}
	hide(false)
	sell := func(apis product.Details) {
		w.update(func(wr store.Writer) error {
			_, err := portal.Edit(t.Context(), wr, products.Kind, 1, w.at(), func(p product.Product) (product.Product, error) {
				p.APIs, p.IsDocumentationOnly = apis, len(apis) == 0
				return p, nil
			})
			return err
		})
	}
	sell(nil)
	if err := w.approve("1"); err == nil || !strings.Contains(err.Error(), "is documentation only") || w.requests()[0].Status != string(request.Pending) {
		t.Errorf("%v, %+v", err, w.requests()[0])
	}
	sell(product.Details{{APIID: "one"}})
	if err := w.approve("1"); err != nil || len(w.keys()) != 0 {
		t.Errorf("%v: %v", err, w.keys())
	}
	if one := w.requests()[0]; one.AuthType != request.JWT || one.Status != string(request.Approved) || len(one.Credentials) != 0 {
		t.Errorf("%+v", one)
	}
	become("authToken", false)
	if err := w.approve("2"); err != nil || len(w.keys()) != 1 {
		t.Errorf("%v: %v", err, w.keys())
	}
}

// TestAllowance: the plan's limit counts requests by the requesting user, not by the app's
// owner. The request stores that user, who gets the mail about it.
func TestAllowance(t *testing.T) {
	w := open(t, newOurs(t, false))
	var users []table.ID
	w.update(func(wr store.Writer) error {
		if _, err := portal.Add(t.Context(), wr, plans.Kind, w.at(), plan.Plan{ProviderID: 1, Ref: sync.Ref{ID: "few"}, Name: "few", PlanQuota: 1, PlanQuotaRenewalRate: -1, Catalogues: []table.ID{1}}); err != nil {
			return err
		}
		if _, err := portal.Add(t.Context(), wr, catalogues.Kind, w.at(), catalogue.Catalogue{Name: "All", NameWithSlug: "all", VisibilityStatus: catalogue.Public}); err != nil {
			return err
		}
		_, err := portal.Edit(t.Context(), wr, products.Kind, 1, w.at(), func(p product.Product) (product.Product, error) {
			p.Catalogues = []table.ID{1}
			return p, nil
		})
		for range 2 {
			u, failed := portal.Add(t.Context(), wr, people.Users, w.at(), account.User{Email: w.p.Tools.NewID() + "@example.com", First: "X", Role: account.Member, OrganisationID: 2, Teams: []table.ID{3}, Active: true, Token: w.p.Tools.NewID()})
			err, users = errors.Join(err, failed), append(users, u.ID)
		}
		a, failed := portal.Add(t.Context(), wr, apps.Kind, w.at(), application.App{Name: "shared", UserID: users[0], Visibility: application.Team})
		w.app = a.ID
		return errors.Join(err, failed)
	})
	order := `{"PlanID":3,"ProductIDs":[1]}`
	for _, user := range []table.ID{users[1], users[0]} {
		if _, err := w.by(user, "order", order, "app_id", w.app.String()); err != nil {
			t.Errorf("%d: %v", user, err)
		}
		if _, err := w.by(user, "order", order, "app_id", w.app.String()); fault.CodeOf(err) != apps.CodeQuota {
			t.Errorf("%d: %v", user, err)
		}
	}
	if err := w.provision(order); fault.CodeOf(err) != apps.CodeQuota {
		t.Error(err)
	}
	var asked []table.ID
	w.update(func(wr store.Writer) error {
		for req, err := range portal.All(t.Context(), wr, apps.Requests, w.app) {
			if err != nil {
				return err
			}
			asked = append(asked, req.UserID, req.AskedBy)
		}
		return nil
	})
	if want := []table.ID{users[0], users[1], users[0], 0}; !slices.Equal(asked, want) {
		t.Errorf("%v, and not %v", asked, want)
	}
}
