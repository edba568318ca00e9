package crypto

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Signer signs with keys of its own (Ed25519, RFC 8032), made from secrets: the first
// secret signs, the others are older secrets that verify only. Make one with NewSigner.
type Signer struct {
	keys  []signing
	older *Keys
}

type signing struct {
	name string
	key  ed25519.PrivateKey
}

// minSigning is the minimum length in bytes of a signing secret: an attacker can test
// guesses against a public key for ever.
const minSigning = 16

// NewSigner returns a signer. older are the keys that signed before signing had secrets
// of its own; their signatures still verify.
func NewSigner(older *Keys, secrets ...string) (*Signer, error) {
	if len(secrets) == 0 {
		return nil, errors.New("crypto: at least one secret is needed")
	}
	s := &Signer{older: older}
	for i, text := range secrets {
		if len(text) < minSigning {
			return nil, fmt.Errorf("crypto: secret %d of %d has less than %d characters", i+1, len(secrets), minSigning)
		}
		seed, err := hkdf.Key(sha256.New, []byte(text), nil, "gatehouse audit signing key", ed25519.SeedSize)
		if err != nil {
			return nil, err
		}
		key := ed25519.NewKeyFromSeed(seed)
		name := sha256.Sum256(key.Public().(ed25519.PublicKey))
		s.keys = append(s.keys, signing{"s" + hex.EncodeToString(name[:8]), key})
	}
	return s, nil
}

// SigningKey names the current key.
func (s *Signer) SigningKey() string { return s.keys[0].name }

// Sign returns the signature of a message with the current key.
func (s *Signer) Sign(message []byte) []byte { return ed25519.Sign(s.keys[0].key, message) }

// PublicKey returns the key that verifies signatures made with the named key.
func (s *Signer) PublicKey(name string) (ed25519.PublicKey, bool) {
	for _, k := range s.keys {
		if k.name == name {
			return k.key.Public().(ed25519.PublicKey), true
		}
	}
	if s.older == nil {
		return nil, false
	}
	return s.older.PublicKey(name)
}
