package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// CreateKey implements gateway.Keys.
func (c *Client) CreateKey(ctx context.Context, org tenant.ID, id string, session *doc.Node) (gateway.StoredKey, error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	create := c.createNamed
	if id == "" {
		create = c.createUnnamed
	}
	k, err := create(ctx, org, id, session)
	return k, tried("create a key", err)
}

// createNamed stores a session under a chosen identifier.
func (c *Client) createNamed(ctx context.Context, org tenant.ID, id string, session *doc.Node) (gateway.StoredKey, error) {
	name := gateway.KeyName{Text: id, By: gateway.ByKey}
	p, err := placeOf(org, name)
	if err != nil {
		return gateway.StoredKey{}, fmt.Errorf("%w: the identifier cannot be part of an address", gateway.ErrRefused)
	}
	before, err := c.own(ctx, org, p)
	if err != nil && !errors.Is(err, gateway.ErrUnknown) {
		return gateway.StoredKey{}, err
	}
	k := call{name: "keys.create", method: http.MethodPost, path: []string{"keys", p.text}, kind: jsonBody, body: owned(session, org), secret: []string{id}}
	answer, err := c.write(ctx, k, func(ctx context.Context) (bool, error) { return c.changed(ctx, org, p, before) })
	if err != nil {
		return gateway.StoredKey{}, err
	}
	return c.made(ctx, org, name, answer, session)
}

// createUnnamed lets the gateway name the key; if the session has a certificate, the name comes
// from that.
func (c *Client) createUnnamed(ctx context.Context, org tenant.ID, _ string, session *doc.Node) (gateway.StoredKey, error) {
	var look arrived // nil: a key with a random name cannot be looked up
	var name gateway.KeyName
	if cert := session.Get("certificate").Text(); cert != "" {
		name = gateway.KeyName{Text: cert, By: gateway.ByKey}
		p, err := placeOf(org, name)
		if err != nil {
			return gateway.StoredKey{}, fmt.Errorf("%w: the certificate cannot be part of an address", gateway.ErrRefused)
		}
		switch _, err := c.own(ctx, org, p); {
		case err == nil:
			return gateway.StoredKey{}, fmt.Errorf("%w: a key with this certificate", gateway.ErrTaken)
		case !errors.Is(err, gateway.ErrUnknown):
			return gateway.StoredKey{}, err
		}
		look = func(ctx context.Context) (bool, error) { return c.changed(ctx, org, p, nil) }
	}
	answer, err := c.write(ctx, call{name: "keys.create", method: http.MethodPost, path: []string{"keys", "create"}, kind: jsonBody, body: owned(session, org)}, look)
	if err != nil {
		return gateway.StoredKey{}, err
	}
	return c.made(ctx, org, name, answer, session)
}

// changed reports whether the session at a place differs from before.
func (c *Client) changed(ctx context.Context, org tenant.ID, p place, before *doc.Node) (bool, error) {
	now, err := c.own(ctx, org, p)
	if errors.Is(err, gateway.ErrUnknown) {
		return false, nil
	}
	return err == nil && (before == nil || !now.Equal(before)), err
}

// made reads back a key that has been written. Without an answer it uses the key's name. A key
// that cannot be read now exists all the same: it is returned as it was sent.
func (c *Client) made(ctx context.Context, org tenant.ID, name gateway.KeyName, answer []byte, sent *doc.Node) (gateway.StoredKey, error) {
	var key gateway.Key
	if answer != nil {
		n, err := object(answer)
		if err != nil {
			return gateway.StoredKey{}, fmt.Errorf("%w: %w", gateway.ErrUncertain, err)
		}
		key = gateway.Key{ID: n.Get("key").Text(), Hash: n.Get("key_hash").Text()}
		if key.Hash == "" && key.ID != "" {
			key.Hash = key.ID // gateways that do not hash answer no hash
		}
		if key.ID != "" {
			c.learn(key.ID, key.Hash)
		}
	}
	if key.Hash == "" {
		found, err := c.key(ctx, org, name)
		if err == nil {
			c.owners.forget(found.Hash)
			return found, nil
		}
		return gateway.StoredKey{}, fmt.Errorf("%w: %s", gateway.ErrUncertain, err.Error())
	}
	c.owners.forget(key.Hash)
	s, err := c.own(ctx, org, byHash(org, key.Hash))
	if err != nil {
		s = shown(sent, org)
	}
	return gateway.StoredKey{Key: key, Session: s}, nil
}

// shown returns a session as it was sent, without the members that gateways do not show.
func shown(sent *doc.Node, org tenant.ID) *doc.Node {
	s := sent.Clone()
	s.Set("org_id", doc.NewString(string(org)))
	s.Delete("basic_auth_data", "password")
	return s
}

// ReplaceKey implements gateway.Keys.
func (c *Client) ReplaceKey(ctx context.Context, org tenant.ID, name gateway.KeyName, session *doc.Node, keepCounters bool) (gateway.StoredKey, error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	before, err := c.key(ctx, org, name)
	var p place
	if err == nil {
		p, err = placeOf(org, name)
	}
	if err != nil {
		return gateway.StoredKey{}, tried("replace a key", err)
	}
	k := c.about(p, "replace", http.MethodPut, owned(session, org))
	if keepCounters {
		k.query.Set("suppress_reset", "1")
	}
	_, err = c.write(ctx, k, func(ctx context.Context) (bool, error) { return c.changed(ctx, org, p, before.Session) })
	if err != nil {
		return gateway.StoredKey{}, tried("replace a key", err)
	}
	c.owners.forget(before.Hash)
	s, err := c.own(ctx, org, byHash(org, before.Hash))
	if err != nil {
		s = shown(session, org)
	}
	return gateway.StoredKey{Key: before.Key, Session: s}, nil
}
