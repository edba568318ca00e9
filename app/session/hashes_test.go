package session_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/argon2"
	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// hashOf returns the stored hash of a user's password.
func (w *world) hashOf(id string) (hash string) {
	w.t.Helper()
	err := w.users.Store.View(w.t.Context(), tenant.Everyone("test"), func(r store.Reader) error {
		u, err := identity.Records.Locate(w.t.Context(), r, id)
		hash = u.Value.Credentials.PasswordHash
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return hash
}

// A hash of an older kind is still verified. The next login replaces it, but only with
// the right password.
func TestOlderHashesAreReplaced(t *testing.T) {
	w := open(t, session.Config{})
	id := w.user("ada@example.com")
	before := w.hashOf(id)
	w.users.Passwords = argon2.New(crypto.Passwords{})
	b := w.browser("192.0.2.1:1")
	if b.login("ada@example.com", "another-passphrase") == nil || w.hashOf(id) != before {
		t.Error("a wrong password gets in, or replaces a hash")
	}
	for range 2 {
		if err := b.login("ada@example.com", "a-long-passphrase"); err != nil || !b.holds() {
			t.Fatal(err)
		}
		after := w.hashOf(id)
		if !strings.HasPrefix(after, "$argon2id$") || strings.HasPrefix(before, "$argon2id$") && after != before {
			t.Errorf("%s became %s", before, after)
		}
		before = after
	}
}
