// Package outbound holds the use cases in which the control plane calls other servers
// on behalf of a user: trying out an API at a gateway, and reading example APIs
// (docs/wire/proxy.md, docs/wire/examples.md). The user alone never decides which
// server is called.
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
	Trusted bool   // the operator configured it, so it may be a private address
}

// Gateways returns the gateways that users of an organisation may call.
type Gateways func(ctx context.Context, s tenant.Scope) ([]Gateway, error)

// At returns the addresses at which gateways serve an API that has a domain of its own:
// with the schemes and ports of the other addresses, and with the default ports. Every
// user who may write APIs can choose the domain, so it is not trusted.
func At(domain string, own []Gateway) []Gateway {
	out := []Gateway{{URL: "http://" + domain}, {URL: "https://" + domain}}
	for _, g := range own {
		if u, err := url.Parse(g.URL); err == nil && u.Port() != "" {
			out = append(out, Gateway{URL: u.Scheme + "://" + domain + ":" + u.Port()})
		}
	}
	return out
}

// origin returns scheme, host and port of a URL in a normal form. ok is false if the
// text is no absolute http or https URL, or has credentials.
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

// hostOf returns the host of a URL in a normal form.
func hostOf(u *url.URL) string { return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") }

// find returns the known gateway that a URL belongs to. A trusted one comes first.
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
