package certificates_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal/certificates"
	"github.com/gatehouse-io/gatehouse/core/portal/certificate"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestExpiring: certificates of organisations that expire within the period are returned;
// those without an organisation, those that the dashboard has lost, and others are not.
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
	_, err = db.Update(t.Context(), scope, func(w store.Writer) (err error) {
		for i, c := range []certificate.Certificate{
			{Organisations: []table.ID{7}}, {Organisations: []table.ID{7}, NotAfter: now.Add(-time.Minute)}, {NotAfter: now},
			{Organisations: []table.ID{7}, NotAfter: now, Base: table.Base{Hidden: true}}, {Organisations: []table.ID{7, 8}, NotAfter: now}, {Organisations: []table.ID{7}, NotAfter: now.Add(2 * time.Hour)},
		} {
			if err == nil {
				c.ID, c.Portal, c.Name, c.Fingerprint = table.ID(i+1), "portal", "Till", fmt.Sprint(i)
				err = certificates.Kind.Insert(t.Context(), w, c)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(t.Context(), scope, func(r store.Reader) error {
		list, err := certificates.Expiring(t.Context(), r, now, now.Add(time.Hour))
		if have := fmt.Sprint(list); have != fmt.Sprintf("[{0 5 Till 0 [7 8] %v}]", now) {
			t.Error(have)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLocalTimes: times of certificates are in the time zone of the service.
func TestLocalTimes(t *testing.T) {
	zone, at := time.FixedZone("", 5*60*60), time.Date(2026, 1, 2, 22, 4, 5, 0, time.UTC)
	s := certificates.New(certificates.Config{Tools: crud.Tools{Now: func() time.Time { return at.In(zone) }}})
	got, err := s.Resource().List(t.Context(), nil, certificate.Certificate{NotBefore: at, NotAfter: at.Add(time.Hour)})
	if err != nil || got.NotBefore != "2026-01-03 03:04" || got.NotAfter != "2026-01-03 04:04" || !got.IsValid {
		t.Errorf("%+v, %v", got, err)
	}
}
