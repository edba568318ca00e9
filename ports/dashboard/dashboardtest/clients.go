package dashboardtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// clients: an OAuth client of an API is made, replaced under its identifier, and deleted.
// Strangers can do none of this.
func clients(t *testing.T, w World) {
	ctx, policy := t.Context(), create(t, w, "gold", "Gold")
	meta := doc.NewObject()
	meta.Set("DeveloperID", doc.NewInt(7))
	want := dashboard.OAuthClient{ID: "till", Secret: "hush-hush", RedirectURI: "https://a.example/back", Policy: policy.ID, Description: "Till (2)", Meta: meta}
	if list, err := w.OAuthClients(ctx, "orders"); err != nil || len(list) != 0 {
		t.Fatal(list, err)
	}
	for range 2 { // the second time, it exists already
		if err := w.PutOAuthClient(ctx, "orders", want); err != nil {
			t.Fatal(err)
		}
	}
	want.RedirectURI, want.Description = "https://b.example/back", "Scanner (2)"
	if err := w.PutOAuthClient(ctx, "orders", want); err != nil {
		t.Fatal(err)
	}
	list, err := w.OAuthClients(ctx, "orders")
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	got := list[0]
	if got.Meta.Get("DeveloperID").Int() != 7 {
		t.Errorf("%s", got.Meta.JSON())
	}
	if got.Meta = meta; got != want {
		t.Errorf("%+v", got)
	}
	clientStrangers(t, w, want)
	for range 2 { // the second time, it is gone already
		if err := w.DeleteOAuthClient(ctx, "orders", want.ID); err != nil {
			t.Error(err)
		}
	}
	if err := w.DeleteOAuthClient(ctx, "nothing", want.ID); err != nil { // it was deleted with its API
		t.Error(err)
	}
	if list, err := w.OAuthClients(ctx, "orders"); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}

// clientStrangers: other organisations cannot read, change or delete a client, and no error
// contains its secret.
func clientStrangers(t *testing.T, w World, want dashboard.OAuthClient) {
	t.Helper()
	ctx := t.Context()
	if list, err := w.OAuthClients(ctx, "claims"); err != nil || len(list) != 0 {
		t.Error("it is at another API", list, err)
	}
	for name, d := range map[string]dashboard.Dashboard{"a stranger": w.Stranger, "another organisation": w.Other, "a reader": w.Reader} {
		if list, err := d.OAuthClients(ctx, "orders"); err == nil || len(list) > 0 {
			t.Error(name, "reads it")
		}
		other := want
		other.Description = name
		if err := d.PutOAuthClient(ctx, "orders", other); err == nil || strings.Contains(err.Error(), want.Secret) {
			t.Errorf("%s changes it, or is told its secret: %v", name, err)
		}
		_ = d.DeleteOAuthClient(ctx, "orders", want.ID)
	}
	if list, _ := w.OAuthClients(ctx, "orders"); len(list) != 1 || list[0].Description != want.Description {
		t.Errorf("somebody has changed it: %+v", list)
	}
	if err := w.PutOAuthClient(ctx, "nothing", want); !errors.Is(err, dashboard.ErrRefused) && !errors.Is(err, dashboard.ErrGone) {
		t.Error(err)
	}
	if err := w.Away.PutOAuthClient(ctx, "orders", want); !errors.Is(err, dashboard.ErrUnreachable) || strings.Contains(err.Error(), w.Secret) || strings.Contains(err.Error(), want.Secret) {
		t.Error(err)
	}
	if err := w.Away.DeleteOAuthClient(ctx, "orders", want.ID); !errors.Is(err, dashboard.ErrUnreachable) {
		t.Error(err)
	}
}
