package dashboard

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Key is a key of gateways as the dashboard shows it.
type Key struct {
	ID      string // what callers of APIs send; "" where the dashboard knows the hash alone
	Hash    string // "" where gateways do not hash
	Session *doc.Node
}

// KeyName says which key is meant.
type KeyName struct {
	Text   string // the key, the identifier that was chosen for it, or its hash
	Hashed bool   // it is the hash
}

// Name returns by what the key can be found.
func (k Key) Name() KeyName {
	if k.ID == "" {
		return KeyName{Text: k.Hash, Hashed: true}
	}
	return KeyName{Text: k.ID}
}

// Keys are the keys of an organisation, as far as the user may see and change them.
type Keys interface {
	// Keys returns all keys with their sessions.
	Keys(ctx context.Context) ([]Key, error)
	// Key returns one key.
	Key(ctx context.Context, name KeyName) (Key, error)
	// CreateKey makes a key out of an identifier that the caller has drawn. One that is there
	// under it, from an attempt whose answer was lost, is replaced.
	CreateKey(ctx context.Context, id string, session *doc.Node) (Key, error)
	// ReplaceKey stores another session under a key that exists. What is left of its quota
	// stays.
	ReplaceKey(ctx context.Context, name KeyName, session *doc.Node) (Key, error)
	// DeleteKey removes a key. One that is gone already is removed.
	DeleteKey(ctx context.Context, name KeyName) error
}

// maxKeys is how many keys a dashboard may list.
const maxKeys = 1_000_000

// DecodeKeys reads a list of keys with their sessions as dashboards send it.
func DecodeKeys(text []byte) ([]Key, error) {
	list, err := items(text, maxKeys, "keys")
	out := make([]Key, 0, len(list))
	for _, n := range list {
		out = append(out, keyOf(n))
	}
	return out, err
}

// DecodeKey reads one key as dashboards send it.
func DecodeKey(text []byte) (Key, error) {
	n, err := doc.ParseNode(text)
	if err != nil || !n.Get("data").Is(doc.TypeObject) {
		return Key{}, fmt.Errorf("%w: there is no key in its answer", ErrUnreachable)
	}
	return keyOf(n), nil
}

func keyOf(n *doc.Node) Key {
	k := Key{ID: n.Get("key_id").Text(), Hash: n.Get("key_hash").Text(), Session: n.Get("data")}
	// Lists call a key whose text is not known by its hash. Gateways that do not hash have the key
	// itself in its place, which has another form.
	hashed := slices.Contains([]int{8, 16, 32, 64}, len(k.ID)) && strings.Trim(k.ID, "0123456789abcdef") == ""
	if k.ID == k.Hash && hashed {
		k.ID = ""
	}
	return k
}

// hidden is an error whose text does not name a key: dashboards repeat addresses.
type hidden struct {
	error
	name KeyName
}

// Hide returns an error about a key that does not name it.
func Hide(err error, name KeyName) error {
	if err == nil || name.Text == "" {
		return err
	}
	return hidden{err, name}
}

// Error implements error.
func (h hidden) Error() string {
	return strings.NewReplacer(h.name.Text, "…", url.PathEscape(h.name.Text), "…").Replace(h.error.Error())
}

// Unwrap lets the class be asked for.
func (h hidden) Unwrap() error { return h.error }
