package gatewaysim

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/twmb/murmur3"
)

// token returns the key of an organisation with an identifier, which may begin with the
// organisation (docs/wire/gateway-control.md#names-of-keys).
func (c Config) token(org, id string) string {
	id = strings.TrimPrefix(id, org)
	if c.HashKeyFunction == "" {
		return org + id
	}
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"org":"%s","id":"%s","h":"%s"}`, org, id, c.HashKeyFunction))
}

// kept returns the name under which a key is stored: its hash, by the function that the
// key itself names.
func (c Config) kept(token string) string {
	if c.PlainKeys {
		return token
	}
	var named struct{ H string }
	if text, err := base64.StdEncoding.DecodeString(token); err == nil {
		_ = json.Unmarshal(text, &named) // a key of another form names none
	}
	text := []byte(token)
	switch named.H {
	case "murmur64":
		return fmt.Sprintf("%016x", murmur3.Sum64(text))
	case "murmur128":
		a, b := murmur3.Sum128(text)
		return fmt.Sprintf("%016x%016x", a, b)
	case "sha256":
		return fmt.Sprintf("%x", sha256.Sum256(text))
	}
	return fmt.Sprintf("%08x", murmur3.Sum32(text))
}

// random returns a new identifier.
func random() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return hex.EncodeToString(b[:])
}
