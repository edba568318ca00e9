package config

import (
	"net/url"
	"strings"
	"time"
)

// Definitions says how API definitions and policies are treated.
type Definitions struct {
	Ownership           bool // only owners and admins see an API that has owners
	UnsafePolicyIDs     bool // identifiers of policies may hold any characters
	DuplicateSlugs      bool // APIs may share domain and listen path
	SeparateGateways    bool // no gateway loads APIs of two organisations
	ForceDefaults       bool // the listen path is always stripped
	UnsafeOAS           bool // OAS APIs may be written as classic ones
	ValidateExamples    bool // of OpenAPI documents
	ValidateDefaults    bool // of OpenAPI documents
	EscapeDots          bool // in paths of OpenAPI documents
	Streams             bool // streams APIs can be managed
	ExperimentalStreams bool // with everything there is
}

// Gateway is where the control plane reaches gateways.
type Gateway struct {
	Host    string        // with or without a scheme; several with commas between
	Port    string        // of those that name none; "" = that of the scheme
	Secret  Secret        // of the gateways' own API
	Timeout time.Duration // of an operation at gateways, over all calls it makes
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

// CertificateExpiry says how certificates are watched.
type CertificateExpiry struct {
	Minutes int // how old what is known of them may become
	Days    int // how many days before its end a certificate is told of
}

// Edge is a gateway elsewhere.
type Edge struct {
	Name     string   `json:"name" yaml:"name"`
	Endpoint string   `json:"endpoint" yaml:"endpoint"` // address at which clients reach it
	Tags     []string `json:"tags" yaml:"tags"`         // of the APIs it loads
}

// Hosts says under which names people and clients reach the installation.
type Hosts struct {
	Dashboard string // host of the control plane
	Gateway   string // host[:port] of gateways; "" = that of the gateway's address
	Secure    bool   // generated addresses begin with https://
}

// PublicGateway returns scheme and host[:port] under which clients reach
// gateways, for generated addresses; host "" means that it is not set.
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

// Keys says how keys of gateways are treated (docs/wire/keys.md#settings).
type Keys struct {
	Hashed       bool // gateways know keys by their hashes
	ListHashes   bool
	UpdateByHash bool
	DeleteByHash bool
	NotByUser    bool // username=true does not reach basic-auth users
	Master       bool // keys for every API can be made
}
