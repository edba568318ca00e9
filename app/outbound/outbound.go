// Package outbound holds the use cases in which the control plane asks other
// servers on behalf of a user: trying an API out at a gateway, and reading
// example APIs (docs/wire/proxy.md, docs/wire/examples.md). Whom it asks is never the user's
// choice alone.
package outbound

import (
	"context"
	"net/url"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Gateway is an address at which gateways serve APIs.
type Gateway struct {
	URL     string // absolute; only scheme, host and port count
	Trusted bool   // the operator has configured it, so that it may be a private address
}

// Gateways returns the gateways that users of an organisation may call.
type Gateways func(ctx context.Context, s tenant.Scope) ([]Gateway, error)

// At returns where gateways serve an API that has a domain of its own: on the
// schemes and ports at which they are reached otherwise, and on the usual ones.
// Every user who may write APIs chooses the domain, so that it is not to be trusted.
func At(domain string, own []Gateway) []Gateway {
	out := []Gateway{{URL: "http://" + domain}, {URL: "https://" + domain}}
	for _, g := range own {
		if u, err := url.Parse(g.URL); err == nil && u.Port() != "" {
			out = append(out, Gateway{URL: u.Scheme + "://" + domain + ":" + u.Port()})
		}
	}
	return out
}

// origin returns scheme, host and port of a URL in one spelling, or ok false for
// what is no absolute http or https URL, or carries credentials.
func origin(raw string) (o string, ok bool) {
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || hostOf(u) == "" {
		return "", false
	}
	port := u.Port()
	switch {
	case u.Scheme == "http" && port == "":
		port = "80"
	case u.Scheme == "https" && port == "":
		port = "443"
	case u.Scheme != "http" && u.Scheme != "https":
		return "", false
	}
	return u.Scheme + " " + hostOf(u) + " " + port, true
}

// hostOf returns the host of a URL in one spelling.
func hostOf(u *url.URL) string { return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") }

// find returns the known gateway that a URL belongs to. One that is trusted wins.
func find(known []Gateway, raw string) (found Gateway, ok bool) {
	want, ok := origin(raw)
	if !ok {
		return found, false
	}
	ok = false
	for _, g := range known {
		if at, valid := origin(g.URL); valid && at == want && (!ok || g.Trusted) {
			found, ok = g, true
		}
	}
	return found, ok
}
