package validation

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/pattern"
	"github.com/gatehouse-io/gatehouse/core/weburl"
)

// ListenPathText is the message about a listen path that clients could not call
// (docs/wire/apis.md#validation).
const ListenPathText = `Listen path must start with "/"`

// Served checks the rules of the control plane, beyond Loadable, for the classic form of an
// API of any kind (docs/wire/apis.md#validation, docs/wire/oas-apis.md#timeouts).
func Served(c *doc.Node) []Problem {
	var p problems
	const field = "proxy.listen_path"
	path := c.Get("proxy", "listen_path").Text()
	switch protocol := c.Get("protocol").Text(); {
	case !p.short(field, path):
	case protocol == "tcp" || protocol == "tls": // identified by their port
	case slices.Contains(references, path):
		p.add(field, "refers to no value: a name must follow %s", path)
	case IsReference(path): // gateways replace it with the path
	case !strings.HasPrefix(path, "/"):
		p.add(field, ListenPathText)
	default:
		p.template(field, path)
	}
	p.addresses(c, "allowed_ips")
	p.addresses(c, "blacklisted_ips")
	timeouts(c, func(field string, v *doc.Node) {
		if _, err := time.ParseDuration(v.Text()); err != nil && v.Text() != "" {
			p.add(field, `must be a duration such as "500ms", "1.5s" or "2m"`)
		}
	})
	// Upstreams must have URLs to which gateways can send requests.
	tcp := slices.Contains([]string{"tcp", "tls"}, c.Get("protocol").Text())
	check := func(field string, target *doc.Node) {
		if !isTarget(target.Text(), tcp) {
			p.add(field, `must be an address with a scheme and a host, such as "http://upstream.example:8080/"`)
		}
	}
	check("proxy.target_url", c.Get("proxy", "target_url"))
	if c.Get("proxy", "enable_load_balancing").True() {
		// Gateways add a scheme to a target without one. Each target gets requests, so none may be
		// empty.
		for i, target := range c.Get("proxy", "target_list").Items() {
			text := target.Text()
			if text == "" || !isTarget(text, tcp) && (strings.Contains(text, "://") || !isTarget("http://"+text, false)) {
				p.add(fmt.Sprintf("proxy.target_list.%d", i), `must have a host, such as "http://upstream.example:8080/" or "10.0.0.1:8080"`)
			}
		}
	}
	for name, version := range c.Get("version_data", "versions").Members() {
		check(at("version_data.versions", name, "override_target"), version.Get("override_target"))
	}
	if domain := c.Get("domain").Text(); p.short("domain", domain) {
		p.template("domain", domain)
	}
	p.short("definition.key", c.Get("definition", "key").Text()) // part of the address of each version
	return p
}

// MaxAddress is the maximum length in characters of a domain, a listen path, the key of
// versions or the path of an endpoint. They become part of every URL of an API, and their
// expressions are parsed with every write.
const MaxAddress = 4096

// short requires a text of at most MaxAddress characters, and reports whether it is.
func (p *problems) short(field, text string) bool {
	if utf8.RuneCountInString(text) <= MaxAddress {
		return true
	}
	p.add(field, "must not be longer than %d characters", MaxAddress)
	return false
}

// addresses requires IP addresses or CIDR ranges: gateways ignore other texts, so a block list
// would not block them.
func (p *problems) addresses(c *doc.Node, list string) {
	for i, text := range c.Get(list).Texts() {
		if _, err := netip.ParseAddr(text); err == nil {
			continue
		}
		if _, err := netip.ParsePrefix(text); err != nil {
			p.add(at(list, i), "is neither an IP address nor a CIDR range")
		}
	}
}

// references are the prefixes of texts that gateways replace with a value from their stores
// before they decode a definition.
var references = []string{"kv://", "env://", "secrets://", "consul://", "vault://", "file://"}

// IsReference reports whether gateways replace a text as a whole.
func IsReference(text string) bool {
	return slices.ContainsFunc(references, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// secretPart matches a reference inside a text.
var secretPart = regexp.MustCompile(`^\$secret_|\$kv\{[^}]*\}`)

// isSecret reports whether a text contains a reference to a value.
func isSecret(text string) bool {
	return IsReference(text) && !slices.Contains(references, text) || secretPart.MatchString(text)
}

// isTarget accepts absolute URLs, references, other APIs of the gateway by ID, and the empty
// text, because requests may be answered without an upstream. TCP services need no scheme.
func isTarget(text string, tcp bool) bool {
	if text == "" || isSecret(text) || strings.HasPrefix(text, "tyk://") {
		return true
	}
	if tcp && !strings.Contains(text, "://") {
		text = "tcp://" + text
	}
	u, err := weburl.Parse(text)
	if err != nil || strings.ContainsFunc(text, unicode.IsSpace) {
		return false
	}
	return u.Scheme != "" && u.Hostname() != ""
}

// template checks a domain or path with the placeholders {name} and {name:pattern}. A pattern
// with capture groups stops gateways, so it is refused.
func (p *problems) template(field, text string) {
	for text != "" {
		open := strings.IndexAny(text, "{}")
		if open < 0 {
			return
		}
		length := braced(text[open:])
		if length == 0 {
			p.add(field, "has braces that do not match")
			return
		}
		name, expression, has := strings.Cut(text[open+1:open+length-1], ":")
		if name == "" || has && expression == "" {
			p.add(field, "has a variable without a name or with an empty pattern")
			return
		}
		groups, err := pattern.Check("^(?:" + expression + ")$")
		if err != nil {
			p.add(field, "has a pattern that is no regular expression")
			return
		}
		if groups > 0 {
			p.add(field, "has a pattern with capture groups; only (?:…) is allowed: variable %s", name)
			return
		}
		text = text[open+length:]
	}
}

// braced returns the length of the part in braces at the beginning of a text; 0 when there is
// none.
func braced(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth <= 0 {
			if depth < 0 {
				return 0
			}
			return i + 1
		}
	}
	return 0
}
