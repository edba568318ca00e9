package audit

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Checkpoint is a signed statement about a trail (docs/wire/audit.md#checkpoints). The members
// have the order in which they are signed.
type Checkpoint struct {
	Kind      string    `json:"kind"` // Batch or Floor
	OrgID     tenant.ID `json:"org_id"`
	First     uint64    `json:"first"`  // number of the first record that it covers
	Before    string    `json:"before"` // hash before that record
	Seq       uint64    `json:"seq"`    // number of the last record
	Hash      string    `json:"hash"`   // of the last record
	Time      int64     `json:"time"`   // Unix seconds
	Key       string    `json:"key"`    // name of the signing key
	Signature string    `json:"signature"`
}

// The kinds of checkpoints.
const (
	Batch = "batch" // the records from First to Seq are these
	Floor = "floor" // the records up to Seq were deleted according to retention
)

// signed is the prefix of the signed message, so that a signature fits no other kind of
// message.
const signed = "gatehouse audit checkpoint\n"

// Message returns the message that is signed.
func (c Checkpoint) Message() []byte {
	c.Signature = ""
	text, _ := json.Marshal(c) // texts and numbers only
	return append([]byte(signed), text...)
}

// Sign returns c with the signature of a key.
func (c Checkpoint) Sign(key string, sign func([]byte) []byte) Checkpoint {
	c.Key = key
	c.Signature = base64.RawURLEncoding.EncodeToString(sign(c.Message()))
	return c
}

// Keys returns the public key with a name.
type Keys func(name string) (ed25519.PublicKey, bool)

// Valid reports whether a known key signed the checkpoint; known is false if there is no key
// with its name.
func (c Checkpoint) Valid(keys Keys) (valid, known bool) {
	key, known := keys(c.Key)
	sig, err := base64.RawURLEncoding.Strict().DecodeString(c.Signature)
	return known && err == nil && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, c.Message(), sig), known
}

// line is a checkpoint in an exported file.
type line struct {
	Checkpoint *Checkpoint `json:"checkpoint"`
}

// Line returns a checkpoint as a line of an exported file.
func (c Checkpoint) Line() []byte {
	text, _ := json.Marshal(line{&c}) // texts and numbers only
	return text
}
