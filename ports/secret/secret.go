// Package secret is the port to cryptography: credentials are found by a keyed
// digest, kept encrypted, and passwords hashed slowly.
package secret

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
}
