package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/adapters/gateway/keyhash"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

const jsonBody = "application/json"

// addressable reports whether a name can be part of a path of the control API: it must not
// change which call is made, before or after a server has cleaned the path.
func addressable(name string) bool {
	return name != "" && len(name) <= longestName && name != "." && name != ".." && !strings.ContainsAny(name, "/\\\x00")
}

// longestName is the maximum length in bytes of names that are sent to gateways.
const longestName = 4096

// place is how a key is addressed at a gateway.
type place struct {
	text string
	org  tenant.ID
	by   gateway.Naming
}

// placeOf returns the place of a key. Base64 may contain a slash, which no path segment can:
// such a key is addressed by its hash.
func placeOf(org tenant.ID, name gateway.KeyName) (place, error) {
	if _, whole := keyhash.Parse(name.Text); whole && name.By == gateway.ByKey && strings.Contains(name.Text, "/") {
		return byHash(org, keyhash.Of(name.Text)), nil
	}
	if !addressable(name.Text) || slices.Contains(key.ControlPaths, name.Text) {
		return place{}, gateway.ErrUnknown
	}
	return place{name.Text, org, name.By}, nil
}

func byHash(org tenant.ID, hash string) place { return place{hash, org, gateway.ByHash} }

// about returns a call about the key at a place. Gateways that do not hash keys accept no hash:
// there the name under which they store a key is the key itself.
func (c *Client) about(p place, name, method string, body []byte) call {
	query := url.Values{"org_id": {string(p.org)}}
	switch {
	case p.by == gateway.ByHash && c.keeps.Load() != inClear:
		query = url.Values{"hashed": {"true"}}
	case p.by == gateway.ByUser:
		query.Set("username", "true")
	}
	k := call{name: "keys." + name, method: method, path: []string{"keys", p.text}, query: query, body: body, secret: []string{p.text}}
	if body != nil {
		k.kind = jsonBody
	}
	return k
}

// session reads the session at a place, of any organisation.
func (c *Client) session(ctx context.Context, p place) (*doc.Node, error) {
	body, err := c.read(ctx, c.about(p, "read", http.MethodGet, nil))
	if errors.Is(err, errInClear) {
		c.keeps.Store(inClear)
		body, err = c.read(ctx, c.about(p, "read", http.MethodGet, nil))
	}
	if errors.Is(err, gateway.ErrUnknown) && p.by == gateway.ByHash && c.keeps.Load() == inClear {
		// Among several gateways, one may not hash although the others do.
		k := c.about(p, "read", http.MethodGet, nil)
		k.query = url.Values{"hashed": {"true"}}
		if found, again := c.read(ctx, k); again == nil {
			c.keeps.Store(hashed)
			body, err = found, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return object(body)
}

// object decodes an answer that must be a JSON object.
func object(body []byte) (*doc.Node, error) {
	n, err := doc.ParseNode(body)
	if err != nil || !n.Is(doc.TypeObject) {
		return nil, fmt.Errorf("%w: the answer is no object", gateway.ErrUnreachable)
	}
	return n, nil
}

// own reads the session at a place, which must belong to the organisation.
func (c *Client) own(ctx context.Context, org tenant.ID, p place) (*doc.Node, error) {
	s, err := c.session(ctx, p)
	if err == nil && s.Get("org_id").Text() != string(org) {
		return nil, gateway.ErrForeign
	}
	return s, err
}

// kept returns the names under which gateways may store a key: its hash, or the key itself if
// gateways do not hash. Which of the two it is shows with the first key that a gateway answers.
func (c *Client) kept(key string) []string {
	switch c.keeps.Load() {
	case hashed:
		return []string{keyhash.Of(key)}
	case inClear:
		return []string{key}
	}
	return []string{keyhash.Of(key), key}
}

// learn remembers whether gateways hash keys, from a key and its name at a gateway.
func (c *Client) learn(key, kept string) {
	if key == kept {
		c.keeps.Store(inClear)
	} else {
		c.keeps.Store(hashed)
	}
}

// resolve returns the key and hash of a key that exists at a place. Gateways do not answer
// them: for an identifier, resolve tries all forms of keys in which gateways may have made one.
func (c *Client) resolve(ctx context.Context, org tenant.ID, name gateway.KeyName) (gateway.Key, error) {
	if name.By == gateway.ByHash {
		return gateway.Key{Hash: name.Text}, nil
	}
	forms := keyhash.Forms(org, name.Text)
	if _, whole := keyhash.Parse(name.Text); whole && name.By == gateway.ByKey {
		if kept := c.kept(name.Text); len(kept) == 1 {
			return gateway.Key{ID: name.Text, Hash: kept[0]}, nil
		}
		forms = []string{name.Text}
	}
	last := int(c.form.Load()) % len(forms) // gateways of an installation make all keys in the same form
	for i := range forms {
		key := forms[(last+i)%len(forms)]
		for _, kept := range c.kept(key) {
			switch _, err := c.own(ctx, org, byHash(org, kept)); {
			case err == nil:
				c.learn(key, kept)
				if len(forms) > 1 {
					c.form.Store(int32((last + i) % len(forms))) //nolint:gosec // one of five
				}
				if name.By == gateway.ByUser {
					key = "" // users have no identifier
				}
				return gateway.Key{ID: key, Hash: kept}, nil
			case !errors.Is(err, gateway.ErrUnknown) && !errors.Is(err, gateway.ErrForeign):
				return gateway.Key{}, err
			}
		}
	}
	return gateway.Key{}, fmt.Errorf("%w: it is kept under a name that cannot be told", gateway.ErrUnknown)
}

// Key implements gateway.Keys.
func (c *Client) Key(ctx context.Context, org tenant.ID, name gateway.KeyName) (gateway.StoredKey, error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	k, err := c.key(ctx, org, name)
	return k, tried("read a key", err)
}

func (c *Client) key(ctx context.Context, org tenant.ID, name gateway.KeyName) (gateway.StoredKey, error) {
	p, err := placeOf(org, name)
	if err != nil {
		return gateway.StoredKey{}, err
	}
	s, err := c.own(ctx, org, p)
	if err != nil {
		return gateway.StoredKey{}, err
	}
	found, err := c.resolve(ctx, org, name)
	if err != nil {
		return gateway.StoredKey{}, err
	}
	if name.By == gateway.ByKey && key.IsUser(s) {
		found.ID = "" // a user is not a key, even when requested by key
	}
	return gateway.StoredKey{Key: found, Session: s}, nil
}

// DeleteKey implements gateway.Keys.
func (c *Client) DeleteKey(ctx context.Context, org tenant.ID, name gateway.KeyName) error {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	p, err := placeOf(org, name)
	if err == nil {
		_, err = c.own(ctx, org, p)
	}
	if err != nil {
		return tried("delete a key", err)
	}
	sent := false
	_, err = c.write(ctx, c.about(p, "delete", http.MethodDelete, nil), func(ctx context.Context) (bool, error) {
		sent = true
		_, err := c.session(ctx, p)
		if errors.Is(err, gateway.ErrUnknown) {
			return true, nil
		}
		return false, err
	})
	if sent && errors.Is(err, gateway.ErrUnknown) {
		err = nil // the first attempt has deleted the key after all
	}
	names := append(c.kept(name.Text), name.Text) // names under which the key may be stored: it has no owner any more
	for _, form := range keyhash.Forms(org, name.Text) {
		names = append(names, c.kept(form)...)
	}
	c.owners.forget(names...)
	return tried("delete a key", err)
}

// Keys implements gateway.Keys. Gateways list the keys of all organisations.
func (c *Client) Keys(ctx context.Context, org tenant.ID, api string) ([]string, error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	k := call{name: "keys.list", method: http.MethodGet, path: []string{"keys"}}
	if api != "" {
		k.query = url.Values{"api_id": {api}}
	}
	body, err := c.read(ctx, k)
	if errors.Is(err, gateway.ErrUnknown) {
		err = fmt.Errorf("%w: %w", gateway.ErrRefused, gateway.ErrUnlisted)
	}
	if err != nil {
		return nil, tried("list keys", err)
	}
	names, err := texts(body, "keys")
	if err == nil {
		names, err = c.of(ctx, org, names, api == "")
	}
	slices.Sort(names)
	return names, tried("list keys", err)
}

// texts decodes a member that must be a list of strings.
func texts(body []byte, member string) ([]string, error) {
	n, err := object(body)
	if err != nil {
		return nil, err
	}
	list := n.Get(member)
	if list != nil && !list.Is(doc.TypeArray, doc.TypeNull) {
		return nil, fmt.Errorf("%w: the answer has no list", gateway.ErrUnreachable)
	}
	return list.Texts(), nil
}

// PreviewKey implements gateway.Keys. Gateways check the expiry when they create a key, and not
// before.
func (c *Client) PreviewKey(ctx context.Context, org tenant.ID, session *doc.Node) (*doc.Node, error) {
	session = session.Clone()
	key.Begin(session, c.c.Now())
	ctx, cancel := c.limit(ctx)
	defer cancel()
	body, err := c.read(ctx, call{name: "keys.preview", method: http.MethodPost, path: []string{"keys", "preview"}, kind: jsonBody, body: owned(session, org)})
	if err != nil {
		return nil, tried("preview a key", err)
	}
	return object(body)
}

// owned encodes a session with its organisation set.
func owned(session *doc.Node, org tenant.ID) []byte {
	s := session.Clone()
	s.Set("org_id", doc.NewString(string(org)))
	return s.JSON()
}

// tried adds to the error what was tried.
func tried(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
