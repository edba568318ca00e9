package servers

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// address is one way to reach an API.
type address struct {
	host    string // with protocol; "" for a relative address
	path    string // listen path without trailing slash
	version string // path segment that selects the version, or ""
	query   Value  // parameter that selects the version, or empty
	header  Value  // header that selects the version, or empty
}

// Value is a named value in a query or header.
type Value struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// String returns the address as written in the servers list.
func (a address) String() string {
	out := a.host + a.path
	if a.version != "" {
		out = strings.TrimSuffix(out, "/") + "/" + a.version
	}
	if a.query.Name != "" {
		out += "?" + a.query.Name + "=" + a.query.Value
	}
	return out
}

// addresses returns the addresses of an API (docs/wire/versions.md#addresses-of-an-api). An
// API to which no route leads is no version.
func addresses(api *doc.Node, routes []route, c Config) []address {
	if api == nil {
		return nil
	}
	own, child := plain(api, c), false
	var out []address
	for _, r := range routes {
		if name := r.to(api); name != "" {
			child, out = true, append(out, through(r.base, name, name, c)...)
		}
	}
	name := api.Get("definition", "name").Text()
	switch {
	case child && api.Get("internal").True():
		return out
	case child:
		return append(out, own...)
	case len(routes) > 0 || !api.Get("definition", "enabled").True() || name == "":
		return own
	}
	return through(api, name, "self", c)
}

// to returns the name of a version in the table of a base; "": the table does not have it.
func (r route) to(api *doc.Node) string {
	if r.name != "" {
		return r.name
	}
	for listed, v := range r.base.Get("definition", "versions").Members() {
		if v.Text() == api.Get("api_id").Text() {
			return listed
		}
	}
	return ""
}

// through returns the addresses of a version below its base. called is its name as a default
// version.
func through(base *doc.Node, name, called string, c Config) []address {
	routing, all := base.Get("definition"), plain(base, c)
	out := versioned(all, routing, name)
	// Requests without a version may reach this one at an additional address.
	if routing.Get("fallback_to_default").True() && routing.Get("location").Text() != "header" &&
		routing.Get("default").Text() == called {
		out = append(out, all...)
	}
	return out
}

// plain returns the unversioned addresses of an API: one per host. It returns none if the
// listen path is a reference, because only gateways can resolve it.
func plain(api *doc.Node, c Config) []address {
	var out []address
	if validation.IsReference(api.Get("proxy", "listen_path").Text()) {
		return nil
	}
	for _, host := range hosts(api, c) {
		out = append(out, address{host: host, path: listenPath(api)})
	}
	return out
}

// versioned adds the selector of a version to addresses.
func versioned(plain []address, routing *doc.Node, name string) []address {
	out, key := slices.Clone(plain), Value{routing.Get("key").Text(), name}
	for i := range out {
		switch routing.Get("location").Text() {
		case "header":
			out[i].header = key
		case "url-param":
			out[i].query = key
		default:
			out[i].version = name
		}
	}
	return out
}

// hosts returns the hosts that serve an API, with protocol; "" is the host of the reader.
func hosts(api *doc.Node, c Config) []string {
	if domain := api.Get("domain").Text(); domain != "" && !api.Get("domain_disabled").True() {
		return []string{c.withProtocol(domain)}
	}
	if tags := api.Get("tags").Texts(); len(tags) > 0 && !api.Get("tags_disabled").True() {
		var out []string
		for _, e := range c.Edges {
			shared := slices.ContainsFunc(e.Tags, func(tag string) bool { return slices.Contains(tags, tag) })
			if host := c.withProtocol(e.Endpoint); shared && e.Endpoint != "" && !slices.Contains(out, host) {
				out = append(out, host)
			}
		}
		return append(out, "")
	}
	if c.Hybrid || c.DefaultHost == "" {
		return []string{""}
	}
	return []string{c.withProtocol(c.DefaultHost), ""}
}

func (c Config) withProtocol(host string) string {
	host = strings.TrimRight(host, "/")
	if strings.Contains(host, "://") || c.Protocol == "" {
		return host
	}
	return strings.TrimSuffix(c.Protocol, "://") + "://" + host
}

// Own reports whether an absolute URL is on a known host of gateways; such a URL is not an
// upstream (docs/wire/import.md#building).
func (c Config) Own(address string) bool {
	if !strings.Contains(address, "://") {
		return false
	}
	host := hostOf(address)
	own := func(gateway string) bool { return gateway != "" && strings.EqualFold(hostOf(gateway), host) }
	return own(c.DefaultHost) || slices.ContainsFunc(c.Edges, func(e Edge) bool { return own(e.Endpoint) })
}

// hostOf returns name and port of a URL.
func hostOf(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	host, _, _ := strings.Cut(address, "/")
	return host
}

// listenPath returns the listen path, clean and without trailing slash; "/" stays. A slash
// within an expression is not a separator.
func listenPath(api *doc.Node) string {
	var kept []string
	for _, segment := range segments(api.Get("proxy", "listen_path").Text()) {
		switch segment {
		case "", ".":
		case "..":
			kept = kept[:max(0, len(kept)-1)]
		default:
			kept = append(kept, segment)
		}
	}
	return "/" + strings.Join(kept, "/")
}

// segments splits a path at the slashes outside matching braces. It reads each byte once,
// because clients choose the length of a path.
func segments(p string) []string {
	var slashes []int // possible split positions
	var open []int    // for each open brace, the number of slashes before it
	for i := range len(p) {
		switch p[i] {
		case '/':
			slashes = append(slashes, i)
		case '{':
			open = append(open, len(slashes))
		case '}':
			if last := len(open) - 1; last >= 0 {
				slashes, open = slashes[:open[last]], open[:last]
			}
		}
	}
	out, start := make([]string, 0, len(slashes)+1), 0
	for _, i := range slashes {
		out, start = append(out, p[start:i]), i+1
	}
	return append(out, p[start:])
}
