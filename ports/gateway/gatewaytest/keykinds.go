package gatewaytest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

func users(t *testing.T, w World) {
	ctx := t.Context()
	made, theirs := create(t, w, Org, "bob", bob), create(t, w, Other, "bob", strings.Replace(bob, "gold", "theirs", 1))
	if made.ID != "" || made.Hash == theirs.Hash {
		t.Error("a basic-auth user has an identifier, or two have one")
	}
	for range 2 {
		for _, name := range []gateway.KeyName{byUser("bob"), byHash(made.Hash)} {
			k := read(t, w, Org, name)
			data := k.Session.Get("basic_auth_data")
			if k.Hash != made.Hash || k.ID != "" || data.Get("password").Text() != "" || data.Get("hash_type").Text() != "bcrypt" {
				t.Errorf("by %d: %s %s", name.By, k.Hash, k.Session.JSON())
			}
		}
		s := read(t, w, Org, byUser("bob")).Session.Clone() // without a password: the stored one stays
		s.Set("alias", doc.NewString("Bob"))
		if k, err := w.Keys.ReplaceKey(ctx, Org, byUser("bob"), s, true); err != nil || k.Hash != made.Hash || k.ID != "" || k.Session.Get("alias").Text() != "Bob" {
			t.Errorf("replace: %v", err)
		}
	}
	if k, err := w.Keys.ReplaceKey(ctx, Org, byUser("bob"), doctest.Node(t, goldRights), true); err != nil || k.Session.Get("basic_auth_data", "hash_type").Text() != "bcrypt" {
		t.Errorf("without basic_auth_data the password is gone: %v", err)
	}
	if got := list(t, w, Org, "orders"); !slices.Equal(got, []string{made.Hash}) {
		t.Errorf("listed %v", got)
	}
	if err := w.Keys.DeleteKey(ctx, Org, byUser("bob")); err != nil {
		t.Error(err)
	}
	if _, err := w.Keys.Key(ctx, Org, byUser("bob")); !errors.Is(err, gateway.ErrUnknown) {
		t.Error(err)
	}
	if k := read(t, w, Other, byUser("bob")); k.Hash != theirs.Hash {
		t.Error("the other one is not found")
	}
}

func hmac(t *testing.T, w World) {
	made := create(t, w, Org, "", `{"hmac_enabled":true,"apply_policies":["gold"]}`)
	secret := made.Session.Get("hmac_string").Text()
	if secret == "" || made.ID == "" {
		t.Fatal("no secret")
	}
	if read(t, w, Org, byKey(made.ID)).Session.Get("hmac_string").Text() != secret {
		t.Error("another secret is read")
	}
	given := create(t, w, Org, chosen, `{"hmac_enabled":true,"hmac_string":"9879879878787878","apply_policies":["gold"]}`)
	if given.Session.Get("hmac_string").Text() != "9879879878787878" {
		t.Error("a secret is replaced")
	}
}

// slashes: a base64 key may contain a slash. Gateways that hash find it by the key itself.
func slashes(t *testing.T, w World) {
	made := gateway.StoredKey{}
	for _, id := range []string{"abc?", "abcd?", "abcde?"} {
		if k := create(t, w, Org, id, goldRights); strings.Contains(k.ID, "/") && k.ID != k.Hash {
			made = k
		}
	}
	if made.ID == "" {
		return // keys are not in base64, or not hashed
	}
	if k := read(t, w, Org, byKey(made.ID)); k.Key != made.Key {
		t.Errorf("%+v, want %+v", k.Key, made.Key)
	}
	k, err := w.Keys.ReplaceKey(t.Context(), Org, byKey(made.ID), doctest.Node(t, `{"apply_policies":["gold"],"alias":"new"}`), false)
	if err != nil || k.Key != made.Key || k.Session.Get("alias").Text() != "new" {
		t.Error("replace:", err)
	}
	if err := w.Keys.DeleteKey(t.Context(), Org, byKey(made.ID)); err != nil {
		t.Error("delete:", err)
	}
}

func certificateKeys(t *testing.T, w World) {
	certificate := string(Org) + strings.Repeat("c0ffee12", 8)
	session := `{"certificate":"` + certificate + `","apply_policies":["gold"]}`
	made := create(t, w, Org, "", session)
	if made.ID == "" || made.Session.Get("certificate").Text() != certificate {
		t.Errorf("%s", made.Session.JSON())
	}
	if _, err := w.Keys.CreateKey(t.Context(), Org, "", doctest.Node(t, session)); !errors.Is(err, gateway.ErrTaken) || strings.Contains(err.Error(), made.ID) {
		t.Error(err)
	}
	if got := list(t, w, Org, ""); !slices.Equal(got, []string{made.Hash}) {
		t.Errorf("listed %v", got)
	}
	if k := read(t, w, Org, byKey(certificate)); k.Hash != made.Hash {
		t.Error("it is not found by its certificate")
	}
	if err := w.Keys.DeleteKey(t.Context(), Org, byHash(made.Hash)); err != nil {
		t.Fatal(err)
	}
	if freed := create(t, w, Org, "", session); freed.Key != made.Key {
		t.Error("one certificate, two keys")
	}
}

// bindings: a key can only be bound to certificates that exist.
func bindings(t *testing.T, w World) {
	ctx := t.Context()
	id := addCertificate(t, w, Org, NewPair(t, "client.example").Certificate)
	with := func(id string) *doc.Node {
		return doctest.Node(t, `{"apply_policies":["gold"],"mtls_static_certificate_bindings":["`+id+`"]}`)
	}
	k, err := w.Keys.CreateKey(ctx, Org, chosen, with(id))
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"zzz", "", string(Org) + strings.Repeat("c0ffee12", 8), string(Other) + strings.Repeat("c0ffee12", 8)} {
		if _, err := w.Keys.CreateKey(ctx, Org, absent, with(wrong)); !errors.Is(err, gateway.ErrRefused) {
			t.Errorf("create %q: %v", wrong, err)
		}
		if _, err := w.Keys.ReplaceKey(ctx, Org, byHash(k.Hash), with(wrong), false); !errors.Is(err, gateway.ErrRefused) {
			t.Errorf("replace %q: %v", wrong, err)
		}
	}
	if got := list(t, w, Org, ""); !slices.Equal(got, []string{k.Hash}) {
		t.Errorf("listed %v", got)
	}
	if got := read(t, w, Org, byHash(k.Hash)).Session.Get("mtls_static_certificate_bindings").Texts(); !slices.Equal(got, []string{id}) {
		t.Error(got)
	}
}
