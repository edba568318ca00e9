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

// NonceLife is for how long a nonce can be used.
const NonceLife = time.Minute

// Person is somebody whom a broker has recognised.
type Person struct {
	Admin      bool   `json:"Admin,omitempty"` // logs in as an admin; else as a developer
	Email      string `json:"Email"`
	Name       string `json:"Name,omitempty"`
	Key        string `json:"Key,omitempty"`        // identifies a developer at the provider; "": the address does
	Team       string `json:"Team,omitempty"`       // number or CID, of a developer who has none
	Provider   string `json:"Provider,omitempty"`   // of a new account
	Registered bool   `json:"Registered,omitempty"` // may enter only as a user that exists
	Refused    bool   `json:"Refused,omitempty"`    // the broker does not let the person in
}

// Nonce lets a browser begin the session of a person, once. The text that the browser
// has is not in it.
type Nonce struct {
	ID      string    `json:"id"`
	Portal  tenant.ID `json:"org_id"`
	Digest  string    `json:"Digest"`
	Person  Person    `json:"Person"`
	UserID  table.ID  `json:"UserID,omitzero"` // the developer whom a broker has chosen; 0: the person says
	Expires time.Time `json:"Expires"`
}

// Over reports whether the nonce can be used no more.
func (n Nonce) Over(now time.Time) bool {
	return expiry.Over(n.Expires, now, NonceLife)
}

// Why people are refused. Only logs have it.
const (
	ByBroker  = "the identity provider refuses the person"
	Unknown   = "there is no account, and none is made"
	Inactive  = "the account is not active"
	WrongRole = "the account is one of the other sort: admins and developers log in by profiles of their own"
	OtherKey  = "the account belongs to another person at the same provider"
	NoTeam    = "the team of the profile does not exist"
)

// Meets returns why a person may not enter as a user that is there, or "".
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

// at is the provider in the key of a person: identifiers at providers may have an @.
func at(key string) string { return key[strings.LastIndexByte(key, '@')+1:] }

// Newcomer returns the account that a person gets who has none.
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
