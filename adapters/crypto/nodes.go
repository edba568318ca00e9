package crypto

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// NodeTokens implements gateway.Tokens. A node identifier certifies itself: its second half is a
// keyed digest of its first half. So any replica accepts a node that registered with another
// replica, without shared storage and without sticky connections. A node that is wrongly refused
// may stop reloading for good (docs/wire/gateway-nodes.md#registration,
// docs/wire/gateway-nodes.md#recovery-words).
type NodeTokens struct {
	key [sha256.Size]byte
}

var _ gateway.Tokens = (*NodeTokens)(nil)

// NewNodeTokens returns the tokens of all replicas that have this node secret.
func NewNodeTokens(nodeSecret string) *NodeTokens {
	return &NodeTokens{key: sha256.Sum256([]byte("gatehouse node id:" + nodeSecret))}
}

// NodeID implements gateway.Tokens: 8-4-4-4-12 lower-case hex digits. The same session gets the
// same identifier on every replica; an empty session gets a random one.
func (t *NodeTokens) NodeID(session string) string {
	var first [8]byte
	if session == "" {
		rand.Read(first[:])
	} else {
		first = t.mac("session:", []byte(session))
	}
	return t.certified(first)
}

// Ours implements gateway.Tokens, in constant time. Identifiers that a gateway
// made up (solo-…, docs/wire/gateway-nodes.md#registration) are not ours.
func (t *NodeTokens) Ours(id string) bool {
	if len(id) != 36 {
		return false
	}
	var first [8]byte
	if _, err := hex.Decode(first[:], []byte(id[:8]+id[9:13]+id[14:18])); err != nil {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(t.certified(first)), []byte(id)) == 1
}

// Nonce implements gateway.Tokens: a random UUID. Nonces are not stored, because no call of a
// node is refused for its nonce (docs/wire/gateway-nodes.md#recovery-words).
func (t *NodeTokens) Nonce(time.Time) string { return NewUUID() }

// certified appends the digest that Ours checks.
func (t *NodeTokens) certified(first [8]byte) string {
	check := t.mac("check:", first[:])
	return uuid([16]byte(append(first[:], check[:]...)))
}

// mac is a keyed digest of 64 bits; the label keeps its two uses apart.
func (t *NodeTokens) mac(label string, data []byte) [8]byte {
	h := hmac.New(sha256.New, t.key[:])
	h.Write([]byte(label))
	h.Write(data)
	return [8]byte(h.Sum(nil))
}
