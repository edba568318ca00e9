package apps_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestExpiring: credentials that expire within the period are returned with the app and
// its owner; others are not.
func TestExpiring(t *testing.T) {
	db, err := memdb.New(apptest.Clock())
	if err != nil {
		t.Fatal(err)
	}
	scope, err := tenant.Of("portal")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	_, err = db.Update(t.Context(), scope, func(w store.Writer) error {
		err := apps.Kind.Insert(t.Context(), w, application.App{Base: table.Base{ID: 2, Portal: "portal"}, Name: "Checkout", UserID: 7})
		for i, ends := range []time.Time{{}, now.Add(-time.Minute), now, now.Add(time.Hour), now.Add(2 * time.Hour)} {
			if err == nil {
				err = apps.Credentials.Insert(t.Context(), w, credential.Credential{Base: table.Base{ID: table.ID(i + 1), Portal: "portal"}, AppID: 2, RequestID: 3, Expires: ends})
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = db.View(context.Background(), scope, func(r store.Reader) error {
		list, err := apps.Expiring(t.Context(), r, now, now.Add(time.Hour))
		if have := fmt.Sprint(list); err != nil || have != fmt.Sprintf("[{3 0 Checkout 7 [] %v} {4 0 Checkout 7 [] %v}]", now, now.Add(time.Hour)) {
			t.Error(err, have)
		}
		return nil
	})
}
