package gateway

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Naming says what the name of a key is.
type Naming int

// The ways to name a key.
const (
	ByKey  Naming = iota // the key, or the identifier that was chosen for it
	ByHash               // under which the gateway keeps it
	ByUser               // the name of a basic-auth user
)

// KeyName says which key is meant.
type KeyName struct {
	Text string
	By   Naming
}

// Key is by what a key is known.
type Key struct {
	ID   string // what callers of APIs send; "" where only the hash is known, and of basic-auth users
	Hash string // under which the gateway keeps it; the key itself where gateways do not hash
}

// StoredKey is a key and its session: a JSON object as gateways decode it
// (docs/wire/keys.md#session). Gateways leave out members that are zero.
type StoredKey struct {
	Key
	Session *doc.Node
}

// Keys are the keys and basic-auth users of gateways. Every method takes the organisation
// to which they belong; a key of another one is ErrForeign, and no list names it.
type Keys interface {
	// CreateKey stores a session under an identifier of our choice, over the one that is
	// there: a call whose answer is lost can be repeated. Without an identifier the gateway
	// makes one out of the certificate of the session, or a random one; it also makes the
	// HMAC secret of a session that wants one and has none. A certificate that has a key
	// already is ErrTaken.
	CreateKey(ctx context.Context, org tenant.ID, id string, session *doc.Node) (StoredKey, error)
	// Key returns one key with its session and live counters, or ErrUnknown.
	Key(ctx context.Context, org tenant.ID, name KeyName) (StoredKey, error)
	// ReplaceKey stores another session under a key that exists. The counters of quota and
	// rate begin anew unless they are kept.
	ReplaceKey(ctx context.Context, org tenant.ID, name KeyName, session *doc.Node, keepCounters bool) (StoredKey, error)
	// DeleteKey removes a key, or says ErrUnknown.
	DeleteKey(ctx context.Context, org tenant.ID, name KeyName) error
	// Keys returns the hashes of the keys that can reach an API, by rights of their own or
	// of their policies; without an API those of all keys. They are in ascending order. ErrUnlisted: gateways say none.
	Keys(ctx context.Context, org tenant.ID, api string) ([]string, error)
	// PreviewKey returns a session as a new key would have it, with its policies applied. Nothing is stored.
	PreviewKey(ctx context.Context, org tenant.ID, session *doc.Node) (*doc.Node, error)
}
