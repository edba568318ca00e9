// Package keyhash computes the name under which a gateway stores a key, and makes keys
// from the identifiers that are chosen for them
// (docs/wire/gateway-control.md#names-of-keys).
package keyhash

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Functions by which gateways hash keys.
const (
	Murmur32  = "murmur32" // also the function for keys that name none
	Murmur64  = "murmur64"
	Murmur128 = "murmur128"
	SHA256    = "sha256"
)

// functions by name.
var functions = map[string]func([]byte) []byte{
	Murmur32: func(b []byte) []byte { return binary.BigEndian.AppendUint32(nil, sum32(b)) },
	Murmur64: func(b []byte) []byte { h, _ := sum128(b); return binary.BigEndian.AppendUint64(nil, h) },
	Murmur128: func(b []byte) []byte {
		h, k := sum128(b)
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, h), k)
	},
	SHA256: func(b []byte) []byte { s := sha256.Sum256(b); return s[:] },
}

// Of returns the hash of a key, computed with the function that the key itself names.
func Of(key string) string {
	function := functions[Murmur32]
	if f, ok := Parse(key); ok && functions[f.Function] != nil {
		function = functions[f.Function]
	}
	return hex.EncodeToString(function([]byte(key)))
}

// Parts are the parts of a key of the newer form.
type Parts struct {
	Org      tenant.ID `json:"org"`
	ID       string    `json:"id"`
	Function string    `json:"h"`
}

// Parse reads a key of the newer form; false: it is none.
func Parse(key string) (p Parts, ok bool) {
	if len(key) > longest {
		return p, false
	}
	text, err := base64.StdEncoding.DecodeString(key)
	if err != nil || !bytes.HasPrefix(text, []byte("{")) || json.Unmarshal(text, &p) != nil {
		return Parts{}, false
	}
	return p, p.ID != ""
}

// longest is the maximum length in bytes of a key that is parsed.
const longest = 4096

// Make makes the key of an organisation with an identifier, as a gateway that hashes with
// function does; with "" it makes a key of the oldest form, the organisation followed by
// the identifier. An identifier may already begin with the organisation.
func Make(org tenant.ID, id, function string) string {
	id = strings.TrimPrefix(id, string(org))
	if function == "" {
		return string(org) + id
	}
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"org":"%s","id":"%s","h":"%s"}`, org, id, function))
}

// Forms returns the keys that gateways may have made of an identifier of an organisation,
// newer forms first.
func Forms(org tenant.ID, id string) []string {
	return []string{Make(org, id, Murmur64), Make(org, id, Murmur128), Make(org, id, SHA256), Make(org, id, Murmur32), Make(org, id, "")}
}

// The murmur3 functions by Austin Appleby, with seed 0.

func sum32(b []byte) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	h, n := uint32(0), uint32(len(b)) //nolint:gosec // keys are short
	for ; len(b) >= 4; b = b[4:] {
		h ^= bits.RotateLeft32(binary.LittleEndian.Uint32(b)*c1, 15) * c2
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	}
	var k uint32
	for i := len(b) - 1; i >= 0; i-- {
		k = k<<8 | uint32(b[i])
	}
	h ^= bits.RotateLeft32(k*c1, 15) * c2
	h ^= n
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

func sum128(b []byte) (h1, h2 uint64) {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	mix1 := func(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }
	mix2 := func(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }
	n := uint64(len(b))
	for ; len(b) >= 16; b = b[16:] {
		h1 ^= mix1(binary.LittleEndian.Uint64(b))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= mix2(binary.LittleEndian.Uint64(b[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte
	copy(tail[:], b)
	h2 ^= mix2(binary.LittleEndian.Uint64(tail[8:]))
	h1 ^= mix1(binary.LittleEndian.Uint64(tail[:8]))
	h1 ^= n
	h2 ^= n
	h1 += h2
	h2 += h1
	h1, h2 = final(h1), final(h2)
	h1 += h2
	h2 += h1
	return h1, h2
}

func final(k uint64) uint64 {
	k = (k ^ k>>33) * 0xff51afd7ed558ccd
	k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}
