package sso

import (
	"strings"
	"time"
	"unicode"

	"github.com/gatehouse-io/gatehouse/core/expiry"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// NonceKind is the name of nonces in storage.
const NonceKind = "portal-sso-nonce"

// NonceLife is the lifetime of a nonce.
const NonceLife = time.Minute

// Person is a person whom a broker has authenticated.
type Person struct {
	Admin      bool   `json:"Admin,omitempty"` // logs in as an admin; otherwise as a developer
	Email      string `json:"Email"`
	Name       string `json:"Name,omitempty"`
	Key        string `json:"Key,omitempty"`        // identifies a developer at the provider; "": identified by the e-mail address
	Team       string `json:"Team,omitempty"`       // ID or CID, for a developer without a team
	Provider   string `json:"Provider,omitempty"`   // of a new account
	Registered bool   `json:"Registered,omitempty"` // may log in only as an existing user
	Refused    bool   `json:"Refused,omitempty"`    // the broker refuses the person
}

// Nonce lets a browser start the session of a person, once. It contains only a digest of the
// browser's text.
type Nonce struct {
	ID      string    `json:"id"`
	Portal  tenant.ID `json:"org_id"`
	Digest  string    `json:"Digest"`
	Person  Person    `json:"Person"`
	UserID  table.ID  `json:"UserID,omitzero"` // the developer chosen by a broker; 0: chosen by the person's data
	Expires time.Time `json:"Expires"`
}

// Over reports whether the nonce has expired.
func (n Nonce) Over(now time.Time) bool {
	return expiry.Over(n.Expires, now, NonceLife)
}

// Reasons for refusing people. They are only for logs.
const (
	ByBroker  = "the identity provider refuses the person"
	Unknown   = "there is no account, and none is made"
	Inactive  = "the account is not active"
	WrongRole = "the account is one of the other sort: admins and developers log in by profiles of their own"
	OtherKey  = "the account belongs to another person at the same provider"
	NoTeam    = "the team of the profile does not exist"
)

// Meets returns why a person may not log in as an existing user, or "".
func (p Person) Meets(u account.User) string {
	switch {
	case u.Admin() != p.Admin:
		return WrongRole
	case !u.Can(account.LogIn):
		return Inactive
	case p.Key != "" && u.SSOKey != "" && u.SSOKey != p.Key && at(u.SSOKey) == at(p.Key):
		return OtherKey
	}
	return ""
}

// at returns the provider in the key of a person: identifiers at providers may contain an @.
func at(key string) string { return key[strings.LastIndexByte(key, '@')+1:] }

// Newcomer returns the new account of a person without one.
func (p Person) Newcomer(team table.ID) account.User {
	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, p.Name)
	u := account.User{Email: p.Email, First: name, Role: account.ConsumerAdmin, Provider: p.Provider, Active: true, SSOKey: p.Key}
	if strings.TrimSpace(u.First) == "" {
		u.First, _, _ = strings.Cut(p.Email, "@")
	}
	if first := []rune(u.First); len(first) > maxName {
		u.First = string(first[:maxName])
	}
	if p.Admin {
		u.Role, u.SSOKey = account.ProviderAdmin, ""
	} else if team != 0 {
		u.Teams = []table.ID{team}
	}
	return u
}
