// Package secret is the port to cryptography: credentials are found by a keyed
// digest, kept encrypted, and passwords hashed slowly.
package secret

import "errors"

// Keys makes and protects access keys. The zero-argument secrets behind it can
// be rotated: what was protected with an older one still opens.
type Keys interface {
	// NewKey returns a fresh access key: 32 lower-case hex digits.
	NewKey() string
	// Digests returns the digests under which a token may have been stored: the
	// current one first.
	Digests(token string) []string
	// Seal encrypts a text with the current secret.
	Seal(plain string) (string, error)
	// Open decrypts what Seal returned. current is false when an older secret
	// was in use, so that the caller may seal it again.
	Open(sealed string) (plain string, current bool, err error)
}

// Passwords hashes passwords so that guessing is slow.
type Passwords interface {
	// Hash returns a salted hash with its own parameters.
	Hash(password string) (string, error)
	// Verify reports whether a password belongs to a hash, in constant time.
	Verify(hash, password string) bool
	// Current reports whether a hash was made as Hash makes them now. One that was not
	// is replaced when its password is at hand.
	Current(hash string) bool
}

// Mark is the first byte of every sealed document, and of no JSON text.
const Mark = '!'

// ErrUnknown means that a document was sealed with a secret that is not among
// those configured.
var ErrUnknown = errors.New("encrypted with a key that is not configured")

// Documents protects whole documents where they are stored. The secrets behind it
// can be rotated as those of Keys.
type Documents interface {
	// ID names the current secret; it says nothing about it.
	ID() string
	// Seal encrypts a document with the current secret and appends the result to dst,
	// which must not overlap plain. The result begins with Mark and opens only with the
	// same place, which says where it is kept.
	Seal(dst, plain, place []byte) ([]byte, error)
	// Open decrypts what Seal appended for this place and appends the document to dst,
	// which must not overlap sealed. The error is ErrUnknown when the secret is missing.
	Open(dst, sealed, place []byte) ([]byte, error)
	// Current reports whether a sealed document was sealed with the current secret.
	Current(sealed []byte) bool
}
