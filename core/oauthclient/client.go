// Package oauthclient models the OAuth clients of gateways: applications that get tokens from
// the authorisation server of a gateway (docs/wire/oauth-clients.md).
package oauthclient

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/weburl"
)

// Kind is the name of OAuth clients in faults and intents.
const Kind = "oauth_client"

// CodeInvalid is the code of the fault of a client that cannot be stored.
const CodeInvalid = Kind + ".invalid"

// Limits of a client, in bytes.
const (
	maxID        = 128
	maxSecret    = 256
	maxRedirects = 8 << 10
	maxRedirect  = 2 << 10
	maxText      = 4 << 10
	maxMeta      = 64 << 10
	maxDepth     = 16
)

// Draft is the input for a client.
type Draft struct {
	ID          string    `json:"client_id,omitempty" doc:"Generated when absent."`
	Secret      string    `json:"secret,omitempty" doc:"Generated when absent."`
	RedirectURI string    `json:"redirect_uri,omitempty" doc:"Redirect address. Several addresses are separated by the setting oauth_redirect_uri_separator."`
	Policy      string    `json:"policy_id,omitempty" doc:"Policy of the client's tokens. Without it, each authorisation needs key_rules."`
	Description string    `json:"description,omitempty" doc:"For people."`
	Name        string    `json:"client_name,omitempty" doc:"For people."`
	Meta        *doc.Node `json:"meta_data,omitempty" doc:"Object that is copied to the sessions of all tokens."`
}

func invalid(field, format string, args ...any) error {
	return fault.New(fault.Invalid, CodeInvalid, format, args...).At(field)
}

// Check returns a fault for a member that gateways could not use. separator separates redirect
// URLs; "": there is only one URL.
func (d Draft) Check(separator string) error {
	switch {
	case d.ID != "" && !ValidID(d.ID):
		return invalid("client_id", "client_id may have %d letters, digits and the characters - . _ ~ : @ + =", maxID)
	case len(d.Secret) > maxSecret || strings.ContainsFunc(d.Secret, func(r rune) bool { return r < ' ' || r > '~' }):
		return invalid("secret", "secret may have %d characters of ASCII that can be printed", maxSecret)
	case len(d.RedirectURI) > maxRedirects:
		return invalid("redirect_uri", "all redirect addresses together may have %d characters", maxRedirects)
	case len(d.Description) > maxText:
		return invalid("description", "description may have %d bytes", maxText)
	case len(d.Name) > maxText:
		return invalid("client_name", "client_name may have %d bytes", maxText)
	case label.Flaw(d.Name, "") != "":
		return invalid("client_name", "client_name %s", label.Flaw(d.Name, ""))
	case !d.Meta.Is(doc.TypeObject, doc.TypeNull, doc.Absent):
		return invalid("meta_data", "meta_data must be an object")
	case d.Meta.Size() > maxMeta || d.Meta.Deeper(maxDepth):
		return invalid("meta_data", "meta_data may have %d bytes and %d levels", maxMeta, maxDepth)
	case d.Meta.Get(nameMember) != nil:
		return invalid("meta_data", "the member %s of meta_data is used for client_name: choose another name", nameMember)
	}
	for _, address := range Redirects(d.RedirectURI, separator) {
		// No code or token may be sent to some URLs (RFC 6749, 3.1.2).
		u, err := weburl.Parse(address)
		switch {
		case len(address) > maxRedirect || err != nil || u.Scheme == "" || u.Host == "" && u.Opaque == "" && u.Path == "":
			return invalid("redirect_uri", "%.100q is no redirect address: write scheme and host, as in https://app.example/callback", address)
		case u.Fragment != "" || strings.Contains(address, "#"):
			return invalid("redirect_uri", "the redirect address %.100q has a fragment: leave out what begins with #", address)
		case u.Scheme == "javascript" || u.Scheme == "data" || u.Scheme == "vbscript":
			return invalid("redirect_uri", "a redirect address cannot have the scheme %s", u.Scheme)
		}
	}
	return nil
}

// Redirects returns the redirect URLs of a client.
func Redirects(text, separator string) []string {
	switch {
	case text == "":
		return nil
	case separator == "":
		return []string{text}
	}
	return strings.Split(text, separator)
}

// ValidID reports whether a text can be the ID of a client, which is part of paths.
func ValidID(id string) bool {
	if id == "" || len(id) > maxID || id == "." || id == ".." {
		return false
	}
	return strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:@+=") == ""
}

// nameMember is the metadata member with the name of a client: gateways have no field for it.
const nameMember = "gatehouse_client_name"

// Kept returns the metadata of a draft in its form for gateways, with the client's name.
func (d Draft) Kept() *doc.Node {
	meta := doc.NewObject()
	if d.Meta.Is(doc.TypeObject) {
		meta = d.Meta.Clone()
	}
	if d.Name != "" {
		meta.Set(nameMember, doc.NewString(d.Name))
	}
	return meta
}

// Told splits the metadata from gateways into the client's metadata and its name.
func Told(kept *doc.Node) (meta *doc.Node, name string) {
	meta = doc.NewObject()
	if kept.Is(doc.TypeObject) {
		meta = kept.Clone()
		name = meta.Get(nameMember).Text()
		meta.Delete(nameMember)
	}
	return meta, name
}
