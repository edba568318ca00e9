// Package secret is the port to cryptography: credentials are looked up by a keyed digest and
// stored encrypted, and passwords are hashed slowly.
package secret

import "errors"

// Keys makes and protects access keys. Its secrets can be rotated: texts that were protected
// with an older secret can still be opened.
type Keys interface {
	// NewKey returns a fresh access key: 32 lower-case hex digits.
	NewKey() string
	// Digests returns the digests under which a token may have been stored: the
	// current one first.
	Digests(token string) []string
	// Seal encrypts a text with the current secret.
	Seal(plain string) (string, error)
	// Open decrypts a text that Seal returned. current is false when an older secret was used:
	// the caller may then seal the text again.
	Open(sealed string) (plain string, current bool, err error)
}

// Passwords hashes passwords so that guessing is slow.
type Passwords interface {
	// Hash returns a salted hash with its own parameters.
	Hash(password string) (string, error)
	// Verify reports whether a password matches a hash, in constant time.
	Verify(hash, password string) bool
	// Current reports whether a hash has the parameters that Hash uses now. Another hash is
	// replaced at the next login, when its password is known.
	Current(hash string) bool
}

// Mark is the first byte of every sealed document. No JSON text begins with it.
const Mark = '!'

// ErrUnknown means that a document was sealed with a secret that is not configured.
var ErrUnknown = errors.New("encrypted with a key that is not configured")

// Documents protects whole documents where they are stored. Its secrets can be rotated like
// those of Keys.
type Documents interface {
	// ID identifies the current secret without revealing it.
	ID() string
	// Seal encrypts a document with the current secret and appends the result to dst, which must
	// not overlap plain. The result begins with Mark. It can be opened only with the same place,
	// which identifies where it is stored.
	Seal(dst, plain, place []byte) ([]byte, error)
	// Open decrypts what Seal appended for this place and appends the document to dst,
	// which must not overlap sealed. The error is ErrUnknown when the secret is missing.
	Open(dst, sealed, place []byte) ([]byte, error)
	// Current reports whether a sealed document was sealed with the current secret.
	Current(sealed []byte) bool
}
