package dashboardtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// entries: an entry of the registry is created, replaced without its mappings, patched in its
// mappings, and deleted. Strangers can do none of this.
func entries(t *testing.T, w World) {
	ctx, want := t.Context(), registry.Draft{ClientIdPID: "portal-1", Name: "Login", Issuer: "https://a", JWKSURI: "https://a/keys"}
	if _, err := w.Entry(ctx, want.ClientIdPID); !errors.Is(err, dashboard.ErrGone) {
		t.Error(err)
	}
	for range 2 { // the second time, it exists already
		if err := w.PutEntry(ctx, want); err != nil {
			t.Fatal(err)
		}
	}
	patch, err := doc.ParseNode([]byte(`{"orders":{"scope_to_policy":{"shop":"gold","https://x/.default":"silver"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.PatchEntry(ctx, want.ClientIdPID, patch); err != nil {
		t.Fatal(err)
	}
	want.Name, want.ScopeClaim, want.JWKSURI = "Acme", "scp", "https://b/keys"
	if err := w.PutEntry(ctx, want); err != nil {
		t.Fatal(err)
	}
	got, err := w.Entry(ctx, want.ClientIdPID)
	m, _ := got.APIMappings.Get("orders")
	if policy, _ := m.Policy("https://x/.default"); err != nil || policy != "silver" || got.Name != want.Name || got.ScopeClaim != want.ScopeClaim || got.JWKSURI != want.JWKSURI || got.Issuer != want.Issuer {
		t.Errorf("%+v, %v", got, err)
	}
	if err := w.PatchEntry(ctx, "portal-2", patch); !errors.Is(err, dashboard.ErrGone) {
		t.Error(err)
	}
	for name, d := range map[string]dashboard.Dashboard{"a stranger": w.Stranger, "another organisation": w.Other} {
		_, err := d.Entry(ctx, want.ClientIdPID)
		if err == nil {
			t.Error(name, "reads it")
		}
		if err := d.PatchEntry(ctx, want.ClientIdPID, patch); err == nil {
			t.Error(name, "changes it")
		}
	}
	if err := w.Away.PutEntry(ctx, want); !errors.Is(err, dashboard.ErrUnreachable) || strings.Contains(err.Error(), w.Secret) {
		t.Error(err)
	}
	for range 2 { // the second time, it is gone already
		if err := w.DeleteEntry(ctx, want.ClientIdPID); err != nil {
			t.Error(err)
		}
	}
	if _, err := w.Entry(ctx, want.ClientIdPID); !errors.Is(err, dashboard.ErrGone) {
		t.Error(err)
	}
}

// definitions: the definition of an API is read and written, except when another writer has
// changed it meanwhile.
func definitions(t *testing.T, w World) {
	ctx := t.Context()
	d, err := w.Definition(ctx, "claims")
	if err != nil || d.OAS || !d.Document.Get("api_definition", "enable_jwt").True() {
		t.Fatal(err)
	}
	d.Document.Put(doc.NewString("c2VjcmV0"), "api_definition", "jwt_source")
	if err := w.ReplaceDefinition(ctx, d); err != nil {
		t.Fatal(err)
	}
	after, err := w.Definition(ctx, "claims")
	if err != nil || after.Document.Get("api_definition", "jwt_source").Text() != "c2VjcmV0" || after.Document.Get("api_definition", "name").Text() != "Claims" {
		t.Error(err, string(after.Document.JSON()))
	}
	if err := w.ReplaceDefinition(ctx, d); !errors.Is(err, dashboard.ErrChanged) {
		t.Error(err)
	}
	if _, err := w.Definition(ctx, "nothing"); err == nil {
		t.Error("there is a definition of nothing")
	}
	if _, err := w.Stranger.Definition(ctx, "claims"); !errors.Is(err, dashboard.ErrRefused) {
		t.Error(err)
	}
	if err := w.Reader.ReplaceDefinition(ctx, after); !errors.Is(err, dashboard.ErrRefused) {
		t.Error(err)
	}
}
