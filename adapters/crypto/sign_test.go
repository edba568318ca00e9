package crypto_test

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
)

// TestSigning rotates the secret: signatures with an older secret still verify, and a
// key that is not configured is unknown.
func TestSigning(t *testing.T) {
	older, err := crypto.NewKeys("older")
	if err != nil {
		t.Fatal(err)
	}
	rotated, err := crypto.NewKeys("newer", "older")
	if err != nil {
		t.Fatal(err)
	}
	name, message := older.SigningKey(), []byte("message")
	key, ok := rotated.PublicKey(name)
	if !ok || !ed25519.Verify(key, message, older.Sign(message)) || ed25519.Verify(key, message, rotated.Sign(message)) {
		t.Error("the older key does not verify what it signed, and only that")
	}
	if rotated.SigningKey() == name {
		t.Error("the older key signs")
	}
	if _, ok := older.PublicKey(rotated.SigningKey()); ok {
		t.Error("a key is known that is not configured")
	}
}

// Keys that only sign are rotated by a new first secret; older secrets still verify.
func TestSigner(t *testing.T) {
	keys, err := crypto.NewKeys("an encryption key")
	if err != nil {
		t.Fatal(err)
	}
	first, err := crypto.NewSigner(keys, "the first signing key")
	if err != nil {
		t.Fatal(err)
	}
	rotated, err := crypto.NewSigner(keys, "the second signing key", "the first signing key")
	if err != nil {
		t.Fatal(err)
	}
	message := []byte("message")
	for _, by := range []interface {
		SigningKey() string
		Sign([]byte) []byte
	}{keys, first, rotated} {
		key, ok := rotated.PublicKey(by.SigningKey())
		if !ok || !ed25519.Verify(key, message, by.Sign(message)) || ed25519.Verify(key, []byte("other"), by.Sign(message)) {
			t.Error(by.SigningKey(), ok)
		}
	}
	if _, ok := first.PublicKey(rotated.SigningKey()); ok || first.SigningKey() == rotated.SigningKey() {
		t.Error("a key is known before it is there")
	}
	same, err := crypto.NewKeys("the first signing key")
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := first.PublicKey(first.SigningKey()); bytes.Equal(a, must(same.PublicKey(same.SigningKey()))) {
		t.Error("one secret for both makes one key")
	}
	if alone, err := crypto.NewSigner(nil, "the first signing key"); err != nil {
		t.Error(err)
	} else if _, ok := alone.PublicKey(keys.SigningKey()); ok {
		t.Error("a key that is not configured is known")
	}
	for _, bad := range [][]string{nil, {"short"}, {"the first signing key", ""}} {
		if _, err := crypto.NewSigner(keys, bad...); err == nil {
			t.Error(bad)
		}
	}
}

func must(key ed25519.PublicKey, _ bool) ed25519.PublicKey { return key }
