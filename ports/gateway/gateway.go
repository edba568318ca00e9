// Package gateway is the port to what identifies gateway nodes.
package gateway

import "time"

// Tokens makes what nodes are known by. Every replica with the same node secret
// makes and accepts the same, without sharing anything: any of them can answer
// any call of a node (docs/wire/gateway-nodes.md).
type Tokens interface {
	// NodeID returns the identifier of the node with a session, the same one
	// every time; without a session a new one.
	NodeID(session string) string
	// Ours reports whether an identifier was made by NodeID.
	Ours(id string) bool
	// Nonce returns a fresh, non-empty nonce.
	Nonce(now time.Time) string
}
