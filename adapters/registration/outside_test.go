package registration_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"

	fetching "github.com/gatehouse-io/gatehouse/adapters/fetch"
	adapter "github.com/gatehouse-io/gatehouse/adapters/registration"
	core "github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/e2e/idp"
	"github.com/gatehouse-io/gatehouse/ports/registration"
)

// TestNamedInside: URLs in the answers of an identity provider are guarded like URLs that an
// administrator has set: document URLs, endpoints, the address of a client, and redirects of
// all of them. 127.0.0.1 is allowed here, and stands for the public Internet; 127.0.0.2 is
// private.
func TestNamedInside(t *testing.T) {
	var inside atomic.Int64
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	victim := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) }))
	victim.Listener = l
	victim.Start()
	t.Cleanup(victim.Close)
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/document":
			_, _ = fmt.Fprintf(w, `{"issuer":"https://login.example.com","jwks_uri":"%s/keys","registration_endpoint":"%s/register"}`, victim.URL, victim.URL)
		default: // redirects that also repeat method and body
			http.Redirect(w, r, victim.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(outside.Close)
	c := adapter.New(fetching.New(fetching.Config{MaxBytes: core.MaxAnswer, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}), adapter.Config{Attempts: 1})
	metadata := request(t, idp.Other, "shop")
	for _, insecure := range []bool{false, true} {
		at := registration.Place{WellKnown: outside.URL + "/document", Token: "t", Insecure: insecure}
		d, err := c.Discover(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		lost := at
		lost.WellKnown = outside.URL + "/moved"
		for what, call := range map[string]func() error{
			"the document is inside": func() error {
				_, err := c.Discover(t.Context(), registration.Place{WellKnown: victim.URL, Insecure: insecure})
				return err
			},
			"the document redirects inside":       func() error { _, err := c.Discover(t.Context(), lost); return err },
			"the registration endpoint is inside": func() error { _, err := c.Register(t.Context(), at, d.Registration, "k", metadata); return err },
			"it redirects inside": func() error {
				_, err := c.Register(t.Context(), at, outside.URL+"/register", "k", metadata)
				return err
			},
			"a client is inside, read": func() error {
				_, err := c.Read(t.Context(), at, core.Client{URI: victim.URL + "/c", Token: "t"})
				return err
			},
			"a client is inside, changed": func() error {
				_, err := c.Update(t.Context(), at, core.Client{URI: victim.URL + "/c", Token: "t"}, metadata)
				return err
			},
			"a client is inside, deleted": func() error { return c.Delete(t.Context(), at, core.Client{URI: victim.URL + "/c", Token: "t"}) },
			"a client redirects inside":   func() error { return c.Delete(t.Context(), at, core.Client{URI: outside.URL + "/c", Token: "t"}) },
		} {
			if err := call(); !errors.Is(err, registration.ErrRefused) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	if n := inside.Load(); n != 0 {
		t.Errorf("%d requests have come inside", n)
	}
}
