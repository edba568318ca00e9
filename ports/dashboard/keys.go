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
	ID      string // what callers of APIs send; "" where the dashboard knows only the hash
	Hash    string // "" where gateways do not hash
	Session *doc.Node
}

// KeyName identifies a key.
type KeyName struct {
	Text   string // the key, its custom identifier, or its hash
	Hashed bool   // Text is the hash
}

// Name returns the name by which the key can be found.
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
	// CreateKey makes a key from an identifier that the caller has generated. It replaces a key
	// with this identifier, so a call can be repeated when its response is lost.
	CreateKey(ctx context.Context, id string, session *doc.Node) (Key, error)
	// ReplaceKey stores another session under an existing key. The remaining quota stays.
	ReplaceKey(ctx context.Context, name KeyName, session *doc.Node) (Key, error)
	// DeleteKey removes a key. It returns no error if the key is gone.
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
	// If the dashboard does not know the text of a key, a list shows its hash as ID. Gateways
	// that do not hash have the key itself there, which has another form.
	hashed := slices.Contains([]int{8, 16, 32, 64}, len(k.ID)) && strings.Trim(k.ID, "0123456789abcdef") == ""
	if k.ID == k.Hash && hashed {
		k.ID = ""
	}
	return k
}

// hidden is an error without the name of a key in its text: errors of dashboards contain URLs.
type hidden struct {
	error
	name KeyName
}

// Hide returns err with the name of the key removed from its text.
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

// Unwrap makes errors.Is work on the original error.
func (h hidden) Unwrap() error { return h.error }
