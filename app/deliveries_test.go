package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/identity"
	core "github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	outside "github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// delivered is a store with a delivery in each state for one organisation, and one for
// another.
func delivered() *memdb.DB {
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	db, err := memdb.New(apptest.Clock())
	body := func(org tenant.ID, id string) []byte {
		return fmt.Appendf(nil, `{"event":"api_event","org_id":"%s","timestamp":"2026-01-02T03:00:00Z","by":"ada","message":{"action":"updated","id":"%s","api_id":"%[2]s","name":"Orders"}}`, org, id)
	}
	one := func(org tenant.ID, rev uint64, id string) core.Delivery {
		lane := "api_event"
		if org == "org-b" {
			lane = "another_lane"
		}
		d := core.New(org, "organisation", lane, "api_event", core.Origin{Revision: rev, At: now}, body(org, id))
		d.ID = strings.Repeat(fmt.Sprint(rev), 24)
		return d
	}
	kind := delivery.Registration().Untyped
	_, more := db.Update(context.Background(), tenant.Everyone("test"), func(w store.Writer) error {
		failed := one("org-a", 1, "a")
		for range core.MaxAttempts {
			failed = failed.Refused(now.Add(time.Minute), 503, "the receiver answered 503", 0)
		}
		var errs []error
		for _, d := range []core.Delivery{failed, one("org-a", 2, "b").Succeeded(now, 204), one("org-a", 3, "c").Refused(now, 0, "hooks.example.com: fetch: no answer", time.Minute), one("org-b", 4, "d")} {
			errs = append(errs, kind.Insert(context.Background(), w, d))
		}
		return errors.Join(errs...)
	})
	if err := errors.Join(err, more); err != nil {
		panic(err)
	}
	return db
}

// listening is a receiver that keeps what it got.
type listening struct {
	mu  sync.Mutex // deliveries of several lanes arrive at once
	got []outside.Request
}

func (l *listening) Fetch(_ context.Context, r outside.Request) (outside.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.got = append(l.got, r)
	return outside.Answer{Status: 200}, nil
}

// bubbled is an App in a bubble of synctest with one organisation and its admin. It works in
// the background until the test ends, and logs to log.
func bubbled(t *testing.T, log io.Writer, opts ...app.Option) *app.App {
	t.Helper()
	keys, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(append([]app.Option{
		app.WithClock(time.Now), app.WithKeys(keys), app.WithAdminSecret(adminSecret), app.WithNodeSecret(nodeSecret), app.WithPasswords(crypto.Passwords{Iterations: 1}),
		app.WithLogger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))), app.WithAudit(audit.Settings{Signer: keys}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	admin := strings.TrimPrefix(callers["admin"][1], "Bearer ")
	if _, err := a.Bootstrap(t.Context(), identity.First{OrgID: "org-a", OwnerSlug: "a", Email: "admin@a.example", AccessKey: admin}); err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(a.Drain(context.Background()), a.Stop(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return a
}

// TestEventOptions: every change of an API reaches the address that its organisation
// names, signed; the queue leaves no trace in the audit trail, a request to send again does;
// a purge removes deliveries and leaves the trail; and secrets appear in neither.
func TestEventOptions(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	synctest.Test(t, func(t *testing.T) {
		to := &listening{}
		var log strings.Builder
		a := bubbled(t, &log, app.WithDeliveries(delivery.Settings{Fetcher: to}))
		ask := func(method, path, as, body string) string {
			t.Helper()
			code, text := fetch(t, a, method, path, as, body)
			if code >= 300 {
				t.Fatal(method, path, code, text)
			}
			synctest.Wait()
			return text
		}
		ask("PUT", "/admin/organisations/org-a", "super-admin", `{"event_options":{"api_event":{"webhook":"https://hooks.example.com/x?key=hunter2","secret":"`+secret+`"}}}`)
		ask("POST", "/api/apis", "admin", `{"api_definition":{"api_id":"orders","name":"Orders","use_keyless":true,"proxy":{"listen_path":"/orders/","target_url":"https://upstream.example"},"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default"}}}}}`)
		ask("PUT", "/api/apis/orders", "admin", `{"api_definition":{"api_id":"orders","name":"Orders 2","use_keyless":true,"proxy":{"listen_path":"/orders/","target_url":"https://upstream.example"},"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default"}}}}}`)
		ask("DELETE", "/api/apis/orders", "admin", "")
		if len(to.got) != 3 {
			t.Fatalf("%d deliveries: %+v", len(to.got), to.got)
		}
		for i, want := range []string{`"action":"created"`, `"action":"updated"`, `"action":"deleted"`} {
			r := to.got[i]
			if !strings.Contains(string(r.Body), want) || !strings.Contains(string(r.Body), `"api_id":"orders"`) || !strings.Contains(string(r.Body), `"org_id":"org-a"`) ||
				r.URL != "https://hooks.example.com/x?key=hunter2" || r.Header["Webhook-Signature"] == "" || r.Header["Webhook-Signature"] != core.Headers(r.Header["Webhook-Id"], time.Now(), secret, r.Body)["Webhook-Signature"] {
				t.Errorf("%s: %s %+v", want, r.Body, r)
			}
		}
		list := ask("GET", "/admin/deliveries?state=done", "super-admin", "")
		if strings.Count(list, `"state":"done"`) != 3 || strings.Contains(list, "hunter2") || strings.Contains(list, secret) {
			t.Error(list)
		}
		ask("POST", "/admin/deliveries/"+to.got[0].Header["Webhook-Id"]+"/resend", "super-admin", "")
		if len(to.got) != 4 || to.got[3].Header["Webhook-Id"] != to.got[0].Header["Webhook-Id"] {
			t.Errorf("%d deliveries", len(to.got))
		}
		trail := ask("GET", "/api/audit-logs?p=-1", "admin", "")
		if strings.Count(trail, "Send a delivery again") != 1 || strings.Contains(trail, `"deliveries"`) || strings.Contains(trail, secret) || strings.Contains(trail, "hunter2") {
			t.Error(trail)
		}
		if strings.Contains(log.String(), "hunter2") || strings.Contains(log.String(), secret) {
			t.Error("the log tells secrets")
		}
		ask("DELETE", "/admin/organisations/org-a?purge=true", "super-admin", "")
		if list := ask("GET", "/admin/deliveries", "super-admin", ""); strings.Contains(list, "api_event") {
			t.Error(list)
		}
		if err := a.Trail().Fold(t.Context()); err != nil {
			t.Fatal(err)
		}
		if code, text := fetch(t, a, "DELETE", "/admin/organisations/org-a?purge=true", "super-admin", ""); code != 404 {
			t.Error("a second purge finds something:", code, text)
		}
		var kept strings.Builder
		if err := a.Trail().Export(t.Context(), &kept, nil); err != nil || !strings.Contains(kept.String(), "Send a delivery again") || !strings.Contains(kept.String(), "purge=true") {
			t.Error(err, kept.String())
		}
	})
}

// eventful calls a control plane whose organisation has some event_options, one call after the
// other, and returns what its receivers got.
func eventful(t *testing.T, options string, calls ...[3]string) (got []outside.Request) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		to := &listening{}
		a := bubbled(t, io.Discard, app.WithDeliveries(delivery.Settings{Fetcher: to}))
		if code, text := fetch(t, a, "PUT", "/admin/organisations/org-a", "super-admin", `{"event_options":`+options+`}`); code >= 300 {
			t.Fatal(code, text)
		}
		for _, call := range calls {
			if code, text := fetch(t, a, call[0], call[1], "admin", call[2]); code >= 300 {
				t.Fatal(call, code, text)
			}
			synctest.Wait()
		}
		got = to.got
	})
	return got
}

const ordersBody = `{"api_definition":{"api_id":"orders","name":"Orders","use_keyless":true,"proxy":{"listen_path":"/orders/","target_url":"https://upstream.example"},"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default"}}}}}`

// TestKeyOfCertificate: receivers of events of keys hear that a key is deleted together with
// the other uses of the certificate that opens it.
func TestKeyOfCertificate(t *testing.T) {
	certificate := "org-a" + strings.Repeat("0f", 32)
	got := eventful(t, `{"key_event":{"webhook":"https://hooks.example.com/"}}`,
		[3]string{"POST", "/api/apis", ordersBody},
		[3]string{"POST", "/api/keys", `{"alias":"billing","certificate":"` + certificate + `","access_rights":{"orders":{"api_id":"orders"}}}`},
		[3]string{"DELETE", "/api/certs/dependencies/" + certificate},
		[3]string{"DELETE", "/api/certs/dependencies/" + certificate}) // there is no key any more
	if len(got) != 2 || !strings.Contains(string(got[0].Body), `"action":"created"`) ||
		!strings.Contains(string(got[1].Body), `"message":{"action":"deleted","alias":"billing","apply_policies":[],"apis":["orders"]}`) {
		t.Errorf("%d deliveries: %+v", len(got), got)
	}
}

// TestCredentialsOfReceivers: a user and a password in the address of a receiver are sent as
// basic authentication, and are not in the address that is called.
func TestCredentialsOfReceivers(t *testing.T) {
	for webhook, want := range map[string][2]string{
		"https://us%40er:hunter2@hooks.example.com/x?a=1": {"https://hooks.example.com/x?a=1", "Basic dXNAZXI6aHVudGVyMg=="},
		"https://user@hooks.example.com/":                 {"https://hooks.example.com/", "Basic dXNlcjo="},
		"https://hooks.example.com/a%2Fb?c=%20d":          {"https://hooks.example.com/a%2Fb?c=%20d", ""},
	} {
		got := eventful(t, `{"api_event":{"webhook":"`+webhook+`"}}`, [3]string{"POST", "/api/apis", ordersBody})
		if len(got) != 1 || got[0].URL != want[0] || got[0].Header["Authorization"] != want[1] {
			t.Errorf("%s: %+v", webhook, got)
		}
	}
}
