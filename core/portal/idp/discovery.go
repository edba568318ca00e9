package idp

import (
	"unicode"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// CodeAnswer is the code of the fault for an unusable response of an identity provider.
const CodeAnswer = Kind + ".answer"

// MaxAnswer is the maximum size of a response of an identity provider in bytes.
const MaxAnswer = 256 << 10

// deepAnswer is the maximum nesting of a response.
const deepAnswer = 32

// Discovery is the data that the portal uses from a discovery document (OpenID Connect
// Discovery 1.0, 3; RFC 8414).
type Discovery struct {
	Issuer       string
	JWKSURI      string
	Registration string // URL for registering clients; "": none
	Token        string // URL where clients get tokens; "": none
}

// ReadDiscovery decodes a discovery document. It must have the data that gateways need.
func ReadDiscovery(text []byte) (d Discovery, err error) {
	n, err := parsed("its discovery document", text)
	if err != nil {
		return d, err
	}
	d.Issuer, d.JWKSURI = n.Get("issuer").Text(), n.Get("jwks_uri").Text()
	switch {
	case d.Issuer == "" || len(d.Issuer) > maxURL || !clean(d.Issuer):
		return d, unusable("its discovery document has no issuer")
	case !Address(d.JWKSURI):
		return d, unusable("its discovery document has no jwks_uri")
	}
	for name, into := range map[string]*string{"registration_endpoint": &d.Registration, "token_endpoint": &d.Token} {
		if at := n.Get(name).Text(); at != "" && !Address(at) {
			return d, unusable("the " + name + " of its discovery document is no address")
		} else if at != "" {
			*into = at
		}
	}
	return d, nil
}

// Registers returns a fault unless clients can be registered.
func (d Discovery) Registers() error {
	if d.Registration == "" {
		return unusable("its discovery document has no registration_endpoint: allow the registration of clients there")
	}
	return nil
}

// parsed parses a response that must be an object.
func parsed(what string, text []byte) (*doc.Node, error) {
	if len(text) > MaxAnswer {
		return nil, unusable(what + " is too large")
	}
	if doc.Check(text, deepAnswer) != nil {
		return nil, unusable(what + " is not JSON")
	}
	n, err := doc.ParseNode(text)
	if err != nil || !n.Is(doc.TypeObject) {
		return nil, unusable(what + " is no JSON object")
	}
	return n, nil
}

func unusable(why string) error {
	return fault.New(fault.Invalid, CodeAnswer, "%s", why)
}

// clean reports whether a text has no control characters.
func clean(text string) bool {
	for _, r := range text {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return false
		}
	}
	return true
}
