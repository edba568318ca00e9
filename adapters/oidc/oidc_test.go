package oidc_test

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/oidc"
	"github.com/gatehouse-io/gatehouse/e2e/idp"
	ports "github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/login"
)

var loopback = fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, MaxBytes: 1 << 20}

// TestAskedOnce begins many logins at once: the discovery document is requested once, and
// again when it has expired; a provider that does not answer is not asked again for a while.
func TestAskedOnce(t *testing.T) {
	server := idp.New(idp.Other)
	t.Cleanup(server.Close)
	now := time.Now()
	c := oidc.New(fetch.New(loopback), oidc.Config{Now: func() time.Time { return now }})
	as := login.Client{Discovery: server.WellKnown(), ID: "x", Redirect: "https://portal.example.com/callback"}
	begin := func() error {
		_, err := c.Begin(t.Context(), as, login.Attempt{State: "s", Nonce: "n", Verifier: "v"})
		return err
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := begin(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := server.Calls(idp.Discovery); n != 1 {
		t.Error(n)
	}
	now = now.Add(10 * time.Minute)
	server.Misbehave(idp.Discovery, idp.Broken, 1)
	for range 20 {
		if err := begin(); !errors.Is(err, login.ErrAway) {
			t.Error(err)
		}
	}
	if n := server.Calls(idp.Discovery); n != 2 {
		t.Error(n)
	}
	now = now.Add(5 * time.Second)
	if err := begin(); err != nil {
		t.Error(err)
	}
}

// TestCallerGoes: a caller that cancels while the provider is asked does not affect other
// callers.
func TestCallerGoes(t *testing.T) {
	server := idp.New(idp.Other)
	t.Cleanup(server.Close)
	c := oidc.New(fetch.New(loopback), oidc.Config{})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	as := login.Client{Discovery: server.WellKnown(), ID: "x"}
	if _, err := c.Begin(gone, as, login.Attempt{}); err != nil {
		t.Error(err)
	}
}

// documents answers with discovery documents by address.
type documents map[string]string

func (d documents) Fetch(_ context.Context, r ports.Request) (ports.Answer, error) {
	if text, ok := d[r.URL]; ok {
		return ports.Answer{Status: 200, Header: map[string][]string{"Content-Type": {"application/json"}}, Body: []byte(text)}, nil
	}
	return ports.Answer{Status: 302, Header: map[string][]string{"Location": {"http://inside.example.com/"}}}, nil
}

// TestDiscovery accepts a discovery document whose issuer matches the beginning of its
// address, with or without a trailing slash.
func TestDiscovery(t *testing.T) {
	const at = "https://login.example.com/.well-known/openid-configuration"
	begin := func(discovery, text string) (string, error) {
		return oidc.New(documents{at: text}, oidc.Config{}).Begin(t.Context(), login.Client{Discovery: discovery, ID: "portal", Redirect: "https://p/cb", Scopes: []string{"email", " ", "openid", "email"}}, login.Attempt{State: "s", Nonce: "n", Verifier: "v"})
	}
	for _, issuer := range []string{"https://login.example.com", "https://login.example.com/"} {
		got, err := begin(at, `{"issuer":"`+issuer+`","authorization_endpoint":"https://login.example.com/auth?tenant=1","token_endpoint":"https://login.example.com/token","jwks_uri":"https://login.example.com/keys"}`)
		u, bad := url.Parse(got)
		if err != nil || bad != nil {
			t.Fatal(err, bad)
		}
		if q := u.Query(); q.Get("tenant") != "1" || q.Get("scope") != "openid email" || q.Get("state") != "s" || q.Get("nonce") != "n" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "v" || q.Get("response_type") != "code" || q.Get("redirect_uri") != "https://p/cb" {
			t.Error(got)
		}
	}
	for _, c := range [][2]string{
		{at, `{"issuer":"https://evil.example.com","authorization_endpoint":"https://login.example.com/auth"}`}, {at, `{"issuer":"https://login.example.com","authorization_endpoint":"javascript:alert(1)"}`},
		{at, `{"issuer":"https://login.example.com"}`}, {at, `[]`}, {at, `<html>`}, {"https://login.example.com/", `{}`}, {"file:///.well-known/openid-configuration", `{}`}, {"https://a:b@login.example.com/.well-known/openid-configuration", `{}`},
		{"https://other.example.com/.well-known/openid-configuration", `{}`},
	} {
		if got, err := begin(c[0], c[1]); !errors.Is(err, login.ErrAway) {
			t.Errorf("%s: %s %v", c, got, err)
		}
	}
}
