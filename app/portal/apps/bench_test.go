package apps_test

import (
	"fmt"
	"slices"
	stdsync "sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// BenchmarkStreaming measures the reads of gateways for each message: a page of ten apps,
// and one app with its access requests, out of 10,000 apps, by 50 clients at once. It
// reports the 99th percentile of both.
func BenchmarkStreaming(b *testing.B) {
	const all, pollers = 10_000, 50
	w := open(b, ours{})
	for from := 0; from < all; from += 500 {
		w.update(func(wr store.Writer) error {
			for range 500 {
				a, err := portal.Add(b.Context(), wr, apps.Kind, w.at(), application.App{Name: "Till", UserID: w.user, Visibility: application.Personal})
				if err == nil {
					_, err = portal.Add(b.Context(), wr, apps.Requests, w.at(), request.Request{Status: request.Approved, AppID: a.ID, UserID: w.user, PlanID: 1, ProductIDs: []table.ID{1}, ProviderID: 1, AuthType: request.AuthToken,
						Subscription: request.Subscription{WebhookURL: "https://a.example", WebhookEventTypes: []string{"order.paid"}}})
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	call := func(id, name, value string, query map[string][]string, scope tenant.Scope) error {
		o := w.ops[id]
		_, err := o.Do(b.Context(), &operation.Call{Spec: &o.Spec, Scope: scope, Path: map[string]string{name: value}, Query: query})
		return err
	}
	var mu stdsync.Mutex
	var took []time.Duration
	b.ResetTimer()
	var work stdsync.WaitGroup
	for n := range pollers {
		work.Go(func() {
			mine := make([]time.Duration, 0, 2*b.N/pollers+2)
			for i := n; i < b.N; i += pollers {
				begin := time.Now()
				err := call("portal-apps.list", "", "", map[string][]string{"page": {fmt.Sprint(i%1000 + 1)}, "per_page": {"10"}}, w.p.Scope)
				middle := time.Now()
				if err == nil {
					err = call("portal-apps.get", "app_id", fmt.Sprint(i%all+1), nil, w.p.Scope)
				}
				if err != nil {
					b.Error(err)
					return
				}
				mine = append(mine, middle.Sub(begin), time.Since(middle))
			}
			mu.Lock()
			took = append(took, mine...)
			mu.Unlock()
		})
	}
	work.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
}

// BenchmarkApproval measures an approval with a fast dashboard over HTTP: it reports the
// time as a multiple of the time of its calls alone.
func BenchmarkApproval(b *testing.B) {
	w := open(b, newOurs(b, true))
	session, err := doc.ParseNode([]byte(`{"apply_policies":["one","gold"],"org_id":"one","expires":0,"alias":"Till (1)","meta_data":{"DeveloperID":1,"ApplicationID":1,"OrganisationID":1,"TeamIDs":[1]},"tags":["portal-app-1","portal-org-1"]}`))
	if err != nil {
		b.Fatal(err)
	}
	var bare, whole time.Duration
	for i := range b.N {
		if i%500 == 499 { // the maximum number of requests of an app
			w.update(func(wr store.Writer) error {
				a, err := portal.Add(b.Context(), wr, apps.Kind, w.at(), application.App{Name: "Till", UserID: w.user, Visibility: application.Personal})
				w.app = a.ID
				return err
			})
		}
		if err := w.provision(`{"PlanID":1,"ProductIDs":[1]}`); err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		_, err := w.dash.CreateKey(b.Context(), fmt.Sprintf("bare-%d", i), session)
		middle := time.Now()
		if err == nil {
			err = w.approve(fmt.Sprint(i + 1))
		}
		if err != nil {
			b.Fatal(err)
		}
		bare, whole = bare+middle.Sub(begin), whole+time.Since(middle)
	}
	b.ReportMetric(float64(whole)/float64(bare), "x-bare")
	b.ReportMetric(float64(whole)/float64(b.N)/1e6, "ms/approval")
}
