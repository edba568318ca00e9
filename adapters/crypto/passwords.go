package crypto

import (
	"cmp"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/ports/secret"
)

// Parameters of password hashes.
const (
	scheme            = "pbkdf2-sha256"
	defaultIterations = 600_000   // OWASP Password Storage Cheat Sheet, PBKDF2-HMAC-SHA256
	maxIterations     = 6_000_000 // a hash that asks for more would block the process that verifies it
	saltSize          = 16        // bytes
	hashSize          = sha256.Size
)

// Passwords implements secret.Passwords with PBKDF2 (RFC 8018 5.2). A hash is
// "pbkdf2-sha256$<iterations>$<salt>$<hash>", the last two in base64, so that it
// can be verified after the default has changed. The zero value is ready to use.
type Passwords struct {
	// Iterations of new hashes, at most 6,000,000; zero means 600,000.
	Iterations int
}

var _ secret.Passwords = Passwords{}

// Hash implements secret.Passwords. It fails when Iterations is out of range.
func (p Passwords) Hash(password string) (string, error) {
	iterations := cmp.Or(p.Iterations, defaultIterations)
	if iterations < 1 || iterations > maxIterations {
		return "", fmt.Errorf("crypto: %d iterations are not between 1 and %d", iterations, maxIterations)
	}
	salt := make([]byte, saltSize)
	rand.Read(salt)
	hash, err := pbkdf2.Key(sha256.New, password, salt, iterations, hashSize)
	if err != nil {
		return "", fmt.Errorf("crypto: hash password: %w", err)
	}
	enc := base64.RawStdEncoding
	return scheme + "$" + strconv.Itoa(iterations) + "$" + enc.EncodeToString(salt) + "$" + enc.EncodeToString(hash), nil
}

// Verify implements secret.Passwords with the iterations that the hash names. A
// malformed hash matches no password.
func (p Passwords) Verify(hash, password string) bool {
	iterations, salt, want, ok := parseHash(hash)
	if !ok {
		return false
	}
	got, err := pbkdf2.Key(sha256.New, password, salt, iterations, hashSize)
	return err == nil && subtle.ConstantTimeCompare(got, want) == 1
}

// Current implements secret.Passwords.
func (p Passwords) Current(hash string) bool {
	iterations, _, _, ok := parseHash(hash)
	return ok && iterations == cmp.Or(p.Iterations, defaultIterations)
}

func parseHash(text string) (iterations int, salt, hash []byte, ok bool) {
	part := strings.Split(text, "$")
	if len(part) != 4 || part[0] != scheme {
		return 0, nil, nil, false
	}
	iterations, err := strconv.Atoi(part[1])
	if err != nil || iterations < 1 || iterations > maxIterations || part[1] != strconv.Itoa(iterations) {
		return 0, nil, nil, false
	}
	salt, ok = decode(base64.RawStdEncoding, part[2])
	if !ok || len(salt) != saltSize {
		return 0, nil, nil, false
	}
	hash, ok = decode(base64.RawStdEncoding, part[3])
	return iterations, salt, hash, ok && len(hash) == hashSize
}
