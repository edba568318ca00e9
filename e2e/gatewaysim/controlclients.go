package gatewaysim

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	noClient = "OAuth Client ID not found"
	noAPI    = "API doesn't exist"
	// tokenLife is the lifetime of tokens of OAuth clients.
	tokenLife = time.Hour
)

// wantedClient is a client in a request.
type wantedClient struct {
	API         string `json:"api_id"`
	ID          string `json:"client_id"`
	Secret      string `json:"secret"`
	Redirect    string `json:"redirect_uri"`
	Policy      string `json:"policy_id"`
	Description string `json:"description"`
	Meta        any    `json:"meta_data"`
}

// createClient stores a client, replacing an existing one. It checks the policy only if
// the client names its APIs.
func createClient(c *controlCall) (int, any) {
	var w wantedClient
	if json.Unmarshal(c.body, &w) != nil {
		return failed(http.StatusInternalServerError, "Unmarshalling failed")
	}
	apis := []string{w.API}
	if w.API == "" {
		apis = c.apisOfPolicy(w.Policy)
	}
	if len(apis) == 0 || c.v.apis.byID[apis[0]] == nil {
		return failed(http.StatusBadRequest, noAPI)
	}
	client := &oauthClient{ID: w.ID, Redirect: w.Redirect, Policy: w.Policy, Secret: w.Secret, Meta: w.Meta, Description: w.Description, tokens: map[string]time.Time{}}
	if client.ID == "" {
		client.ID = random()
	}
	if client.Secret == "" {
		client.Secret = random()
	}
	for _, api := range apis {
		if old := c.store.clients[clientKey{api, client.ID}]; old != nil {
			client.tokens = old.tokens
		}
		c.store.clients[clientKey{api, client.ID}] = client
	}
	return http.StatusOK, client
}

func (c *controlCall) apisOfPolicy(id string) (apis []string) {
	for key, p := range c.v.policies {
		for api := range p.AccessRights {
			if a := c.v.apis.byID[api]; key.id == id && a != nil && a.OAuth {
				apis = append(apis, api)
			}
		}
	}
	return apis
}

func listClients(c *controlCall) (int, any) {
	if c.v.apis.byID[c.PathValue("api")] == nil {
		return http.StatusNotFound, nil
	}
	list := []*oauthClient{}
	for key, client := range c.store.clients {
		if key.api == c.PathValue("api") {
			list = append(list, client)
		}
	}
	return http.StatusOK, list
}

func (c *controlCall) client() *oauthClient {
	return c.store.clients[clientKey{c.PathValue("api"), c.PathValue("client")}]
}

func readClient(c *controlCall) (int, any) {
	client := c.client()
	if client == nil {
		return failed(http.StatusNotFound, noClient)
	}
	return http.StatusOK, client
}

func replaceClient(c *controlCall) (int, any) {
	client := c.client()
	var w wantedClient
	switch {
	case client == nil:
		return failed(http.StatusNotFound, noClient)
	case json.Unmarshal(c.body, &w) != nil:
		return failed(http.StatusInternalServerError, "Unmarshalling failed")
	}
	client.Redirect, client.Policy, client.Description, client.Meta = w.Redirect, w.Policy, w.Description, w.Meta
	return http.StatusOK, client
}

func rotateClient(c *controlCall) (int, any) {
	client := c.client()
	if client == nil {
		return failed(http.StatusNotFound, noClient)
	}
	client.Secret = random()
	return http.StatusOK, client
}

// deleteClient keeps the tokens of the client, which are valid until they expire.
func deleteClient(c *controlCall) (int, any) {
	delete(c.store.clients, clientKey{c.PathValue("api"), c.PathValue("client")})
	return http.StatusOK, done{Key: c.PathValue("client"), Status: "ok", Action: "deleted"}
}

// tokenEntry is one token of a client.
type tokenEntry struct {
	Code    string `json:"code"`
	Expires int64  `json:"expires"`
}

func tokensOfClient(c *controlCall) (int, any) {
	client := c.client()
	if client == nil {
		return failed(http.StatusNotFound, noClient)
	}
	list := []tokenEntry{}
	for kept, expires := range client.tokens {
		list = append(list, tokenEntry{kept, expires.Unix()})
	}
	if c.query.Get("page") == "" {
		return http.StatusOK, list
	}
	return http.StatusOK, map[string]any{"Pagination": map[string]int{"page_num": 1, "page_total": 1, "page_size": 100}, "Tokens": list}
}

func apisOfClient(c *controlCall) (int, any) {
	apis := []string{}
	for key := range c.store.clients {
		if a := c.v.apis.byID[key.api]; key.id == c.PathValue("client") && a != nil && a.OrgID == c.query.Get("orgID") {
			apis = append(apis, key.api)
		}
	}
	slices.Sort(apis)
	return http.StatusOK, apis
}

// form decodes a form.
func (c *controlCall) form() url.Values {
	form, _ := url.ParseQuery(string(c.body)) // an undecodable form counts as empty
	return form
}

// revoke removes tokens from the clients with an identifier, and from the clients that own
// them.
func (c *controlCall) revoke(id string, which func(kept string) bool) {
	for key, client := range c.store.clients {
		for kept := range client.tokens {
			if key.id == id && which(kept) {
				delete(client.tokens, kept)
				delete(c.store.keys, kept)
			}
		}
	}
}

func revokeToken(c *controlCall) (int, any) {
	form := c.form()
	if form.Get("client_id") == "" {
		return failed(http.StatusBadRequest, "client_id is required")
	}
	token := form.Get("token")
	named := []string{token, c.v.p.cfg.kept(token)}
	c.revoke(form.Get("client_id"), func(kept string) bool { return slices.Contains(named, kept) })
	return http.StatusOK, said{"ok", "token revoked successfully"}
}

// revokeTokens does not check the secret of the client.
func revokeTokens(c *controlCall) (int, any) {
	if c.form().Get("client_id") == "" {
		return failed(http.StatusBadRequest, "client_id is required")
	}
	c.revoke(c.form().Get("client_id"), func(string) bool { return true })
	return http.StatusOK, said{"ok", "tokens revoked successfully"}
}

func dropRefresh(c *controlCall) (int, any) {
	return http.StatusOK, done{Key: c.PathValue("token"), Status: "ok", Action: "deleted"}
}

func purgeTokens(c *controlCall) (int, any) {
	if c.query.Get("scope") != "lapsed" {
		return failed(http.StatusUnprocessableEntity, "scope parameter is required")
	}
	now := time.Now()
	for key, client := range c.store.clients {
		c.revoke(key.id, func(kept string) bool { return client.tokens[kept].Before(now) && !client.tokens[kept].IsZero() })
	}
	return http.StatusOK, said{"ok", "lapsed tokens purged"}
}

// serveToken is the token endpoint of an OAuth API: it exchanges client credentials for a
// key with the client's policy.
func (v view) serveToken(w http.ResponseWriter, r *http.Request, a *api) {
	invalid := map[string]string{"error": "invalid_request", "error_description": "The request is missing a required parameter"}
	id, secret, ok := r.BasicAuth()
	if !ok || r.ParseForm() != nil || r.PostForm.Get("grant_type") != "client_credentials" {
		writeJSON(w, http.StatusForbidden, invalid)
		return
	}
	s, cfg := v.p.cfg.Store, v.p.cfg
	s.mu.Lock()
	defer s.mu.Unlock()
	client := s.clients[clientKey{a.APIID, id}]
	if client == nil || client.Secret != secret {
		writeJSON(w, http.StatusForbidden, map[string]string{"error": "unauthorized_client"})
		return
	}
	token, expires := cfg.token(a.OrgID, random()), time.Now().Add(tokenLife)
	kept := cfg.kept(token)
	s.keys[kept] = &storedKey{session: map[string]any{
		"org_id": a.OrgID, "apply_policies": []any{client.Policy}, "oauth_client_id": client.ID, "expires": float64(expires.Unix()),
	}}
	client.tokens[kept] = expires
	writeJSON(w, http.StatusOK, map[string]any{"access_token": token, "expires_in": int(tokenLife.Seconds()), "token_type": "bearer"})
}

// readAPI returns a loaded API.
func readAPI(c *controlCall) (int, any) {
	a := c.v.apis.byID[c.PathValue("api")]
	if a == nil {
		return failed(http.StatusNotFound, "API not found")
	}
	return http.StatusOK, map[string]any{
		"api_id": a.APIID, "name": a.Name, "org_id": a.OrgID, "use_oauth2": a.OAuth, "proxy": map[string]string{"listen_path": a.Proxy.ListenPath, "target_url": a.Proxy.TargetURL},
	}
}

// serveAuthorize issues a code for a client on behalf of a person; the caller knows the
// gateway's secret. Codes cannot be exchanged for tokens.
func (v view) serveAuthorize(w http.ResponseWriter, r *http.Request, a *api) {
	if r.Header.Get("X-Tyk-Authorization") != v.p.cfg.Secret || v.p.cfg.Secret == "" || r.ParseForm() != nil {
		writeJSON(w, http.StatusForbidden, said{"error", "Attempted administrative access with invalid or missing key!"})
		return
	}
	s := v.p.cfg.Store
	s.mu.Lock()
	defer s.mu.Unlock()
	client := s.clients[clientKey{a.APIID, r.PostForm.Get("client_id")}]
	if client == nil || client.Redirect != r.PostForm.Get("redirect_uri") {
		writeJSON(w, http.StatusForbidden, map[string]string{"error": "access_denied"})
		return
	}
	code := random()
	writeJSON(w, http.StatusOK, map[string]string{"code": code, "redirect_to": client.Redirect + "?code=" + code})
}

// oauthPath returns the path of the authorisation server that a request is for; "": none.
func oauthPath(a *api, r *http.Request) string {
	if !a.OAuth || r.Method != http.MethodPost {
		return ""
	}
	return strings.TrimRight(under(a.listenPath, r.URL.Path), "/")
}
