package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

// OAuthClient is a client of the gateways' authorisation server. It belongs to one API.
type OAuthClient struct {
	ID          string    `json:"client_id"`
	Secret      string    `json:"secret"`
	RedirectURI string    `json:"redirect_uri"` // several with the separator that gateways know
	Policy      string    `json:"policy_id"`    // says what the client's tokens may do
	Description string    `json:"description"`
	Meta        *doc.Node `json:"meta_data"` // an object that is in the sessions of its tokens
}

// OAuthClients are the OAuth clients of an organisation.
type OAuthClients interface {
	// OAuthClients returns the clients of an API.
	OAuthClients(ctx context.Context, api string) ([]OAuthClient, error)
	// PutOAuthClient stores a client of an API. It replaces a client with the same identifier.
	PutOAuthClient(ctx context.Context, api string, c OAuthClient) error
	// DeleteOAuthClient removes a client from an API. It returns no error if the client or the
	// API is gone.
	DeleteOAuthClient(ctx context.Context, api, id string) error
}

// maxClients is how many clients an API may list.
const maxClients = 100_000

// clients returns the request for an operation on the clients of an API. The caller retries it
// when another change is in progress.
func clients(operation, method, rest string, params map[string]string, body []byte) Request {
	return Request{Operation: "oauth." + operation, Method: method, Path: "/api/apis/oauth/{apiId}" + rest, Params: params, Body: body, Waits: true}
}

// OAuthClients implements OAuthClients.
func (e Entries) OAuthClients(ctx context.Context, api string) ([]OAuthClient, error) {
	a, err := e.Wire(ctx, clients("list", "GET", "", map[string]string{"apiId": api}, nil))
	if err != nil {
		return nil, fmt.Errorf("list the OAuth clients of the API %s: %w", api, err)
	}
	list, err := items(a.Body, maxClients, "apps")
	if err != nil {
		return nil, fmt.Errorf("list the OAuth clients of the API %s: %w", api, err)
	}
	out := make([]OAuthClient, 0, len(list))
	for _, n := range list {
		out = append(out, OAuthClient{
			ID: n.Get("client_id").Text(), Secret: n.Get("secret").Text(), RedirectURI: n.Get("redirect_uri").Text(), Policy: n.Get("policy_id").Text(),
			Description: n.Get("description").Text(), Meta: n.Get("meta_data"),
		})
	}
	return out, nil
}

// PutOAuthClient implements OAuthClients.
func (e Entries) PutOAuthClient(ctx context.Context, api string, c OAuthClient) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if _, err = e.Wire(ctx, clients("create", "POST", "", map[string]string{"apiId": api}, body)); err != nil {
		return fmt.Errorf("create an OAuth client at the API %s: %w", api, Hide(err, KeyName{Text: c.Secret}))
	}
	return nil
}

// DeleteOAuthClient implements OAuthClients.
func (e Entries) DeleteOAuthClient(ctx context.Context, id, client string) error {
	_, err := e.Wire(ctx, clients("delete", "DELETE", "/{clientId}", map[string]string{"apiId": id, "clientId": client}, nil))
	if err == nil || errors.Is(err, ErrGone) || errors.Is(err, ErrRefused) && e.lacks(ctx, id) {
		return nil
	}
	return fmt.Errorf("delete an OAuth client of the API %s: %w", id, err)
}

// lacks reports whether the API does not exist: dashboards answer a missing API with a
// refusal.
func (e Entries) lacks(ctx context.Context, id string) bool {
	a, err := e.Wire(ctx, Request{Operation: "apis.list", Method: "GET", Path: "/api/apis", Query: map[string][]string{"p": {"-2"}}})
	if err != nil {
		return false
	}
	list, err := DecodeAPIs(a.Body)
	return err == nil && !slices.ContainsFunc(list, func(a sync.API) bool { return a.ID == id })
}
