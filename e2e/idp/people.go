package idp

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// login is a code that was not redeemed yet.
type login struct {
	client, redirect, challenge string
	claims                      map[string]any
}

// Application registers a client for user logins.
func (s *Server) Application(redirect string) (id, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, secret = "app-"+rand.Text()[:12], rand.Text()
	s.clients[id] = &client{secret: secret, metadata: map[string]any{"redirect_uris": []any{redirect}, "grant_types": []any{"authorization_code"}}}
	return id, secret
}

// Seat sets the claims of the person in every browser from now on, besides those of the
// protocol. nil: the person does not log in.
func (s *Server) Seat(claims map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.person = maps.Clone(claims)
}

// Tell sets the claims of userinfo besides sub.
func (s *Server) Tell(claims map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more = maps.Clone(claims)
}

// Forge changes the ID tokens of the provider from now on; nil: they are valid.
func (s *Server) Forge(change func(claims map[string]any) map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forge = change
}

// Resign replaces the signing of ID tokens; nil: with the provider's key.
func (s *Server) Resign(sign func(claims map[string]any) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sign = sign
}

// Unsigned returns a token without a signature.
func Unsigned(claims map[string]any) string {
	out, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims(claims)).SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		panic("idp: " + err.Error())
	}
	return out
}

// WithSecret returns tokens signed with a secret that client and provider share.
func WithSecret(secret string) func(claims map[string]any) string {
	return func(claims map[string]any) string {
		out, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims(claims)).SignedString([]byte(secret))
		if err != nil {
			panic("idp: " + err.Error())
		}
		return out
	}
}

// authorize redirects the browser back with a code (OpenID Connect Core 1.0, 3.1.2).
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	c, redirect := s.clients[q.Get("client_id")], q.Get("redirect_uri")
	if c == nil {
		refuse(w, http.StatusBadRequest, "invalid_client")
		return
	}
	if at, _ := c.metadata["redirect_uris"].([]any); !slices.Contains(at, any(redirect)) {
		refuse(w, http.StatusBadRequest, "invalid_redirect_uri")
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	switch {
	case q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("nonce") == "":
		back.Set("error", "invalid_request")
	case s.person == nil:
		back.Set("error", "access_denied")
	default:
		code := rand.Text()
		claims := maps.Clone(s.person)
		claims["nonce"] = q.Get("nonce")
		s.logins[code] = login{q.Get("client_id"), redirect, q.Get("code_challenge"), claims}
		back.Set("code", code)
		back.Set("iss", s.Issuer())
	}
	http.Redirect(w, r, redirect+"?"+back.Encode(), http.StatusFound)
}

// redeem issues tokens for a code, once (RFC 6749, 4.1.3; RFC 7636, 4.6). The caller holds
// mu.
func (s *Server) redeem(w http.ResponseWriter, r *http.Request, id string) {
	code := r.PostFormValue("code")
	l, ok := s.logins[code]
	delete(s.logins, code)
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !ok || l.client != id || l.redirect != r.PostFormValue("redirect_uri") || base64.RawURLEncoding.EncodeToString(sum[:]) != l.challenge {
		refuse(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	now := time.Now()
	claims := map[string]any{"iss": s.Issuer(), "aud": id, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix()}
	maps.Copy(claims, l.claims)
	if s.forge != nil {
		claims = s.forge(claims)
	}
	sign := s.sign
	if sign == nil {
		sign = s.issuer.Sign
	}
	access := rand.Text()
	s.tokens[access], _ = l.claims["sub"].(string)
	answer(w, http.StatusOK, map[string]any{"token_type": "Bearer", "expires_in": 300, "access_token": access, "id_token": sign(claims)})
}

// userinfo returns more claims of a person (OpenID Connect Core 1.0, 5.3).
func (s *Server) userinfo(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub, ok := s.tokens[bearer(r)]
	if !ok {
		refuse(w, http.StatusUnauthorized, "invalid_token")
		return
	}
	out := map[string]any{"sub": sub}
	maps.Copy(out, s.more)
	answer(w, http.StatusOK, out)
}

// Sit follows the redirects of a browser from the address of the provider to the one to which
// it is sent back, without opening that.
func (s *Server) Sit(address string) (back string, err error) {
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Get(address)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusFound {
		return "", fmt.Errorf("idp: authorize answers %d", resp.StatusCode)
	}
	return resp.Header.Get("Location"), nil
}
