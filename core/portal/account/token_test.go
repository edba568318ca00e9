package account_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
)

// TestVerify: a token is valid only with the key that signed it; no other algorithm is
// accepted.
func TestVerify(t *testing.T) {
	good := account.Sign("key", "digest")
	if id, ok := account.Verify("key", good); !ok || id != "digest" {
		t.Fatal(good, id, ok)
	}
	part := strings.Split(good, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`))
	for name, c := range map[string][2]string{
		"another key": {"other", good}, "no key": {"", account.Sign("", "digest")}, "nothing": {"key", ""}, "no signature": {"key", part[0] + "." + part[1] + "."},
		"two parts": {"key", part[0] + "." + part[1]}, "another payload": {"key", part[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"UserID":"x"}`)) + "." + part[2]},
		"no algorithm": {"key", none + "." + part[1] + "." + part[2]}, "nobody": {"key", account.Sign("key", "")}, "long": {"key", account.Sign("key", strings.Repeat("x", 4000))},
		"padding": {"key", good + "="},
	} {
		if id, ok := account.Verify(c[0], c[1]); ok {
			t.Errorf("%s: %q", name, id)
		}
	}
}

// FuzzVerify: only signed tokens are accepted.
func FuzzVerify(f *testing.F) {
	f.Add(account.Sign("key", "digest"))
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, token string) {
		if id, ok := account.Verify("key", token); ok && account.Sign("key", id) != token {
			t.Errorf("%q is taken for %q", token, id)
		}
	})
}

// TestAdmin: the roles that may use the API.
func TestAdmin(t *testing.T) {
	for role, want := range map[string]bool{account.SuperAdmin: true, account.ProviderAdmin: true, account.ConsumerAdmin: false, account.Member: false, "": false} {
		if (account.User{Role: role}).Admin() != want {
			t.Error(role)
		}
	}
}
