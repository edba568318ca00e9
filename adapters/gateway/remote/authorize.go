package remote

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// Authorize implements gateway.Clients. The call goes through the API itself and contains
// the client's secret: a gateway that has not loaded the API with OAuth would pass the
// call on to the upstream. So Authorize first asks the gateway for the definition that it
// has loaded.
func (c clients) Authorize(ctx context.Context, _ tenant.ID, a gateway.Authorization) (*doc.Node, error) {
	ctx, cancel := c.at.limit(ctx)
	defer cancel()
	n, err := c.authorize(ctx, a)
	return n, tried("authorize an OAuth client", err)
}

func (c clients) authorize(ctx context.Context, a gateway.Authorization) (*doc.Node, error) {
	k, err := clientCall("definition", http.MethodGet, nil, a.Client.API)
	if err != nil {
		return nil, fmt.Errorf("%w: the API cannot be part of an address", gateway.ErrRefused)
	}
	k.path = []string{"apis", a.Client.API}
	body, err := c.at.read(ctx, k)
	if err != nil {
		return nil, err
	}
	loaded, err := object(body)
	if err != nil {
		return nil, err
	}
	path := loaded.Get("proxy", "listen_path").Text()
	if !loaded.Get("use_oauth2").True() || !strings.HasPrefix(path, "/") || path != a.ListenPath {
		return nil, fmt.Errorf("%w: the gateway has not loaded the API as one with OAuth", gateway.ErrRefused)
	}
	form := url.Values{"response_type": {a.ResponseType}, "client_id": {a.Client.ID}, "redirect_uri": {a.RedirectURI}}
	if a.KeyRules != nil {
		form.Set("key_rules", string(a.KeyRules.JSON()))
	}
	send := call{name: "clients.authorize", method: http.MethodPost, base: &url.URL{Path: strings.TrimRight(path, "/") + "/tyk/oauth/authorize-client/"}, kind: formBody, body: []byte(form.Encode()), secret: []string{a.Client.ID}}
	if a.Domain != "" {
		send.header = map[string]string{"Host": a.Domain}
	}
	if body, err = c.at.read(ctx, send); err != nil {
		return nil, err
	}
	return object(body)
}
