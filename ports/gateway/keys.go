package gateway

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Naming says how a KeyName names a key.
type Naming int

// The ways to name a key.
const (
	ByKey  Naming = iota // by the key, or its custom identifier
	ByHash               // by the hash under which the gateway stores it
	ByUser               // by the name of a basic-auth user
)

// KeyName identifies a key.
type KeyName struct {
	Text string
	By   Naming
}

// Key is the identifiers of a key.
type Key struct {
	ID   string // what callers of APIs send; "" for basic-auth users and where only the hash is known
	Hash string // under which the gateway keeps it; the key itself where gateways do not hash
}

// StoredKey is a key and its session: a JSON object as gateways decode it
// (docs/wire/keys.md#session). Gateways leave out members that are zero.
type StoredKey struct {
	Key
	Session *doc.Node
}

// Keys are the keys and basic-auth users of gateways. Every method takes the organisation to
// which they belong. A key of another organisation is ErrForeign, and no list contains it.
type Keys interface {
	// CreateKey stores a session under an identifier of the caller's choice. It replaces a key
	// with this identifier, so the call can be repeated when its response is lost. Without an
	// identifier the gateway makes one from the certificate of the session, or a random one. The
	// gateway also makes the HMAC secret of a session that wants one and has none. A certificate
	// that has a key already is ErrTaken.
	CreateKey(ctx context.Context, org tenant.ID, id string, session *doc.Node) (StoredKey, error)
	// Key returns one key with its session and live counters, or ErrUnknown.
	Key(ctx context.Context, org tenant.ID, name KeyName) (StoredKey, error)
	// ReplaceKey stores another session under an existing key. The counters of quota and rate
	// start again from zero, unless keepCounters is set.
	ReplaceKey(ctx context.Context, org tenant.ID, name KeyName, session *doc.Node, keepCounters bool) (StoredKey, error)
	// DeleteKey removes a key. If the key does not exist, the error is ErrUnknown.
	DeleteKey(ctx context.Context, org tenant.ID, name KeyName) error
	// Keys returns the hashes of the keys that can reach an API, by their own rights or by those
	// of their policies. Without an API it returns the hashes of all keys. They are in ascending
	// order. The error is ErrUnlisted if gateways do not list keys.
	Keys(ctx context.Context, org tenant.ID, api string) ([]string, error)
	// PreviewKey returns a session as a new key would have it, with its policies applied. It
	// stores nothing.
	PreviewKey(ctx context.Context, org tenant.ID, session *doc.Node) (*doc.Node, error)
}
