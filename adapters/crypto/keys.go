package crypto

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"sync"

	"github.com/gatehouse-io/gatehouse/ports/secret"
)

// Reasons why Keys.Open refuses a text. Neither error says anything about the content.
var (
	// ErrUnknownSecret: the text was sealed with a secret that was not given to
	// NewKeys.
	ErrUnknownSecret = errors.New("crypto: sealed with a secret that is not configured")
	// ErrDamaged: the text is not what Seal returned.
	ErrDamaged = errors.New("crypto: sealed text is damaged")
)

// Keys implements secret.Keys. It is safe for concurrent use; make one with
// NewKeys or Ephemeral.
type Keys struct {
	rings []ring // current first, never empty
}

var _ secret.Keys = (*Keys)(nil)

// ring holds the two keys derived from one secret. They are independent, so that a
// digest says nothing about a sealed text.
type ring struct {
	id     string // the ID of the secret, stored with what the secret protects, so that rotation works
	digest []byte // HMAC-SHA-256
	states *sync.Pool
	aead   cipher.AEAD
	sign   ed25519.PrivateKey
}

// NewKeys returns keys made from secrets: the first protects new texts, the others are
// older secrets that are still in use somewhere. A secret is any text of at least one
// character. HKDF does not slow guessing down, so a secret should be random and have 16
// characters or more. A repeated secret counts once.
func NewKeys(secrets ...string) (*Keys, error) {
	if len(secrets) == 0 {
		return nil, errors.New("crypto: at least one secret is needed")
	}
	k := &Keys{}
	for i, text := range secrets {
		if text == "" {
			return nil, fmt.Errorf("crypto: secret %d of %d is empty", i+1, len(secrets))
		}
		if slices.Contains(secrets[:i], text) {
			continue
		}
		r, err := newRing(text)
		if err != nil {
			return nil, fmt.Errorf("crypto: secret %d of %d: %w", i+1, len(secrets), err)
		}
		k.rings = append(k.rings, r)
	}
	return k, nil
}

// Ephemeral returns keys made from a random secret that is stored nowhere: what they
// protect is lost with the process.
func Ephemeral() (*Keys, error) { return NewKeys(randomHex(32)) }

func newRing(text string) (ring, error) {
	digest, err := hkdf.Key(sha256.New, []byte(text), nil, "gatehouse access key digest", 32)
	if err != nil {
		return ring{}, err
	}
	sealing, err := hkdf.Key(sha256.New, []byte(text), nil, "gatehouse access key seal", 32)
	if err != nil {
		return ring{}, err
	}
	block, err := aes.NewCipher(sealing)
	if err != nil {
		return ring{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return ring{}, err
	}
	seed, err := hkdf.Key(sha256.New, []byte(text), nil, "gatehouse audit signature", ed25519.SeedSize)
	if err != nil {
		return ring{}, err
	}
	name := sha256.Sum256(sealing)
	return ring{id: hex.EncodeToString(name[:4]), digest: digest, states: &sync.Pool{}, aead: aead, sign: ed25519.NewKeyFromSeed(seed)}, nil
}

// SigningKey names the current secret.
func (k *Keys) SigningKey() string { return k.rings[0].id }

// Sign returns the signature of a message with the current secret (Ed25519, RFC 8032).
func (k *Keys) Sign(message []byte) []byte { return ed25519.Sign(k.rings[0].sign, message) }

// PublicKey returns the key that verifies signatures made with the named secret.
func (k *Keys) PublicKey(name string) (ed25519.PublicKey, bool) {
	for _, r := range k.rings {
		if r.id == name {
			return r.sign.Public().(ed25519.PublicKey), true
		}
	}
	return nil, false
}

// NewKey implements secret.Keys: 128 random bits.
func (k *Keys) NewKey() string { return randomHex(16) }

// Digests implements secret.Keys. A digest is "<key id>.<HMAC in base64url>". Every
// request computes digests, and preparing the HMAC key costs as much as digesting, so
// prepared states are kept.
func (k *Keys) Digests(token string) []string {
	out := make([]string, len(k.rings))
	message, sum := []byte(token), make([]byte, 0, sha256.Size)
	for i, r := range k.rings {
		state, ok := r.states.Get().(hash.Hash)
		if !ok {
			state = hmac.New(sha256.New, r.digest)
		}
		state.Reset()
		state.Write(message)
		var text [64]byte
		out[i] = string(base64.RawURLEncoding.AppendEncode(append(append(text[:0], r.id...), '.'), state.Sum(sum)))
		r.states.Put(state)
	}
	return out
}

// sealVersion is the version of the layout of sealed texts; every sealed text begins
// with it.
const sealVersion = "v1"

// Seal implements secret.Keys. The result is "v1.<key id>.<base64url of nonce and
// ciphertext>", AES-256-GCM with the key id as additional data; two calls never
// return the same.
func (k *Keys) Seal(plain string) (string, error) {
	r := k.rings[0]
	box := r.aead.Seal(nil, nil, []byte(plain), []byte(r.id))
	return sealVersion + "." + r.id + "." + base64.RawURLEncoding.EncodeToString(box), nil
}

// Open implements secret.Keys. It fails with ErrUnknownSecret or ErrDamaged.
func (k *Keys) Open(sealed string) (plain string, current bool, err error) {
	version, rest, _ := strings.Cut(sealed, ".")
	id, text, ok := strings.Cut(rest, ".")
	if version != sealVersion || !ok {
		return "", false, ErrDamaged
	}
	i := slices.IndexFunc(k.rings, func(r ring) bool { return r.id == id })
	if i < 0 {
		return "", false, ErrUnknownSecret
	}
	box, ok := decode(base64.RawURLEncoding, text)
	if !ok {
		return "", false, ErrDamaged
	}
	open, err := k.rings[i].aead.Open(nil, nil, box, []byte(id))
	if err != nil {
		return "", false, ErrDamaged
	}
	return string(open), i == 0, nil
}
