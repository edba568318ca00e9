package crypto_test

import (
	"crypto/ed25519"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
)

// TestSigning rotates the secret: what an older one signed is still verified, and a key
// that is not configured is unknown.
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
