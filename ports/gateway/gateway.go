// Package gateway is the port to the gateway nodes and the data they keep.
package gateway

import "time"

// Tokens makes the identifiers and nonces of nodes. Replicas with the same node secret make
// and accept the same ones without shared state, so any replica can answer any call of a node
// (docs/wire/gateway-nodes.md).
type Tokens interface {
	// NodeID returns the identifier of the node with a session. The same session always gives the
	// same identifier; without a session the identifier is new.
	NodeID(session string) string
	// Ours reports whether an identifier was made by NodeID.
	Ours(id string) bool
	// Nonce returns a fresh, non-empty nonce.
	Nonce(now time.Time) string
}
