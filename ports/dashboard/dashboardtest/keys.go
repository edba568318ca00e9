package dashboardtest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// drawn is the identifier of a key, as callers generate it.
const drawn = "0123456789abcdef0123456789abcdef"

// keys: a new key can be found, replaced and deleted by the name in the answer and by the
// identifier that was generated for it. Each call can be repeated.
func keys(t *testing.T, w World) {
	ctx := t.Context()
	granting(t, w, "gold")
	if list, err := w.Keys(ctx); err != nil || len(list) != 0 {
		t.Fatal(list, err)
	}
	body := doctest.Node(t, `{"alias":"Till (1)","apply_policies":["gold"],"tags":["portal-app-1"],"meta_data":{"TeamIDs":[1]}}`)
	var made dashboard.Key
	for range 2 {
		k, err := w.CreateKey(ctx, drawn, body)
		if err != nil || k.ID == "" || made.ID != "" && k.ID != made.ID {
			t.Fatal(k.ID, k.Hash, err)
		}
		made = k
	}
	list, err := w.Keys(ctx)
	if err != nil || len(list) != 1 || list[0].Hash != made.Hash || list[0].Session.Get("tags").Texts()[0] != "portal-app-1" {
		t.Fatalf("%+v, %v", list, err)
	}
	names := []dashboard.KeyName{made.Name(), {Text: drawn}, list[0].Name()}
	if made.Hash != "" {
		names = append(names, dashboard.KeyName{Text: made.Hash, Hashed: true})
	}
	for _, name := range names {
		k, err := w.Key(ctx, name)
		if err != nil || k.Session.Get("alias").Text() != "Till (1)" || k.Session.Get("meta_data", "TeamIDs").Len() != 1 {
			t.Errorf("%+v: %v", name, err)
		}
	}
	change := made.Session.Clone()
	change.Set("alias", doc.NewString("Tills"))
	if _, err := w.ReplaceKey(ctx, made.Name(), change); err != nil {
		t.Fatal(err)
	}
	if k, err := w.Key(ctx, dashboard.KeyName{Text: drawn}); err != nil || k.Session.Get("alias").Text() != "Tills" {
		t.Error(err)
	}
	for range 2 { // the second time, it is gone already
		if err := w.DeleteKey(ctx, dashboard.KeyName{Text: drawn}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Key(ctx, made.Name()); !errors.Is(err, dashboard.ErrGone) {
		t.Error(err)
	}
	if _, err := w.ReplaceKey(ctx, made.Name(), body); !errors.Is(err, dashboard.ErrGone) {
		t.Error(err)
	}
	if _, err := w.CreateKey(ctx, drawn, body); err != nil {
		t.Fatal(err)
	}
	if list, err = w.Keys(ctx); err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if err := w.DeleteKey(ctx, list[0].Name()); err != nil {
		t.Error(err)
	}
	if list, err := w.Keys(ctx); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}

// everyKey calls all methods about keys.
func everyKey(ctx context.Context, d dashboard.Keys, body *doc.Node) map[string]error {
	out, name := map[string]error{}, dashboard.KeyName{Text: drawn}
	_, out["list"] = d.Keys(ctx)
	_, out["key"] = d.Key(ctx, name)
	_, out["create"] = d.CreateKey(ctx, drawn, body)
	_, out["replace"] = d.ReplaceKey(ctx, name, body)
	out["delete"] = d.DeleteKey(ctx, name)
	return out
}

// granting creates a policy that names the API orders: a key needs one.
func granting(t *testing.T, d dashboard.Dashboard, id string) {
	t.Helper()
	apis := sync.NewIndex([]sync.API{{ID: "orders", Name: "Orders"}})
	p := sync.Policy{Kind: sync.KindProduct, Terms: sync.Terms{Name: id, APIs: []string{"orders"}, AuthTypes: []string{"authToken"}}}
	n := sync.New(p, apis, "")
	n.Set("id", doc.NewString(id))
	if _, err := d.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}

// keyRefusals: users without the permission are refused; other organisations do not see a key;
// errors contain no credential and no key; a dashboard that does not respond is
// ErrUnreachable.
func keyRefusals(t *testing.T, w World) {
	ctx := t.Context()
	granting(t, w, "gold")
	body := doctest.Node(t, `{"apply_policies":["gold"]}`)
	if _, err := w.CreateKey(ctx, drawn, body); err != nil {
		t.Fatal(err)
	}
	for who, d := range map[string]dashboard.Keys{"a stranger": w.Stranger, "a reader": w.Reader} {
		for name, err := range everyKey(ctx, d, body) {
			if !errors.Is(err, dashboard.ErrRefused) || strings.Contains(err.Error(), w.Secret) || strings.Contains(err.Error(), drawn) {
				t.Errorf("%s, %s: %v", who, name, err)
			}
		}
	}
	for name, err := range everyKey(ctx, w.Away, body) {
		if !errors.Is(err, dashboard.ErrUnreachable) || strings.Contains(err.Error(), w.Secret) || strings.Contains(err.Error(), drawn) {
			t.Errorf("away, %s: %v", name, err)
		}
	}
	if list, err := w.Other.Keys(ctx); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	if _, err := w.Other.Key(ctx, dashboard.KeyName{Text: drawn}); !errors.Is(err, dashboard.ErrGone) {
		t.Error(err)
	}
	if _, err := w.CreateKey(ctx, "other", doctest.Node(t, `{"apply_policies":["none"]}`)); !errors.Is(err, dashboard.ErrRefused) {
		t.Error(err)
	}
	if _, err := w.Key(ctx, dashboard.KeyName{Text: drawn}); err != nil {
		t.Error(err)
	}
}
