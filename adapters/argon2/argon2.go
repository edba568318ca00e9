// Package argon2 hashes passwords with Argon2id (RFC 9106).
package argon2

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/crypto/argon2"

	"github.com/gatehouse-io/gatehouse/ports/secret"
)

// Parameters of new hashes: the second choice of the OWASP Password Storage Cheat
// Sheet for Argon2id.
const (
	memory   = 19 * 1024 // KiB
	passes   = 2
	threads  = 1
	saltSize = 16 // bytes
	hashSize = 32 // bytes
)

// Bounds of the parameters of a stored hash. A hash with larger parameters would keep the
// processor busy, or fill the memory, of the process that verifies it.
const (
	mostMemory  = 64 * 1024 // KiB
	mostPasses  = 10
	mostThreads = 4
)

// Passwords implements secret.Passwords. A hash is a PHC string,
// "$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>", the last two in base64 without padding. At
// most a few hashes are computed at a time; further calls wait.
type Passwords struct {
	older secret.Passwords
	slots chan struct{}
}

var _ secret.Passwords = (*Passwords)(nil)

// New returns Passwords that also verify hashes made by older, an older scheme; nil: there are
// none.
func New(older secret.Passwords) *Passwords {
	// Each hash takes memory and a processor. One processor stays free for everything else, so
	// that a flood of logins does not block the service.
	atOnce := min(max(1, runtime.GOMAXPROCS(0)-1), 4)
	return &Passwords{older: older, slots: make(chan struct{}, atOnce)}
}

// Hash implements secret.Passwords.
func (p *Passwords) Hash(password string) (string, error) {
	h := phc{memory: memory, passes: passes, threads: threads, salt: make([]byte, saltSize)}
	rand.Read(h.salt)
	h.hash = p.derive(h, password)
	return h.String(), nil
}

// Verify implements secret.Passwords with the parameters that the hash names. A malformed hash
// matches no password.
func (p *Passwords) Verify(hash, password string) bool {
	h, ok := parse(hash)
	if !ok {
		return p.older != nil && !strings.HasPrefix(hash, "$argon2") && p.older.Verify(hash, password)
	}
	return subtle.ConstantTimeCompare(p.derive(h, password), h.hash) == 1
}

// Current implements secret.Passwords.
func (p *Passwords) Current(hash string) bool {
	h, ok := parse(hash)
	return ok && h.memory == memory && h.passes == passes && h.threads == threads
}

func (p *Passwords) derive(h phc, password string) []byte {
	p.slots <- struct{}{}
	defer func() { <-p.slots }()
	return argon2.IDKey([]byte(password), h.salt, h.passes, h.memory, h.threads, hashSize)
}

// phc is a hash in the format of the Password Hashing Competition.
type phc struct {
	memory, passes uint32
	threads        uint8
	salt, hash     []byte
}

var encoding = base64.RawStdEncoding.Strict()

func (h phc) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.passes, h.threads,
		encoding.EncodeToString(h.salt), encoding.EncodeToString(h.hash))
}

// parse reads a hash in exactly the spelling that String writes; it accepts no other.
func parse(text string) (h phc, ok bool) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 {
		return h, false
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memory, &h.passes, &h.threads); err != nil {
		return h, false
	}
	var err error
	if h.salt, err = encoding.DecodeString(parts[4]); err != nil || len(h.salt) != saltSize {
		return h, false
	}
	if h.hash, err = encoding.DecodeString(parts[5]); err != nil || len(h.hash) != hashSize {
		return h, false
	}
	bounded := h.passes >= 1 && h.passes <= mostPasses && h.threads >= 1 && h.threads <= mostThreads && h.memory >= 8 && h.memory <= mostMemory
	return h, bounded && h.String() == text
}
