// Package signon says who somebody is whom an identity provider vouches for: the portal and
// the dashboard have profiles of one form (docs/wire/portal-sso.md#logins).
package signon

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/weburl"
)

// CodeProfile is the code of faults of profiles that let no person log in.
const CodeProfile = "signon.profile"

// Providers of brokers.
const (
	Social   = "SocialProvider"
	LDAP     = "ADProvider"
	Proxy    = "ProxyProvider"
	SAML     = "SAMLProvider"
	openID   = "openid-connect" // the provider in addresses of logins by OpenID Connect
	passthru = "passthrough"
)

// use is what a profile says of its provider.
type use struct {
	Name, Key, Secret, DiscoverURL string
	Scopes                         []string
	SkipUserInfoRequest            bool
}

// first returns the first provider that the configuration of a profile names.
func first(config []byte) (u use, ok bool) {
	var c struct{ UseProviders []use }
	if json.Unmarshal(config, &c) != nil || len(c.UseProviders) == 0 {
		return u, false
	}
	return c.UseProviders[0], true
}

// segments name providers in addresses of logins, unless the configuration does.
var segments = map[string]string{Social: openID, LDAP: "ldap", Proxy: "proxy", SAML: "saml"}

// Segment is the provider in the addresses of logins.
func Segment(provider string, config []byte) string {
	if u, ok := first(config); ok && provider == Social && ValidID(u.Name) {
		return strings.ToLower(u.Name)
	}
	return segments[provider]
}

// ValidID reports whether an ID can be a segment of an address.
func ValidID(id string) bool {
	return strings.Trim(id, ".") != "" && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("._-", r)
	})
}

// WebAddress reports whether a text is an http or https address without a user.
func WebAddress(text string) bool {
	u, err := weburl.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

// Connection is how a profile reaches its identity provider.
type Connection struct {
	Discovery, ID, Secret string
	Scopes                []string
	NoUserInfo            bool
}

// Connect returns how the identity provider of a profile is reached, or a fault that says
// what the profile lacks.
func Connect(provider, kind string, config []byte) (Connection, error) {
	unusable := func(why string) (Connection, error) {
		return Connection{}, fault.New(fault.Invalid, CodeProfile, "%s", why)
	}
	if provider != Social {
		return unusable("This profile does not log in by OpenID Connect. Run an identity broker for it, or choose SocialProvider")
	}
	if kind == passthru {
		return unusable("This profile sends no browser to an identity provider. Choose the Type redirect")
	}
	u, ok := first(config)
	switch {
	case !ok:
		return unusable("ProviderConfig has no UseProviders")
	case u.Key == "":
		return unusable("UseProviders has no Key: name the client of this service at the identity provider")
	case !WebAddress(u.DiscoverURL):
		return unusable("UseProviders has no DiscoverURL: name the address of the discovery document")
	}
	if len(u.Scopes) == 0 {
		u.Scopes = []string{"profile", "email"}
	}
	return Connection{u.DiscoverURL, u.Key, u.Secret, u.Scopes, u.SkipUserInfoRequest}, nil
}

// Reasons why an identity provider's statement is not enough to log in. Only logs have them.
const (
	NoSubject   = "the identity provider does not tell who the person is"
	NoEmail     = "the identity provider tells no address"
	Unverified  = "the identity provider does not say that the address is verified"
	WrongDomain = "the address is not of the domain of the profile"
	WrongGroup  = "the person is not in the group of the profile"
)

// Claims of OpenID Connect Core 1.0, 5.1.
const (
	subject  = "sub"
	email    = "email"
	verified = "email_verified"
)

// maxSubject bounds what identifies a person at a provider, in bytes; maxGroups how many
// groups of a person are looked at.
const (
	maxSubject = 255
	maxGroups  = 1_000
)

// Rules say how a profile reads claims.
type Rules struct {
	User, Email       string // claims; "": sub, and email when it is verified
	Domain, Group     string // others are refused; "": all are taken
	Groups, Separator string // the claim with the groups, and what is between them in a text; "": spaces
	Mapping           map[string]string
	Default           string // for whom no group matches
}

// Found is somebody for whom an identity provider vouches.
type Found struct {
	Subject, Email, Name string
	Groups               []string // what the groups of the person are here, in their order; the default if there is none
}

// Wanted are the claims that the rules look at.
func (r Rules) Wanted() []string {
	out := []string{cmp.Or(r.User, subject), r.emailClaim()}
	if r.emailClaim() == email {
		out = append(out, verified)
	}
	if r.Groups != "" {
		out = append(out, r.Groups)
	}
	return out
}

func (r Rules) emailClaim() string {
	return cmp.Or(r.Email, email)
}

// Recognise returns the person whom claims describe, or why they are not enough to log in.
func (r Rules) Recognise(claims map[string]any) (f Found, why string) {
	f.Subject = text(claims[cmp.Or(r.User, subject)])
	if f.Subject == "" || len(f.Subject) > maxSubject {
		return f, NoSubject
	}
	address, err := identity.CleanEmail(text(claims[r.emailClaim()]))
	domain := address[strings.LastIndexByte(address, '@')+1:]
	switch {
	case err != nil:
		return f, NoEmail
	case r.emailClaim() == email && text(claims[verified]) != "true":
		return f, Unverified
	case r.Domain != "" && !strings.EqualFold(domain, strings.TrimPrefix(r.Domain, "@")):
		return f, WrongDomain
	}
	groups := r.groups(claims)
	if r.Group != "" && !slices.Contains(groups, r.Group) {
		return f, WrongGroup
	}
	f.Email, f.Name = address, text(claims["name"])
	if f.Name == "" {
		f.Name = strings.TrimSpace(text(claims["given_name"]) + " " + text(claims["family_name"]))
	}
	for _, g := range groups {
		if to := r.Mapping[g]; to != "" && !slices.Contains(f.Groups, to) {
			f.Groups = append(f.Groups, to)
		}
	}
	if len(f.Groups) == 0 && r.Default != "" {
		f.Groups = append(f.Groups, r.Default)
	}
	return f, ""
}

// groups returns the groups that claims name: a list, or a text.
func (r Rules) groups(claims map[string]any) (out []string) {
	switch v := claims[r.Groups].(type) {
	case string:
		if r.Separator == "" {
			out = strings.Fields(v)
			break
		}
		for _, g := range strings.Split(v, r.Separator) {
			out = append(out, strings.TrimSpace(g))
		}
	case []any:
		for _, g := range v {
			out = append(out, text(g))
		}
	}
	return out[:min(len(out), maxGroups)]
}

// text is a claim as a text: some providers identify people by numbers, and say by the text
// "true" that an address is verified. Numbers come as they are written: of two large ones
// floats could make one person.
func text(claim any) string {
	switch v := claim.(type) {
	case string:
		return strings.TrimSpace(v)
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	}
	return ""
}
