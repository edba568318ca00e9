package sso_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/sso"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
	"github.com/gatehouse-io/gatehouse/core/signon"
)

// TestMeets: which existing users people may log in as.
func TestMeets(t *testing.T) {
	admin, developer := account.User{Role: account.ProviderAdmin, Active: true}, account.User{Role: account.Member, Active: true}
	inactive, linked := developer, developer
	inactive.Active, linked.SSOKey = false, "7@openid-connect"
	for name, c := range map[string]struct {
		p    sso.Person
		u    account.User
		want string
	}{
		"an admin":                         {sso.Person{Admin: true}, admin, ""},
		"a developer":                      {sso.Person{}, developer, ""},
		"a developer as an admin":          {sso.Person{Admin: true}, developer, sso.WrongRole},
		"an admin as a developer":          {sso.Person{}, admin, sso.WrongRole},
		"inactive":                         {sso.Person{}, inactive, sso.Inactive},
		"a first key":                      {sso.Person{Key: "8@openid-connect"}, developer, ""},
		"the same key":                     {sso.Person{Key: "7@openid-connect"}, linked, ""},
		"another key of the same provider": {sso.Person{Key: "8@openid-connect"}, linked, sso.OtherKey},
		"a key of another provider":        {sso.Person{Key: "7@openid-connect@github"}, linked, ""},
		"no key":                           {sso.Person{}, linked, ""},
	} {
		if got := c.p.Meets(c.u); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestClockPutBack: a nonce made while the clock was years ahead expires once the clock is put back.
func TestClockPutBack(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for ahead, over := range map[time.Duration]bool{0: false, sso.NonceLife: false, sso.NonceLife + 1: true, 50000 * time.Hour: true} {
		if (sso.Nonce{Expires: now.Add(ahead + sso.NonceLife)}).Over(now) != over {
			t.Error(ahead)
		}
	}
}

// TestNewcomer: the new accounts of people.
func TestNewcomer(t *testing.T) {
	u := sso.Person{Email: "ada@example.com", Key: "7@x", Provider: "corp"}.Newcomer(3)
	if u.Role != account.ConsumerAdmin || u.First != "ada" || u.SSOKey != "7@x" || len(u.Teams) != 1 || u.Teams[0] != 3 || !u.Active || u.Provider != "corp" {
		t.Errorf("%+v", u)
	}
	u = sso.Person{Admin: true, Email: "ada@example.com", Name: strings.Repeat("é", 300), Key: "7@x"}.Newcomer(3)
	if u.Role != account.ProviderAdmin || len([]rune(u.First)) != 255 || u.SSOKey != "" || u.Teams != nil {
		t.Errorf("%+v", u)
	}
	if u = (sso.Person{Email: "ada@example.com", Name: "Ada\x1b[31m\n"}).Newcomer(0); u.First != "Ada[31m" {
		t.Errorf("%q", u.First)
	}
}

// TestProfile: valid IDs and mappings of profiles, and the paths of logins.
func TestProfile(t *testing.T) {
	for body, want := range map[string]string{
		`{"ID":"a","ProviderName":"SocialProvider"}`:                                                       "/tib/auth/a/openid-connect",
		`{"ID":"a","ProviderName":"SocialProvider","ProviderConfig":{"UseProviders":[{"Name":"Google"}]}}`: "/tib/auth/a/google",
		`{"ID":"a","ProviderName":"SocialProvider","ProviderConfig":{"UseProviders":[{"Name":"a/../b"}]}}`: "/tib/auth/a/openid-connect",
		`{"ID":"a","ProviderName":"SocialProvider","ProviderConfig":{"UseProviders":"x"}}`:                 "/tib/auth/a/openid-connect",
		`{"ID":"a","ProviderName":"ADProvider"}`:                                                           "/tib/auth/a/ldap",
		`{"ID":"a"}`:                                                                                       "",
		`{"ID":"a b"}`:                                                                                     "ID is invalid",
		`{"ID":"."}`:                                                                                       "ID is invalid",
		`{"ID":"ä"}`:                                                                                       "ID is invalid",
		`{"ID":"` + strings.Repeat("a", 65) + `"}`:                                                         "ID is too long (the maximum is 64 characters)",
		`{"ID":"a","UserGroupMapping":{"a":{}}}`:                                                           "UserGroupMapping is invalid",
		`{"ID":"a","ReturnURL":"https://a@b.example/sso"}`:                                                 "ReturnURL is invalid",
		`{"ID":"a","ReturnURL":"//b.example/sso"}`:                                                         "ReturnURL is invalid",
	} {
		var p sso.Profile
		wrong := strings.Join(tabletest.Apply(t, &p, strings.Replace(body, "{", `{"ActionType":"`+sso.ForAdmins+`",`, 1), true), "; ")
		if got := p.LoginPath(); wrong != "" && wrong != want || wrong == "" && got != want {
			t.Errorf("%s: %q %q, want %q", body, got, wrong, want)
		}
	}
}

// TestTable: the fields of profiles.
func TestTable(t *testing.T) {
	tabletest.Sound[sso.Profile](t, `{"ID":"corp","ActionType":"GenerateOrLoginUserProfile"}`)
}

// TestFound: what a profile makes of the person whom a provider vouches for. Admins are known
// by their address, developers by a key that names the profile.
func TestFound(t *testing.T) {
	p := sso.Profile{Ref: "corp", ActionType: sso.ForDevelopers, Provider: sso.LDAP, OnlyRegistered: true}
	found := signon.Found{Subject: "7", Email: "a@b.example", Name: "Ada", Groups: []string{"3", "4"}}
	if got, want := p.Person(found), (sso.Person{Email: "a@b.example", Name: "Ada", Key: "7@ldap/corp", Team: "3", Registered: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	p.ActionType, p.OnlyRegistered = sso.ForAdmins, false
	if got, want := p.Person(found), (sso.Person{Admin: true, Email: "a@b.example", Name: "Ada"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestRules: the settings of a profile for claims, and for the connection.
func TestRules(t *testing.T) {
	p := sso.Profile{
		Provider: sso.Social, Type: "redirect", Config: `{"UseProviders":[{"Name":"openid-connect","Key":"k","Secret":"s","DiscoverURL":"https://a.example/.well-known/openid-configuration"}]}`,
		CustomUserIDField: "oid", CustomEmailField: "upn", ProviderConstraintsDomain: "d", ProviderConstraintsGroup: "g", CustomUserGroupField: "gs", GroupsSeparator: ";", DefaultUserGroupID: "9", GroupMapping: `{"a":"1"}`,
	}
	if want := (signon.Rules{User: "oid", Email: "upn", Domain: "d", Group: "g", Groups: "gs", Separator: ";", Mapping: map[string]string{"a": "1"}, Default: "9"}); !reflect.DeepEqual(p.Rules(), want) {
		t.Errorf("%+v", p.Rules())
	}
	if c, err := p.Connection(); err != nil || c.ID != "k" {
		t.Errorf("%+v, %v", c, err)
	}
	p.Config = ""
	if _, err := p.Connection(); err == nil {
		t.Error("a profile without providers connects")
	}
}
