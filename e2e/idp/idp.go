// Package idp is an identity provider for tests: OpenID Connect discovery, keys that can be
// rotated, the registration of clients (RFC 7591) and their management (RFC 7592), tokens
// for client credentials, and faults on demand. It simulates peculiarities of known
// products, called flavours.
package idp

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

// Flavour says which product is simulated.
type Flavour string

// The flavours.
const (
	Keycloak Flavour = "Keycloak" // requires a token for registrations; each call about a client changes its token
	Gluu     Flavour = "Gluu"     // all clients have one address, with their identifier in the query
	Okta     Flavour = "Okta"     // requires a token for registrations, and the kind of application
	Other    Flavour = "Other"    // requires no token; a repeated registration is recognised by its idempotency key
)

// Server is an identity provider on a loopback port.
type Server struct {
	flavour Flavour
	issuer  *gatewaysim.Issuer
	server  *http.Server
	url     string
	initial string

	mu      sync.Mutex // guards the fields below
	clients map[string]*client
	ends    int64             // when secrets of clients expire, in seconds since 1970; 0: never
	keys    map[string]string // identifiers of clients by Idempotency-Key
	faults  map[Endpoint]*fault
	calls   map[Endpoint]int
	logins  map[string]login  // by code
	tokens  map[string]string // subject by access token
	person  map[string]any    // claims of the person in the browser
	more    map[string]any    // claims of userinfo
	forge   func(map[string]any) map[string]any
	sign    func(map[string]any) string
}

// client is a registered client.
type client struct {
	secret, token string
	metadata      map[string]any
}

// New starts a provider. It panics if there is no free loopback port. Close it when done.
func New(f Flavour) *Server {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("idp: " + err.Error())
	}
	s := &Server{
		flavour: f, issuer: gatewaysim.NewIssuer(), url: "http://" + listener.Addr().String(), initial: rand.Text(),
		clients: map[string]*client{}, keys: map[string]string{}, faults: map[Endpoint]*fault{}, calls: map[Endpoint]int{},
		logins: map[string]login{}, tokens: map[string]string{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", s.at(Discovery, s.discover))
	mux.HandleFunc("POST /register", s.at(Registration, s.register))
	for _, path := range []string{"/register/{id}", "/register"} {
		mux.HandleFunc("GET "+path, s.at(Reading, s.about(s.read)))
		mux.HandleFunc("PUT "+path, s.at(Updating, s.about(s.update)))
		mux.HandleFunc("DELETE "+path, s.at(Deletion, s.about(s.remove)))
	}
	mux.HandleFunc("POST /token", s.at(Tokens, s.grant))
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("GET /userinfo", s.at(Claims, s.userinfo))
	mux.HandleFunc("GET /keys", s.at(Keys, s.issuer.ServeKeys))
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(listener) }() // ends with Close
	return s
}

// Close stops the provider.
func (s *Server) Close() {
	_ = s.server.Close()
	s.issuer.Close()
}

// WellKnown returns the address of the discovery document.
func (s *Server) WellKnown() string { return s.url + "/.well-known/openid-configuration" }

// Issuer returns the issuer of tokens.
func (s *Server) Issuer() string { return s.url }

// JWKS returns the address of the keys.
func (s *Server) JWKS() string { return s.url + "/keys" }

// InitialToken returns the token that registrations require; "": none.
func (s *Server) InitialToken() string {
	if s.flavour == Keycloak || s.flavour == Okta {
		return s.initial
	}
	return ""
}

// Rotate changes the signing key.
func (s *Server) Rotate() { s.issuer.Rotate() }

// EndSecrets sets when the secrets of all clients expire.
func (s *Server) EndSecrets(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = at.Unix()
}

// Clients returns the scopes of all clients by their identifiers.
func (s *Server) Clients() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for id, c := range s.clients {
		out[id], _ = c.metadata["scope"].(string)
	}
	return out
}

// Metadata returns the registered metadata of a client.
func (s *Server) Metadata(id string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clients[id]; c != nil {
		return maps.Clone(c.metadata)
	}
	return nil
}

// Token requests a token as a client; status is that of the answer.
func (s *Server) Token(id, secret string, scopes ...string) (token string, status int) {
	body := url.Values{"grant_type": {"client_credentials"}}
	if len(scopes) > 0 {
		body.Set("scope", strings.Join(scopes, " "))
	}
	req, err := http.NewRequest(http.MethodPost, s.url+"/token", strings.NewReader(body.Encode()))
	if err != nil {
		return "", 0
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", 0
	}
	defer func() { _ = resp.Body.Close() }()
	var out struct {
		Token string `json:"access_token"`
	}
	_ = json.NewDecoder(resp.Body).Decode(&out)
	return out.Token, resp.StatusCode
}

func (s *Server) discover(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer": s.Issuer(), "jwks_uri": s.JWKS(), "registration_endpoint": s.url + "/register", "token_endpoint": s.url + "/token",
		"authorization_endpoint": s.url + "/authorize", "userinfo_endpoint": s.url + "/userinfo", "id_token_signing_alg_values_supported": []string{"RS256"}, "response_types_supported": []string{"code", "token"}, "subject_types_supported": []string{"public"},
	})
}

// grant issues tokens for client credentials (RFC 6749, 4.4).
func (s *Server) grant(w http.ResponseWriter, r *http.Request) {
	id, secret, ok := r.BasicAuth()
	if !ok {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[id]
	if c == nil || c.secret == "" || c.secret != secret {
		refuse(w, http.StatusBadRequest, "invalid_client")
		return
	}
	grants, _ := c.metadata["grant_types"].([]any)
	if r.PostFormValue("grant_type") == "authorization_code" && slices.Contains(grants, any("authorization_code")) {
		s.redeem(w, r, id)
		return
	}
	if r.PostFormValue("grant_type") != "client_credentials" || !slices.Contains(grants, any("client_credentials")) {
		refuse(w, http.StatusBadRequest, "unauthorized_client")
		return
	}
	own, _ := c.metadata["scope"].(string)
	scopes := strings.Fields(own)
	if wanted := strings.Fields(r.PostFormValue("scope")); len(wanted) > 0 {
		for _, one := range wanted {
			if !slices.Contains(scopes, one) {
				refuse(w, http.StatusBadRequest, "invalid_scope")
				return
			}
		}
		scopes = wanted
	}
	now := time.Now()
	answer(w, http.StatusOK, map[string]any{
		"token_type": "Bearer", "expires_in": 300, "scope": strings.Join(scopes, " "),
		"access_token": s.issuer.Sign(map[string]any{"iss": s.Issuer(), "sub": id, "azp": id, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(), "scope": strings.Join(scopes, " ")}),
	})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have disconnected
}

func refuse(w http.ResponseWriter, status int, why string) {
	answer(w, status, map[string]any{"error": why})
}
