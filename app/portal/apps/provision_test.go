package apps_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestProvisionClientType: a client type that is sent counts only where clients of the
// products register; otherwise none has to be there, and none is stored.
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
