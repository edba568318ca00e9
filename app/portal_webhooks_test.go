package app_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/portal/webhooks"
	core "github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestPortalWebhooks: an organisation created by an admin of the portal is sent to the
// subscribed webhook, with its method, its headers and both signatures. Values of headers are
// neither in the store, nor in its history, nor in the audit trail, nor in other logs.
func TestPortalWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to, organisations := &listening{}, &listening{}
		keys, err := crypto.NewKeys("a secret of the test")
		if err != nil {
			t.Fatal(err)
		}
		db, err := memdb.New(time.Now)
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		a, err := app.New(app.WithClock(time.Now), app.WithKeys(keys), app.WithStore(db), app.WithPasswords(crypto.Passwords{Iterations: 1}),
			app.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))), app.WithAudit(audit.Settings{Signer: keys}),
			app.WithDeliveries(delivery.Settings{Fetcher: organisations}),
			app.WithPortal(app.Portal{Webhooks: webhooks.Settings{Deliveries: delivery.Settings{Fetcher: to}, Secret: "short"}}))
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		token := ""
		ask := func(method, path, body string) string {
			t.Helper()
			req := httptest.NewRequestWithContext(t.Context(), method, "/portal-api"+path, strings.NewReader(body))
			req.Header.Set("Authorization", token)
			w := httptest.NewRecorder()
			a.Portal().ServeHTTP(w, req)
			if w.Code >= nethttp.StatusMultipleChoices {
				t.Fatal(method, path, w.Code, w.Body)
			}
			synctest.Wait()
			return w.Body.String()
		}
		var first struct {
			Data struct {
				Token string `json:"api_token"`
			}
		}
		if err := json.Unmarshal([]byte(ask("POST", "/bootstrap", `{"username":"ada@example.com","password":"secret"}`)), &first); err != nil {
			t.Fatal(err)
		}
		token = first.Data.Token
		ask("POST", "/webhooks", `{"Name":"CRM","URL":"https://crm.example.com/x","Method":"PUT","Events":["OrganisationRegistered"],"Headers":[{"Name":"X-Key","Value":"hunter2"}]}`)
		ask("PUT", "/webhooks/1/headers/1", `{"Value":"hunter2 again"}`)
		ask("POST", "/organisations", `{"Name":"Acme"}`)
		ask("PUT", "/organisations/2", `{"Name":"Acme Corporation"}`)
		if len(to.got) != 1 || len(organisations.got) != 0 {
			t.Fatalf("%+v, %+v", to.got, organisations.got)
		}
		r, signs := to.got[0], core.Headers(to.got[0].Header["Webhook-Id"], time.Now(), "short", to.got[0].Body)
		if r.Method != "PUT" || r.URL != "https://crm.example.com/x" || r.Header["X-Key"] != "hunter2 again" || r.Header["Content-Type"] != "application/json" || r.Trusted || !r.StatusOnly ||
			r.Header["Webhook-Signature"] != signs["Webhook-Signature"] || r.Header["X-Tyk-Signature"] != signs["X-Tyk-Signature"] ||
			!strings.HasPrefix(string(r.Body), `{"Event":"OrganisationRegistered","Message":{"ID":2,"Name":"Acme","CreatedAt":"2000-01-01T00:00:00Z"},"Timestamp":"2000-01-01T00:00:00`) {
			t.Errorf("%+v %s", r, r.Body)
		}
		list := ask("GET", "/webhooks/1/deliveries", "")
		if !strings.Contains(list, `"State": "done"`) || strings.Contains(list, "hunter2") {
			t.Error(list)
		}
		ask("PUT", "/webhooks/1/deliveries/"+r.Header["X-Event-Id"]+"/resend", "")
		if len(to.got) != 2 || to.got[1].Header["X-Event-Id"] != r.Header["X-Event-Id"] {
			t.Errorf("%+v", to.got)
		}
		if err := errors.Join(a.Drain(t.Context()), a.Stop(t.Context())); err != nil {
			t.Error(err)
		}
		var kept strings.Builder
		if err := db.View(t.Context(), tenant.Everyone("test"), func(r store.Reader) error {
			for _, kind := range []string{"portal-webhook", "portal-webhook-header", "delivery", "audit_segment"} {
				n := 0
				for rec, err := range r.Scan(t.Context(), store.Query{Kind: kind}) {
					if err != nil {
						return err
					}
					n++
					kept.Write(rec.Doc)
				}
				if n == 0 {
					t.Errorf("there is no %s", kind)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(kept.String(), "/portal-api/webhooks/1/headers/1") {
			t.Error("the audit trail tells nothing of the change of a header")
		}
		for what, text := range map[string]string{"the store": kept.String(), "the log": log.String()} {
			if strings.Contains(text, "hunter2") || text == "" {
				t.Errorf("%s tells the value of a header", what)
			}
		}
	})
}
