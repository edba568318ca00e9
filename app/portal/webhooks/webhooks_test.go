package webhooks_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/portal/webhooks"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/webhook"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// world is a portal in a store shared with others.
type world struct {
	db       *memdb.DB
	scope    tenant.Scope
	audience webhooks.Audience
	ops      map[string]operation.Operation
}

func open(p apptest.Portal) *world {
	s := webhooks.New(webhooks.Config{Settings: webhooks.Settings{Secret: "signs"}, Keys: p.Keys, Scope: p.Scope})
	return &world{p.DB, p.Scope, webhooks.Audience{Service: s}, p.Operations(s.Resource(), s.HeaderResource())}
}

func (w *world) call(t *testing.T, id string, path map[string]string, body string) (any, error) {
	t.Helper()
	o, ok := w.ops[id]
	if !ok {
		t.Fatalf("there is no %s", id)
	}
	return o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Scope: w.scope, Path: path, Body: []byte(body)})
}

func (w *world) must(t *testing.T, id string, path map[string]string, body string) {
	t.Helper()
	if _, err := w.call(t, id, path, body); err != nil {
		t.Fatalf("%s %s: %v", id, body, err)
	}
}

// everyone reads across all portals, as deliveries do.
func (w *world) everyone(t *testing.T, fn func(ctx context.Context, r store.Reader) error) {
	t.Helper()
	if err := w.db.View(t.Context(), tenant.Everyone("test"), func(r store.Reader) error { return fn(t.Context(), r) }); err != nil {
		t.Fatal(err)
	}
}

const posting = `{"Name":"n","URL":"https://h.example/x","Method":"PUT","Timeout":3,"Events":["UserRegistered","UserRegistered"],"Headers":[{"Name":"X-Key","Value":"hunter2"},{"Name":"X-Empty"}]}`

// TestAudience states which webhooks get an event, what is sent to them, and that a portal
// gets no events of another one.
func TestAudience(t *testing.T) {
	p := apptest.NewPortal(t)
	one, two := open(p), open(p.Beside(t, "portal:two"))
	one.must(t, "portal-webhooks.create", nil, posting)
	one.must(t, "portal-webhooks.create", nil, `{"Name":"n","URL":"https://h.example/y","Method":"GET"}`)
	two.must(t, "portal-webhooks.create", nil, strings.Replace(posting, "h.example", "two.example", 1))
	one.everyone(t, func(ctx context.Context, r store.Reader) error {
		for _, c := range []struct {
			who   *world
			org   tenant.ID
			event string
			want  []string
		}{
			{one, "portal:test", event.UserRegistered, []string{"1"}}, {one, "portal:test", event.PasswordReset, nil},
			{one, "portal:two", event.UserRegistered, nil}, {two, "portal:two", event.UserRegistered, []string{"1"}}, {two, "org-a", event.UserRegistered, nil},
		} {
			lanes, err := c.who.audience.Lanes(ctx, r, c.org, c.event)
			var names []string
			for _, l := range lanes {
				if names = append(names, l.Name); l.Since.IsZero() || l.Seen == 0 {
					t.Errorf("%s to %s: it is not known since when the webhook is there", c.event, c.org)
				}
			}
			if err != nil || !slices.Equal(names, c.want) {
				t.Errorf("%s to %s: %q, %v", c.event, c.org, names, err)
			}
		}
		return nil
	})
	if one.audience.Name() != "portal:test" || two.audience.Name() != "portal:two" {
		t.Error(one.audience.Name(), two.audience.Name())
	}
	target := func(lane string) (to deliver.Target, err error) {
		_ = p.DB.View(t.Context(), one.scope, func(r store.Reader) error {
			to, err = one.audience.Target(t.Context(), r, "portal:test", lane)
			return nil
		})
		return to, err
	}
	want := deliver.Target{URL: "https://h.example/x", Method: "PUT", Header: map[string]string{"X-Key": "hunter2", "X-Empty": ""}, Secret: "signs", Timeout: 3 * time.Second}
	if to, err := target("1"); err != nil || fmt.Sprint(to) != fmt.Sprint(want) {
		t.Errorf("%+v, %v", to, err)
	}
	if to, err := target("2"); err != nil || to.Timeout != 10*time.Second || len(to.Header) != 0 {
		t.Errorf("%+v, %v", to, err)
	}
	one.must(t, "portal-webhooks.delete", map[string]string{"webhook_id": "1"}, "")
	if _, err := target("1"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	one.everyone(t, func(ctx context.Context, r store.Reader) error {
		n, err := r.Count(ctx, store.Query{Kind: webhook.HeaderKind})
		if n != 2 {
			t.Errorf("%d headers are left; those of the other portal are 2", n)
		}
		return err
	})
}

// TestBody states that an event names the admin who caused it, but no other caller.
func TestBody(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for by, want := range map[string]string{"portal-user-7": `"ByUser":7,`, "portal-user-": "", "ada": "", "": ""} {
		text, err := webhooks.Audience{}.Body(deliver.Event{Name: event.UserAccountActivated, At: at, By: by, Message: event.User{ID: 3}})
		if err != nil || strings.Contains(string(text), `"ByUser"`) != (want != "") || !strings.Contains(string(text), want+`"CustomAttributes"`) {
			t.Errorf("%q: %s, %v", by, text, err)
		}
	}
}

// TestSealed states that values of headers are stored sealed, that a value that is not sent
// stays sealed, and that a refused value is not stored.
func TestSealed(t *testing.T) {
	p := apptest.NewPortal(t)
	w := open(p)
	w.must(t, "portal-webhooks.create", nil, posting)
	path := map[string]string{"webhook_id": "1", "header_id": "1"}
	stored := func() (text string) {
		w.everyone(t, func(ctx context.Context, r store.Reader) error {
			for rec, err := range r.Scan(ctx, store.Query{Kind: webhook.HeaderKind}) {
				if err != nil {
					return err
				}
				text += string(rec.Doc)
			}
			return nil
		})
		return text
	}
	before := stored()
	w.must(t, "portal-webhook-headers.update", path, `{"Name":"X-Other"}`)
	out, err := w.call(t, "portal-webhook-headers.get", path, "")
	if err != nil || out.(webhooks.ShownHeader).Value != "hunter2" || out.(webhooks.ShownHeader).Name != "X-Other" {
		t.Errorf("%+v, %v", out, err)
	}
	w.must(t, "portal-webhook-headers.update", path, `{"Value":"hunter3"}`)
	if all := before + stored(); strings.Contains(all, "hunter") || !strings.Contains(all, "X-Other") {
		t.Error(all)
	}
	lost, err := crypto.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	p.Keys = lost
	other := open(p)
	if _, err := other.call(t, "portal-webhook-headers.get", path, ""); fault.CodeOf(err) != webhooks.CodeSealed {
		t.Error(err)
	}
	other.must(t, "portal-webhook-headers.update", path, `{"Value":"hunter4"}`)
	if out, err := other.call(t, "portal-webhook-headers.get", path, ""); err != nil || out.(webhooks.ShownHeader).Value != "hunter4" {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestShorterAttempts: a webhook from before the maximum time became shorter can be changed;
// its time can stay, or become shorter.
func TestShorterAttempts(t *testing.T) {
	w := open(apptest.NewPortal(t))
	w.must(t, "portal-webhooks.create", nil, posting)
	if _, err := w.db.Update(t.Context(), w.scope, func(wr store.Writer) error {
		_, err := webhooks.Kind.Edit(t.Context(), wr, table.ID(1).Key(), nil, func(v webhook.Webhook) (webhook.Webhook, error) {
			v.Timeout = 1000
			return v, nil
		})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	path := map[string]string{"webhook_id": "1"}
	w.must(t, "portal-webhooks.update", path, `{"Name":"other"}`)
	w.must(t, "portal-webhooks.update", path, `{"Timeout":1000}`)
	if _, err := w.call(t, "portal-webhooks.update", path, `{"Timeout":1001}`); err == nil {
		t.Error("attempts became longer")
	}
	w.must(t, "portal-webhooks.update", path, `{"Timeout":2}`)
	if _, err := w.call(t, "portal-webhooks.update", path, `{"Timeout":1000}`); err == nil {
		t.Error("attempts became longer again")
	}
}

// TestMany states the maximum numbers of webhooks and headers.
func TestMany(t *testing.T) {
	p := apptest.NewPortal(t)
	w := open(p)
	for i := range webhook.MaxWebhooks + 1 {
		_, err := w.call(t, "portal-webhooks.create", nil, `{"Name":"n","URL":"https://h.example","Method":"POST"}`)
		if full := i == webhook.MaxWebhooks; full != (fault.CodeOf(err) == webhooks.CodeMany) || !full && err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	for i := range webhook.MaxHeaders + 1 {
		_, err := w.call(t, "portal-webhook-headers.create", map[string]string{"webhook_id": "1"}, fmt.Sprintf(`{"Name":"X-%d"}`, i))
		if full := i == webhook.MaxHeaders; full != (fault.CodeOf(err) == webhooks.CodeMany) || !full && err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	open(p.Beside(t, "portal:two")).must(t, "portal-webhooks.create", nil, posting)
}
