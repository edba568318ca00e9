package registration_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	fetching "github.com/gatehouse-io/gatehouse/adapters/fetch"
	adapter "github.com/gatehouse-io/gatehouse/adapters/registration"
	"github.com/gatehouse-io/gatehouse/core/doc"
	core "github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/e2e/idp"
	"github.com/gatehouse-io/gatehouse/ports/registration"
)

// flavours are all flavours with the type of their clients.
var flavours = map[idp.Flavour]core.ClientType{
	idp.Keycloak: {Name: "Server", GrantType: "client_credentials", ResponseTypes: "none", TokenEndpointAuthMethod: "client_secret_basic"},
	idp.Gluu:     {Name: "Server", GrantType: "client_credentials", ResponseTypes: "token"},
	idp.Okta:     {Name: "Server", OktaAppType: core.OktaService},
	idp.Other:    {Name: "Server", GrantType: "client_credentials,refresh_token", ResponseTypes: "none", TokenEndpointAuthMethod: "client_secret_post"},
}

// loopback reaches this machine.
func loopback() *fetching.Client {
	return fetching.New(fetching.Config{MaxBytes: core.MaxAnswer, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}

func open(t *testing.T, f idp.Flavour) (*idp.Server, registration.Place) {
	t.Helper()
	s := idp.New(f)
	t.Cleanup(s.Close)
	return s, registration.Place{WellKnown: s.WellKnown(), Token: s.InitialToken()}
}

func request(t *testing.T, f idp.Flavour, scopes ...string) *doc.Node {
	t.Helper()
	n, err := flavours[f].Request(string(f), core.Wanted{Name: "Shop", Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestLife: with every flavour a client is registered, gets tokens, gets more scopes and fewer
// with the same secret, and is deleted.
func TestLife(t *testing.T) {
	for f := range flavours {
		t.Run(string(f), func(t *testing.T) {
			s, at := open(t, f)
			c := adapter.New(loopback(), adapter.Config{})
			d, err := c.Discover(t.Context(), at)
			if err != nil || d.Issuer != s.Issuer() || d.JWKSURI != s.JWKS() || d.Registers() != nil {
				t.Fatalf("%+v, %v", d, err)
			}
			one, err := c.Register(t.Context(), at, d.Registration, "key-1", request(t, f, "orders", "gold"))
			if err != nil || !one.Managed() || one.Secret == "" {
				t.Fatalf("%+v, %v", one, err)
			}
			if token, status := s.Token(one.ID, one.Secret, "orders"); token == "" || status != http.StatusOK {
				t.Error(status)
			}
			for _, scopes := range [][]string{{"orders", "gold", "claims"}, {"claims"}} {
				read, err := c.Read(t.Context(), at, one)
				if err != nil {
					t.Fatal(err)
				}
				one = one.After(read)
				body, err := one.Revised(scopes, nil)
				if err != nil {
					t.Fatal(err)
				}
				after, err := c.Update(t.Context(), at, one, body)
				if err != nil || after.ID != one.ID || after.Scope != strings.Join(scopes, " ") {
					t.Fatalf("%+v, %v", after, err)
				}
				if one = one.After(after); one.Secret != read.Secret {
					t.Error("another secret")
				}
				if got := s.Metadata(one.ID); got["client_name"] != "Shop" || got["registration_client_uri"] != nil {
					t.Error(got)
				}
			}
			if _, status := s.Token(one.ID, one.Secret, "orders"); status != http.StatusBadRequest {
				t.Error(status)
			}
			if err := c.Delete(t.Context(), at, one); err != nil || len(s.Clients()) != 0 {
				t.Error(err, s.Clients())
			}
			if _, status := s.Token(one.ID, one.Secret); status != http.StatusBadRequest {
				t.Error(status)
			}
			// For a deleted client, Keycloak answers that it is gone; others answer that the
			// token is wrong.
			if err := c.Delete(t.Context(), at, one); f == idp.Keycloak && err != nil || f != idp.Keycloak && !errors.Is(err, registration.ErrDenied) {
				t.Error(err)
			}
		})
	}
}

// TestFaults: every failure of every endpoint is classified by what may have been done, and no
// error contains a token.
func TestFaults(t *testing.T) {
	class := map[idp.Fault]error{
		idp.Down: registration.ErrUncertain, idp.Broken: registration.ErrUncertain, idp.Garbage: registration.ErrUncertain, idp.Dies: registration.ErrUncertain,
		idp.Slow: registration.ErrUncertain, idp.Refuses: registration.ErrRefused,
	}
	for _, fault := range idp.Faults {
		s, at := open(t, idp.Keycloak)
		c := adapter.New(loopback(), adapter.Config{Timeout: idp.Patience, Pause: time.Millisecond})
		d, err := c.Discover(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		calls := map[idp.Endpoint]func(core.Client) error{
			idp.Discovery: func(core.Client) error { _, err := c.Discover(t.Context(), at); return err },
			idp.Registration: func(core.Client) error {
				_, err := c.Register(t.Context(), at, d.Registration, "k", request(t, idp.Keycloak, "a"))
				return err
			},
			idp.Reading:  func(one core.Client) error { _, err := c.Read(t.Context(), at, one); return err },
			idp.Updating: func(one core.Client) error { _, err := c.Update(t.Context(), at, one, doc.NewObject()); return err },
			idp.Deletion: func(one core.Client) error { return c.Delete(t.Context(), at, one) },
		}
		for endpoint, call := range calls {
			s.Behave()
			one, err := c.Register(t.Context(), at, d.Registration, "one", request(t, idp.Keycloak, "a"))
			if err != nil {
				t.Fatal(err)
			}
			s.Misbehave(endpoint, fault, -1)
			want := class[fault]
			before := s.Calls(endpoint)
			err = call(one)
			if endpoint == idp.Deletion && fault == idp.Garbage {
				want = nil // the deletion was carried out in any case
			}
			if want == nil && err != nil || !errors.Is(err, want) || err != nil && (strings.Contains(err.Error(), at.Token) || strings.Contains(err.Error(), one.Token)) {
				t.Errorf("%s, %s: %v", endpoint, fault, err)
			}
			// Package net/http repeats idempotent requests when an old connection breaks.
			n, least := s.Calls(endpoint)-before, 1
			if endpoint == idp.Discovery && fault != idp.Garbage && fault != idp.Refuses {
				least = 3
			}
			if n < least || n > least+1 {
				t.Errorf("%s, %s: %d calls", endpoint, fault, n)
			}
		}
		s.Close()
		for endpoint, call := range calls {
			// If an old connection breaks, it is unknown whether the request was sent.
			if err := call(core.Client{URI: at.WellKnown, Token: "t"}); !errors.Is(err, registration.ErrUntouched) && !errors.Is(err, registration.ErrUncertain) {
				t.Errorf("%s of a provider that is off: %v", endpoint, err)
			}
		}
	}
}

// TestAnotherClient: an answer about another client than the requested one is unusable, and
// the outcome is unknown.
func TestAnotherClient(t *testing.T) {
	s, at := open(t, idp.Other)
	c := adapter.New(loopback(), adapter.Config{Attempts: 1})
	d, err := c.Discover(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	var both [2]core.Client
	for i, key := range []string{"one", "two"} {
		if both[i], err = c.Register(t.Context(), at, d.Registration, key, request(t, idp.Other, key)); err != nil {
			t.Fatal(err)
		}
	}
	mine := both[1]
	mine.ID = both[0].ID // address and token are those of the other client
	if _, err := c.Read(t.Context(), at, mine); !errors.Is(err, registration.ErrUncertain) {
		t.Error("read:", err)
	}
	body, err := both[1].Revised([]string{"three"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Update(t.Context(), at, mine, body); !errors.Is(err, registration.ErrUncertain) {
		t.Error("changed:", err)
	}
	if n := len(s.Clients()); n != 2 {
		t.Errorf("%d clients", n)
	}
}

// TestTokens: without the registration token no client is made, and a repeated registration
// makes one client if the provider knows its idempotency key.
func TestTokens(t *testing.T) {
	s, at := open(t, idp.Keycloak)
	c := adapter.New(loopback(), adapter.Config{})
	d, _ := c.Discover(t.Context(), at)
	at.Token = "wrong"
	if _, err := c.Register(t.Context(), at, d.Registration, "k", request(t, idp.Keycloak)); !errors.Is(err, registration.ErrDenied) || len(s.Clients()) != 0 {
		t.Error(err)
	}
	s, at = open(t, idp.Other)
	d, _ = c.Discover(t.Context(), at)
	for range 3 {
		if _, err := c.Register(t.Context(), at, d.Registration, "k", request(t, idp.Other)); err != nil || len(s.Clients()) != 1 {
			t.Error(err, s.Clients())
		}
	}
}

// TestOutside: a private client address in an answer is not called.
func TestOutside(t *testing.T) {
	s, at := open(t, idp.Other)
	c := adapter.New(fetching.New(fetching.Config{}), adapter.Config{})
	if _, err := c.Discover(t.Context(), at); !errors.Is(err, registration.ErrRefused) || s.Calls(idp.Discovery) != 0 {
		t.Error(err)
	}
	if err := c.Delete(t.Context(), at, core.Client{URI: "http://169.254.169.254/latest", Token: "t"}); !errors.Is(err, registration.ErrRefused) {
		t.Error(err)
	}
}

// TestLog: answers are logged on demand only, without secrets.
func TestLog(t *testing.T) {
	s, at := open(t, idp.Keycloak)
	var log bytes.Buffer
	c := adapter.New(loopback(), adapter.Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	d, err := c.Discover(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	one, err := c.Register(t.Context(), at, d.Registration, "k", request(t, idp.Keycloak, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	s.Misbehave(idp.Reading, idp.Garbage, 1)
	_, _ = c.Read(t.Context(), at, one)
	text := log.String()
	for _, shown := range []string{`\"token_endpoint\":\"http`, `\"token_endpoint_auth_method\":\"client_secret_`} {
		if !strings.Contains(text, shown) {
			t.Errorf("%s is masked: %s", shown, text)
		}
	}
	if !strings.Contains(text, one.ID) || !strings.Contains(text, "orders") || !strings.Contains(text, "are no JSON") {
		t.Error(text)
	}
	if slices.ContainsFunc([]string{one.Secret, one.Token, at.Token}, func(s string) bool { return strings.Contains(text, s) }) {
		t.Error("the log tells a secret: ", text)
	}
}
