package contract_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/delivery"
	core "github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// hookPlans are the plans for the webhooks of the portal.
var hookPlans = map[string]plan{
	"portal-webhooks.list":       {path: none(receiver), query: portalLists},
	"portal-webhooks.create":     {bodies: fresh(listening, listeningWith)},
	"portal-webhooks.get":        {path: receiver},
	"portal-webhooks.update":     {path: receiver, bodies: fresh(listening)},
	"portal-webhooks.delete":     {path: receiver},
	"portal-webhooks.ping":       {path: receiver},
	"portal-webhooks.deliveries": {path: heard, query: map[string][]string{"state": {"", "pending", "failed", "done"}, "page": {"1", "2", "-1"}, "per_page": {"1"}, "limit": {"1"}}},
	"portal-webhooks.delivery":   {path: heard},
	"portal-webhooks.resend":     {path: heard},

	"portal-webhook-headers.list":   {path: hookHeader, query: portalLists},
	"portal-webhook-headers.create": {path: receiver, bodies: fresh(wanted)},
	"portal-webhook-headers.get":    {path: hookHeader},
	"portal-webhook-headers.update": {path: hookHeader, bodies: fresh(wanted)},
	"portal-webhook-headers.delete": {path: hookHeader},
}

// terse are changes whose answers have fewer members than read answers.
var terse = map[string]bool{"portal-webhook-headers.update": true}

func listening(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Hook %d","URL":"https://hooks.example.com/%d","Method":"POST","Timeout":%d,"Events":["UserRegistered"]}`, n, n, n%30)
}

func listeningWith(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Hook %d","URL":"https://hooks.example.com/%d","Method":"GET","Headers":[{"Name":"X-Tenant","Value":"%d"}]}`, n, n, n)
}

func wanted(n int, _ string) string { return fmt.Sprintf(`{"Name":"X-Number-%d","Value":"%d"}`, n, n) }

var receiver = inPortal("webhook_id", "/webhooks", listening)

var hookHeader = below(receiver, "header_id", "/webhooks/{webhook_id}/headers", wanted)

// heard stores a successful delivery for a webhook of the portal.
func heard(t testing.TB, s *service) map[string]string {
	t.Helper()
	path, now := receiver(t, s), time.Now()
	d := core.New("portal:default", "portal:default", path["webhook_id"], "UserRegistered", core.Origin{Revision: uint64(s.next()), At: now}, []byte(`{}`)).Succeeded(now, 204)
	if _, err := s.Store().Update(t.Context(), tenant.Everyone("test"), func(w store.Writer) error {
		return delivery.Registration().Untyped.Insert(t.Context(), w, d)
	}); err != nil {
		t.Fatal(err)
	}
	path["delivery_id"] = d.ID
	return path
}
