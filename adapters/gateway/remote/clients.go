package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// clients is the Client as gateway.Clients.
type clients struct{ at *Client }

const formBody = "application/x-www-form-urlencoded"

// wireClient is a client as gateways encode it.
type wireClient struct {
	API         string    `json:"api_id,omitempty"`
	ID          string    `json:"client_id"`
	Secret      string    `json:"secret"`
	RedirectURI string    `json:"redirect_uri"`
	Policy      string    `json:"policy_id"`
	Description string    `json:"description"`
	Meta        *doc.Node `json:"meta_data,omitempty"`
}

func (w wireClient) client() gateway.Client {
	if !w.Meta.Is(doc.TypeObject) {
		w.Meta = nil
	}
	return gateway.Client{ID: w.ID, Secret: w.Secret, RedirectURI: w.RedirectURI, Policy: w.Policy, Description: w.Description, Meta: w.Meta}
}

// errForm: the answer does not have the form of a gateway's answers.
var errForm = fmt.Errorf("%w: the answer is of another form", gateway.ErrUnreachable)

// decode decodes an answer into a type.
func decode[T any](body []byte) (v T, err error) {
	if err := json.Unmarshal(body, &v); err != nil {
		return v, errForm
	}
	return v, nil
}

// clientCall returns a call about the clients of an API.
func clientCall(name, method string, query url.Values, path ...string) (call, error) {
	for _, part := range path {
		if !addressable(part) || part == "create" || part == "apis" {
			return call{}, gateway.ErrUnknown
		}
	}
	return call{name: "clients." + name, method: method, path: append([]string{"oauth", "clients"}, path...), query: query, secret: path}, nil
}

// readClient sends a read about clients and decodes the answer.
func readClient[T any](ctx context.Context, c *Client, k call, err error) (v T, _ error) {
	if err != nil {
		return v, err
	}
	ctx, cancel := c.limit(ctx)
	defer cancel()
	body, err := c.read(ctx, k)
	if err != nil {
		return v, err
	}
	return decode[T](body)
}

// PutClient implements gateway.Clients.
func (c clients) PutClient(ctx context.Context, _ tenant.ID, api string, cl gateway.Client) error {
	if _, err := clientCall("put", "", nil, api, cl.ID); err != nil {
		return fmt.Errorf("store an OAuth client: %w: its name cannot be part of an address", gateway.ErrRefused)
	}
	body, err := json.Marshal(wireClient{api, cl.ID, cl.Secret, cl.RedirectURI, cl.Policy, cl.Description, cl.Meta})
	if err != nil {
		return fmt.Errorf("store an OAuth client: %w: %w", gateway.ErrRefused, err)
	}
	ctx, cancel := c.at.limit(ctx)
	defer cancel()
	answer, err := c.at.write(ctx, call{name: "clients.put", method: http.MethodPost, path: []string{"oauth", "clients", "create"}, kind: jsonBody, body: body, secret: []string{cl.Secret, cl.ID}}, again)
	if err == nil {
		if stored, form := decode[wireClient](answer); form != nil || stored.ID != cl.ID {
			err = fmt.Errorf("%w: the gateway names another client", gateway.ErrUncertain)
		}
	}
	return tried("store an OAuth client", err)
}

// Client implements gateway.Clients.
func (c clients) Client(ctx context.Context, _ tenant.ID, name gateway.ClientName) (gateway.Client, error) {
	k, err := clientCall("read", http.MethodGet, nil, name.API, name.ID)
	w, err := readClient[wireClient](ctx, c.at, k, err)
	if err == nil && w.ID != name.ID {
		err = errForm
	}
	return w.client(), tried("read an OAuth client", err)
}

// ListClients implements gateway.Clients.
func (c clients) ListClients(ctx context.Context, _ tenant.ID, api string) ([]gateway.Client, error) {
	k, err := clientCall("list", http.MethodGet, nil, api)
	list, err := readClient[[]wireClient](ctx, c.at, k, err)
	if errors.Is(err, gateway.ErrUnknown) {
		return nil, nil
	}
	out := make([]gateway.Client, len(list))
	for i, w := range list {
		out[i] = w.client()
	}
	slices.SortFunc(out, func(a, b gateway.Client) int { return cmp.Compare(a.ID, b.ID) })
	return out, tried("list OAuth clients", err)
}

// DeleteClient implements gateway.Clients.
func (c clients) DeleteClient(ctx context.Context, _ tenant.ID, name gateway.ClientName) error {
	k, err := clientCall("delete", http.MethodDelete, nil, name.API, name.ID)
	if err == nil {
		var cancel context.CancelFunc
		ctx, cancel = c.at.limit(ctx)
		defer cancel()
		_, err = c.at.write(ctx, k, again)
	}
	if errors.Is(err, gateway.ErrUnknown) {
		return nil
	}
	return tried("delete an OAuth client", err)
}

// ClientAPIs implements gateway.Clients.
func (c clients) ClientAPIs(ctx context.Context, org tenant.ID, id string) ([]string, error) {
	k, err := clientCall("apis", http.MethodGet, url.Values{"orgID": {string(org)}}, id)
	k.path = []string{"oauth", "clients", "apis", id}
	list, err := readClient[[]string](ctx, c.at, k, err)
	if errors.Is(err, gateway.ErrUnknown) {
		return nil, nil
	}
	slices.Sort(list)
	return list, tried("find the APIs of an OAuth client", err)
}

// ClientTokens implements gateway.Clients.
func (c clients) ClientTokens(ctx context.Context, _ tenant.ID, name gateway.ClientName) ([]gateway.ClientToken, error) {
	k, err := clientCall("tokens", http.MethodGet, nil, name.API, name.ID)
	k.path = append(k.path, "tokens")
	list, err := readClient[[]gateway.ClientToken](ctx, c.at, k, err)
	if errors.Is(err, gateway.ErrUnknown) {
		return nil, nil
	}
	now := c.at.c.Now().Unix()
	list = slices.DeleteFunc(list, func(t gateway.ClientToken) bool { return t.Expires <= now })
	slices.SortFunc(list, func(a, b gateway.ClientToken) int {
		return cmp.Or(cmp.Compare(a.Expires, b.Expires), cmp.Compare(a.Code, b.Code))
	})
	return list, tried("list the tokens of an OAuth client", err)
}

// form sends a form that may be sent repeatedly.
func (c clients) form(ctx context.Context, name, path string, form url.Values) error {
	ctx, cancel := c.at.limit(ctx)
	defer cancel()
	k := call{name: "clients." + name, method: http.MethodPost, path: []string{"oauth", path}, kind: formBody, body: []byte(form.Encode())}
	for _, v := range form {
		k.secret = append(k.secret, v...)
	}
	_, err := c.at.write(ctx, k, again)
	if errors.Is(err, gateway.ErrUnknown) {
		return nil // there is nothing to revoke
	}
	return tried("revoke tokens", err)
}

// RevokeToken implements gateway.Clients.
func (c clients) RevokeToken(ctx context.Context, org tenant.ID, client, token, hint string) error {
	f := url.Values{"client_id": {client}, "token": {token}, "org_id": {string(org)}}
	if hint != "" {
		f.Set("token_type_hint", hint)
	}
	return c.form(ctx, "revoke", "revoke", f)
}

// RevokeTokens implements gateway.Clients.
func (c clients) RevokeTokens(ctx context.Context, org tenant.ID, client, secret string) error {
	return c.form(ctx, "revokeAll", "revoke_all", url.Values{"client_id": {client}, "client_secret": {secret}, "org_id": {string(org)}})
}
