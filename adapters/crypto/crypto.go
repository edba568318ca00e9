// Package crypto implements the ports to cryptography and identity with the
// standard library: it protects access keys, hashes passwords, and makes the
// identifiers of records, nodes and requests.
package crypto

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
)

// NewUUID returns a random UUID, version 4 (RFC 9562 5.4), in lower case.
func NewUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return uuid(b)
}

// uuid spells 16 bytes as 8-4-4-4-12 lower-case hex digits.
func uuid(b [16]byte) string {
	const dash = '-'
	out := make([]byte, 0, 36)
	out = append(hex.AppendEncode(out, b[:4]), dash)
	out = append(hex.AppendEncode(out, b[4:6]), dash)
	out = append(hex.AppendEncode(out, b[6:8]), dash)
	out = append(hex.AppendEncode(out, b[8:10]), dash)
	return string(hex.AppendEncode(out, b[10:]))
}

// randomHex returns n random bytes as lower-case hex digits. The standard library's
// random source cannot fail: it ends the program instead.
func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// decode accepts only the spelling that enc itself writes. The standard decoder skips
// line breaks and stray bits, and a protected text must not have two spellings.
func decode(enc *base64.Encoding, text string) ([]byte, bool) {
	b, err := enc.DecodeString(text)
	return b, err == nil && enc.EncodeToString(b) == text
}
