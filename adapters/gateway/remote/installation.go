package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// Status implements gateway.Installation.
func (c *Client) Status() []gateway.Status {
	out := make([]gateway.Status, len(c.nodes))
	for i, n := range c.nodes {
		out[i] = n.status()
	}
	return out
}

// Probe implements gateway.Installation. It reads the keys of organisations, so that it also
// finds a gateway that does not accept the secret.
func (c *Client) Probe(ctx context.Context) []gateway.Status {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	var tasks sync.WaitGroup
	for _, n := range c.nodes {
		tasks.Go(func() { c.attempt(ctx, n, orgKeys, 1) })
	}
	tasks.Wait()
	return c.Status()
}

// Reload implements gateway.Installation. It calls one gateway, which tells the others.
func (c *Client) Reload(ctx context.Context) error {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	_, err := c.read(ctx, call{name: "reload", method: http.MethodGet, path: []string{"reload", "group"}})
	return tried("reload the gateways", err)
}

var orgKeys = call{name: "orgkeys.list", method: http.MethodGet, path: []string{"org", "keys"}}

// OrgKeys implements gateway.Installation.
func (c *Client) OrgKeys(ctx context.Context) ([]tenant.ID, error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	body, err := c.read(ctx, orgKeys)
	if err != nil {
		return nil, tried("list the keys of organisations", err)
	}
	names, err := texts(body, "keys")
	slices.Sort(names)
	out := make([]tenant.ID, len(names))
	for i, name := range names {
		out[i] = tenant.ID(name)
	}
	return out, err
}

// orgCall returns a call about the key of an organisation.
func orgCall(name, method string, org tenant.ID, body []byte) (call, error) {
	if !addressable(string(org)) {
		return call{}, gateway.ErrUnknown
	}
	k := call{name: "orgkeys." + name, method: method, path: []string{"org", "keys", string(org)}, body: body}
	if body != nil {
		k.kind = jsonBody
	}
	return k, nil
}

// OrgKey implements gateway.Installation.
func (c *Client) OrgKey(ctx context.Context, org tenant.ID) (*doc.Node, error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	s, err := c.orgKey(ctx, org)
	return s, tried("read the key of an organisation", err)
}

func (c *Client) orgKey(ctx context.Context, org tenant.ID) (*doc.Node, error) {
	k, err := orgCall("read", http.MethodGet, org, nil)
	if err != nil {
		return nil, err
	}
	body, err := c.read(ctx, k)
	if err != nil {
		return nil, err
	}
	return object(body)
}

// PutOrgKey implements gateway.Installation. Gateways let a key be created again over an
// existing one, so the call can be repeated.
func (c *Client) PutOrgKey(ctx context.Context, org tenant.ID, session *doc.Node) error {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	k, err := orgCall("put", http.MethodPost, org, owned(session, org))
	if err == nil {
		_, err = c.write(ctx, k, again)
	}
	return tried("store the key of an organisation", err)
}

// DeleteOrgKey implements gateway.Installation. Gateways refuse to delete a key that does
// not exist.
func (c *Client) DeleteOrgKey(ctx context.Context, org tenant.ID) error {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	k, err := orgCall("delete", http.MethodDelete, org, nil)
	if err == nil {
		_, err = c.orgKey(ctx, org)
	}
	if err == nil {
		_, err = c.write(ctx, k, func(ctx context.Context) (bool, error) {
			_, err := c.orgKey(ctx, org)
			if errors.Is(err, gateway.ErrUnknown) {
				return true, nil
			}
			return false, err
		})
	}
	if errors.Is(err, gateway.ErrRefused) {
		err = fmt.Errorf("%w: %s", gateway.ErrUnknown, err.Error()) // another call was faster
	}
	return tried("delete the key of an organisation", err)
}
