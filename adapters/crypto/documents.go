package crypto

import (
	"bytes"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse-io/gatehouse/ports/secret"
)

// Documents implements secret.Documents. It is safe for concurrent use.
type Documents struct {
	rings []documentRing // current first, never empty
}

var _ secret.Documents = (*Documents)(nil)

type documentRing struct {
	id   [keyIDSize]byte // the ID of the secret, stored with what the secret protects, so that rotation works
	aead *xaes
}

// A sealed document consists of the mark, the version of the layout, the ID of the key,
// the nonce and the ciphertext.
const (
	keyIDSize   = 4
	layout      = 1
	headSize    = 2 + keyIDSize
	sealedExtra = headSize + xaesNonce + 16
)

// NewDocuments returns the protection of documents made from secrets. The first secret
// seals new documents; all secrets open documents. See NewKeys for what a secret should
// be. The keys are independent of those that protect access keys.
func NewDocuments(secrets ...string) (*Documents, error) {
	if len(secrets) == 0 {
		return nil, errors.New("crypto: at least one secret is needed")
	}
	d := &Documents{}
	for i, text := range secrets {
		if text == "" {
			return nil, fmt.Errorf("crypto: secret %d of %d is empty", i+1, len(secrets))
		}
		if slices.Contains(secrets[:i], text) {
			continue
		}
		key, err := hkdf.Key(sha256.New, []byte(text), nil, "gatehouse stored documents", 32)
		if err != nil {
			return nil, err
		}
		r := documentRing{}
		name := sha256.Sum256(key)
		copy(r.id[:], name[:])
		if r.aead, err = newXAES(key); err != nil {
			return nil, err
		}
		d.rings = append(d.rings, r)
	}
	return d, nil
}

// ID implements secret.Documents.
func (d *Documents) ID() string { return hex.EncodeToString(d.rings[0].id[:]) }

// Seal implements secret.Documents: XAES-256-GCM, with the head of the result and the
// place as additional data. Two calls never append the same bytes.
func (d *Documents) Seal(dst, plain, place []byte) ([]byte, error) {
	r := &d.rings[0]
	at := len(dst)
	dst = slices.Grow(dst, len(plain)+sealedExtra)
	dst = append(append(dst, secret.Mark, layout), r.id[:]...)
	more := slices.Concat(dst[at:], place)
	dst = dst[:at+headSize+xaesNonce]
	nonce := dst[at+headSize:]
	rand.Read(nonce)
	return r.aead.seal(dst, nonce, plain, more)
}

// Open implements secret.Documents.
func (d *Documents) Open(dst, sealed, place []byte) ([]byte, error) {
	if len(sealed) < sealedExtra || sealed[0] != secret.Mark || sealed[1] != layout {
		return nil, ErrDamaged
	}
	head, rest := sealed[:headSize], sealed[headSize:]
	for i := range d.rings {
		if r := &d.rings[i]; bytes.Equal(r.id[:], head[2:]) {
			plain, err := r.aead.open(dst, rest[:xaesNonce], rest[xaesNonce:], slices.Concat(head, place))
			if err != nil {
				return nil, ErrDamaged
			}
			return plain, nil
		}
	}
	return nil, secret.ErrUnknown
}

// Current implements secret.Documents.
func (d *Documents) Current(sealed []byte) bool {
	return len(sealed) >= headSize && bytes.Equal(sealed[:headSize], append([]byte{secret.Mark, layout}, d.rings[0].id[:]...))
}
