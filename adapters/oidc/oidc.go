// Package oidc logs users in at identity providers by OpenID Connect: the code flow with
// PKCE. Every call goes through a fetcher, which restricts the addresses, the time and the
// size of the answer.
package oidc

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/login"
)

// Config sets timeouts and cache times. Zero values take the defaults.
type Config struct {
	Timeout time.Duration    // for all calls of one step of a login; 15 s
	Fresh   time.Duration    // for how long a discovery document is cached; 10 min
	Away    time.Duration    // for how long a provider that does not answer is not asked again; 5 s
	Now     func() time.Time // nil: time.Now
}

// Client is a login.Provider.
type Client struct {
	known
	c Config
}

var _ login.Provider = (*Client)(nil)

// New returns a Client.
func New(f fetch.Fetcher, c Config) *Client {
	if c.Timeout <= 0 {
		c.Timeout = 15 * time.Second
	}
	if c.Fresh <= 0 {
		c.Fresh = 10 * time.Minute
	}
	if c.Away <= 0 {
		c.Away = 5 * time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	// Redirects to other origins are returned as answers.
	client := &http.Client{Transport: through{f}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Client{c: c, known: known{client: client, fresh: c.Fresh, away: c.Away, timeout: c.Timeout, now: c.Now, entries: map[string]*entry{}}}
}

// Begin implements login.Provider.
func (c *Client) Begin(ctx context.Context, as login.Client, a login.Attempt) (string, error) {
	p, err := c.provider(ctx, as.Discovery)
	if err != nil {
		return "", err
	}
	if !webAddress(p.Endpoint().AuthURL) {
		return "", fmt.Errorf("%w: its discovery document has no authorization_endpoint", login.ErrAway)
	}
	return p.application(as).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

// Finish implements login.Provider.
func (c *Client) Finish(ctx context.Context, as login.Client, a login.Attempt, back login.Return, wanted []string) (map[string]any, error) {
	p, err := c.provider(ctx, as.Discovery)
	if err != nil {
		return nil, err
	}
	if back.Issuer != "" && back.Issuer != p.issuer {
		return nil, refused("another issuer has sent the browser back")
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, c.client), c.c.Timeout)
	defer cancel()
	token, err := p.application(as).Exchange(ctx, back.Code, oauth2.VerifierOption(a.Verifier))
	// The error does not quote the answer, which may contain secrets.
	if r, ok := errors.AsType[*oauth2.RetrieveError](err); ok && r.Response != nil {
		if r.ErrorCode == "invalid_grant" {
			return nil, refused("the code has been used, is too old, or is for another login")
		}
		return nil, fmt.Errorf("%w: it answers a request for a token with status %d", login.ErrAway, r.Response.StatusCode)
	}
	if err != nil {
		return nil, away(err, "a request for a token")
	}
	claims, err := c.verified(ctx, p, as, a, token)
	lacking := func(name string) bool { _, ok := claims[name]; return !ok }
	if err == nil && as.ClaimsToo && slices.ContainsFunc(wanted, lacking) && webAddress(p.UserInfoEndpoint()) {
		err = complete(ctx, p, token, claims)
	}
	return claims, err
}

// verified returns the claims of an ID token after checking that the token is for this
// client and this login.
func (c *Client) verified(ctx context.Context, p *provider, as login.Client, a login.Attempt, token *oauth2.Token) (claims map[string]any, err error) {
	signed, _ := token.Extra("id_token").(string)
	if signed == "" {
		return nil, fmt.Errorf("%w: it gives no id_token", login.ErrAway)
	}
	id, err := p.Verifier(&oidc.Config{ClientID: as.ID, Now: c.c.Now}).Verify(ctx, signed)
	if _, ok := errors.AsType[*oidc.TokenExpiredError](err); ok {
		return nil, refused("the token is too old")
	}
	if err != nil {
		return nil, refused("the token is not for this client, not of this issuer, its signature is wrong, or the keys of the provider cannot be had")
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(a.Nonce)) != 1 {
		return nil, refused("the token is for another login")
	}
	var text json.RawMessage
	if err := id.Claims(&text); err != nil || decode(text, &claims) != nil {
		return nil, refused("the claims of the token cannot be read")
	}
	if azp, ok := claims["azp"]; ok && azp != as.ID || !ok && len(id.Audience) > 1 { // OpenID Connect Core 1.0, 3.1.3.7
		return nil, refused("the token is for another client")
	}
	return claims, nil
}

// complete adds the claims of the userinfo endpoint. Claims of the token take precedence.
func complete(ctx context.Context, p *provider, token *oauth2.Token, claims map[string]any) error {
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return fmt.Errorf("%w: it tells no claims", login.ErrAway)
	}
	if info.Subject != claims["sub"] {
		return refused("the claims are another person's")
	}
	var text json.RawMessage
	var more map[string]any
	if err := info.Claims(&text); err != nil || decode(text, &more) != nil {
		return fmt.Errorf("%w: its claims cannot be read", login.ErrAway)
	}
	for name, value := range more {
		if _, ok := claims[name]; !ok {
			claims[name] = value
		}
	}
	return nil
}

// decode decodes claims. Numbers keep their spelling.
func decode(text []byte, into *map[string]any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

func refused(why string) error { return fmt.Errorf("%w: %s", login.ErrRefused, why) }

// away returns the error for a call without an answer. The fetcher's own errors can be
// shown: they contain a host name, and nothing else.
func away(err error, what string) error {
	for _, known := range []error{fetch.ErrPrivate, fetch.ErrTooLarge, fetch.ErrUnreachable, fetch.ErrRequest} {
		if errors.Is(err, known) {
			return fmt.Errorf("%w: %s: %w", login.ErrAway, what, known)
		}
	}
	return fmt.Errorf("%w: %s", login.ErrAway, what)
}

func webAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

// application returns the client for the OAuth library. The authentication method is one
// that the provider names, rather than one found by trial: a code can be presented only
// once.
func (p *provider) application(as login.Client) *oauth2.Config {
	at := p.Endpoint()
	at.AuthStyle = oauth2.AuthStyleInHeader
	if as.Secret == "" || len(p.methods) > 0 && !slices.Contains(p.methods, "client_secret_basic") {
		at.AuthStyle = oauth2.AuthStyleInParams
	}
	scopes := []string{oidc.ScopeOpenID}
	for _, scope := range as.Scopes {
		if scope = strings.TrimSpace(scope); scope != "" && !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return &oauth2.Config{ClientID: as.ID, ClientSecret: as.Secret, Endpoint: at, RedirectURL: as.Redirect, Scopes: scopes}
}
