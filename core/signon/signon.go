// Package signon identifies people by the statements of identity providers. The portal and the
// dashboard have profiles of the same form (docs/wire/portal-sso.md#logins).
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

// CodeProfile is the code of faults of profiles that cannot be used for logins.
const CodeProfile = "signon.profile"

// The types of identity providers in profiles.
const (
	Social   = "SocialProvider"
	LDAP     = "ADProvider"
	Proxy    = "ProxyProvider"
	SAML     = "SAMLProvider"
	openID   = "openid-connect" // the provider in the addresses of OpenID Connect logins
	passthru = "passthrough"
)

// use has the settings of the provider in a profile.
type use struct {
	Name, Key, Secret, DiscoverURL string
	Scopes                         []string
	SkipUserInfoRequest            bool
}

// first returns the first provider in the configuration of a profile.
func first(config []byte) (u use, ok bool) {
	var c struct{ UseProviders []use }
	if json.Unmarshal(config, &c) != nil || len(c.UseProviders) == 0 {
		return u, false
	}
	return c.UseProviders[0], true
}

// segments name the provider in the addresses of logins, unless the configuration has another
// name.
var segments = map[string]string{Social: openID, LDAP: "ldap", Proxy: "proxy", SAML: "saml"}

// Segment returns the name of the provider in the addresses of logins.
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

// WebAddress reports whether a text is an http or https address without user and password.
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

// Connect returns how to reach the identity provider of a profile, or a fault that names what
// the profile lacks.
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

// Reasons why the statement of an identity provider is not enough to log in. They appear only
// in logs.
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

// maxSubject is the maximum length of the identifier of a person at a provider, in bytes.
// maxGroups is the maximum number of groups of a person that are read.
const (
	maxSubject = 255
	maxGroups  = 1_000
)

// Rules say how a profile interprets claims.
type Rules struct {
	User, Email       string // names of claims; "": sub, and email if it is verified
	Domain, Group     string // required domain and group; "": any
	Groups, Separator string // the claim with the groups, and their separator if the claim is a text; "": spaces
	Mapping           map[string]string
	Default           string // the group of people without a matching group
}

// Found is a person as the identity provider identifies it.
type Found struct {
	Subject, Email, Name string
	Groups               []string // the groups here that match those of the person, in their order; the default if none matches
}

// Wanted returns the claims that the rules read.
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

// Recognise returns the person that claims describe, or the reason why they are not enough to
// log in.
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

// groups returns the groups in the claims: a list, or a text.
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

// text returns a claim as a text. Some providers identify people by numbers, or send the text
// "true" for a verified address. Numbers are taken as they are written: as floats, two large
// numbers could become equal, and two people the same person.
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
