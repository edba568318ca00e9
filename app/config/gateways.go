package config

import (
	"net/url"
	"strings"
	"time"
)

// Definitions has the settings for API definitions and policies.
type Definitions struct {
	Ownership           bool // only owners and admins see an API that has owners
	UnsafePolicyIDs     bool // identifiers of policies may contain any characters
	DuplicateSlugs      bool // APIs may share domain and listen path
	SeparateGateways    bool // no gateway loads APIs of two organisations
	ForceDefaults       bool // the listen path is always stripped
	UnsafeOAS           bool // OAS APIs may be written through the operations of classic APIs
	ValidateExamples    bool // check examples in OpenAPI documents
	ValidateDefaults    bool // check default values in OpenAPI documents
	EscapeDots          bool // in paths of OpenAPI documents
	Streams             bool // streams APIs can be managed
	ExperimentalStreams bool // with all inputs, outputs and processors
}

// Gateway says how the control plane calls gateways.
type Gateway struct {
	Host    string        // with or without a scheme; several are separated by commas
	Port    string        // of hosts without a port; "" = that of the scheme
	Secret  Secret        // of the control API of gateways
	Timeout time.Duration // of one operation at gateways, for all its calls together
}

// URL returns the address of the first gateway without a path, or "" when none is set.
func (g Gateway) URL() string {
	if urls := g.URLs(); len(urls) > 0 {
		return urls[0]
	}
	return ""
}

// URLs returns the addresses of the gateways without a path.
func (g Gateway) URLs() (out []string) {
	for host := range strings.SplitSeq(g.Host, ",") {
		host = strings.TrimRight(strings.TrimSpace(host), "/")
		if host == "" {
			continue
		}
		if !strings.Contains(host, "://") {
			host = "http://" + host
		}
		if u, err := url.Parse(host); g.Port != "" && (err != nil || u.Port() == "") {
			host += ":" + g.Port
		}
		out = append(out, host)
	}
	return out
}

// CertificateExpiry configures the notifications about certificates that expire.
type CertificateExpiry struct {
	Minutes int // maximum age of cached certificates
	Days    int // how many days before a certificate expires there is a notification
}

// Edge is a gateway at another location.
type Edge struct {
	Name     string   `json:"name" yaml:"name"`
	Endpoint string   `json:"endpoint" yaml:"endpoint"` // URL for clients
	Tags     []string `json:"tags" yaml:"tags"`         // of the APIs it loads
}

// Hosts has the host names of the installation for users and clients.
type Hosts struct {
	Dashboard string // host of the control plane
	Gateway   string // host[:port] of gateways; "" = that of the gateway's address
	Secure    bool   // generated URLs begin with https://
}

// PublicGateway returns the scheme and host[:port] of gateways for clients, for
// generated URLs; host is "" if it is not set.
func (s Settings) PublicGateway() (scheme, host string) {
	scheme, host, _ = strings.Cut(s.Gateway.URL(), "://")
	if s.Hosts.Gateway != "" {
		host = strings.TrimRight(s.Hosts.Gateway, "/")
		if given, rest, ok := strings.Cut(host, "://"); ok {
			scheme, host = given, rest
		}
	}
	switch {
	case s.Hosts.Secure:
		scheme = "https"
	case scheme == "":
		scheme = "http"
	}
	return scheme, host
}

// Keys has the settings for keys at gateways (docs/wire/keys.md#settings).
type Keys struct {
	Hashed       bool // gateways know keys by their hashes
	ListHashes   bool
	UpdateByHash bool
	DeleteByHash bool
	NotByUser    bool // username=true does not reach basic-auth users
	Master       bool // keys that may use every API can be created
}
