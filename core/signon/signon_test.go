package signon_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/signon"
)

func claims(t testing.TB, text string) (out map[string]any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRecognise states which person the claims describe.
func TestRecognise(t *testing.T) {
	mapped := signon.Rules{Groups: "groups", Mapping: map[string]string{"a": "1", "b": "2", "c": "1", "empty": "", "two words": "3"}, Default: "9"}
	split := mapped
	split.Separator = ";"
	for _, c := range []struct {
		name, claims string
		rules        signon.Rules
		want         signon.Found
		why          string
	}{
		{"all of it", `{"sub":"1","email":"Ada@Example.com","email_verified":true,"name":" Ada "}`, signon.Rules{}, signon.Found{Subject: "1", Email: "ada@example.com", Name: "Ada"}, ""},
		{"verified as a text", `{"sub":"1","email":"a@b.c","email_verified":"true","given_name":"Ada","family_name":"L"}`, signon.Rules{}, signon.Found{Subject: "1", Email: "a@b.c", Name: "Ada L"}, ""},
		{"a large number", `{"sub":9007199254740993,"email":"a@b.c","email_verified":true}`, signon.Rules{}, signon.Found{Subject: "9007199254740993", Email: "a@b.c"}, ""},
		{"another claim for the person", `{"sub":"1","oid":"x","email":"a@b.c","email_verified":true}`, signon.Rules{User: "oid"}, signon.Found{Subject: "x", Email: "a@b.c"}, ""},
		{"another claim for the address", `{"sub":"1","upn":"a@b.c"}`, signon.Rules{Email: "upn"}, signon.Found{Subject: "1", Email: "a@b.c"}, ""},
		{"the usual claim, by name", `{"sub":"1","email":"a@b.c"}`, signon.Rules{Email: "email"}, signon.Found{}, signon.Unverified},
		{"nobody", `{"email":"a@b.c","email_verified":true}`, signon.Rules{}, signon.Found{}, signon.NoSubject},
		{"a list for a person", `{"sub":["1"],"email":"a@b.c","email_verified":true}`, signon.Rules{}, signon.Found{}, signon.NoSubject},
		{"too long a person", `{"sub":"` + strings.Repeat("x", 256) + `","email":"a@b.c","email_verified":true}`, signon.Rules{}, signon.Found{}, signon.NoSubject},
		{"no address", `{"sub":"1","email_verified":true}`, signon.Rules{}, signon.Found{}, signon.NoEmail},
		{"two addresses", `{"sub":"1","email":"a@b.c, d@e.f","email_verified":true}`, signon.Rules{}, signon.Found{}, signon.NoEmail},
		{"not verified", `{"sub":"1","email":"a@b.c","email_verified":false}`, signon.Rules{}, signon.Found{}, signon.Unverified},
		{"verified by a number", `{"sub":"1","email":"a@b.c","email_verified":1}`, signon.Rules{}, signon.Found{}, signon.Unverified},
		{"its domain", `{"sub":"1","email":"a@B.c","email_verified":true}`, signon.Rules{Domain: "@b.C"}, signon.Found{Subject: "1", Email: "a@b.c"}, ""},
		{"below the domain", `{"sub":"1","email":"a@x.b.c","email_verified":true}`, signon.Rules{Domain: "b.c"}, signon.Found{}, signon.WrongDomain},
		{"the domain in the name", `{"sub":"1","email":"\"a@b.c\"@evil.example","email_verified":true}`, signon.Rules{Domain: "b.c"}, signon.Found{}, signon.NoEmail},
		{"groups in their order", `{"sub":"1","email":"a@b.c","email_verified":true,"groups":["x","b","c","a"]}`, mapped, signon.Found{Subject: "1", Email: "a@b.c", Groups: []string{"2", "1"}}, ""},
		{"groups in a text", `{"sub":"1","email":"a@b.c","email_verified":true,"groups":" x  a "}`, mapped, signon.Found{Subject: "1", Email: "a@b.c", Groups: []string{"1"}}, ""},
		{"with separators", `{"sub":"1","email":"a@b.c","email_verified":true,"groups":"x; two words;a"}`, split, signon.Found{Subject: "1", Email: "a@b.c", Groups: []string{"3", "1"}}, ""},
		{"no group that counts", `{"sub":"1","email":"a@b.c","email_verified":true,"groups":["A","empty",1,null]}`, mapped, signon.Found{Subject: "1", Email: "a@b.c", Groups: []string{"9"}}, ""},
		{"in the group", `{"sub":"1","email":"a@b.c","email_verified":true,"g":["x","y"]}`, signon.Rules{Groups: "g", Group: "y"}, signon.Found{Subject: "1", Email: "a@b.c"}, ""},
		{"outside of the group", `{"sub":"1","email":"a@b.c","email_verified":true,"g":"y z"}`, signon.Rules{Groups: "g", Group: "y z"}, signon.Found{}, signon.WrongGroup},
		{"a group without a claim for it", `{"sub":"1","email":"a@b.c","email_verified":true,"":"y"}`, signon.Rules{Group: "z"}, signon.Found{}, signon.WrongGroup},
	} {
		got, why := c.rules.Recognise(claims(t, c.claims))
		if why != c.why || why == "" && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v %q", c.name, got, why)
		}
	}
}

// TestWanted states which claims are requested.
func TestWanted(t *testing.T) {
	for _, c := range []struct {
		rules signon.Rules
		want  string
	}{
		{signon.Rules{}, "sub email email_verified"}, {signon.Rules{User: "oid", Email: "upn", Groups: "g"}, "oid upn g"},
	} {
		if got := strings.Join(c.rules.Wanted(), " "); got != c.want {
			t.Errorf("%+v: %s", c.rules, got)
		}
	}
}

// TestConnect states how providers are reached, and which profiles are refused.
func TestConnect(t *testing.T) {
	c, err := signon.Connect(signon.Social, "", []byte(`{"UseProviders":[{"Key":"k","Secret":"s","DiscoverURL":"https://a/.well-known/openid-configuration","SkipUserInfoRequest":true},{}]}`))
	if want := (signon.Connection{Discovery: "https://a/.well-known/openid-configuration", ID: "k", Secret: "s", Scopes: []string{"profile", "email"}, NoUserInfo: true}); err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v %v", c, err)
	}
	for _, c := range [][3]string{
		{signon.SAML, "", `{}`}, {signon.LDAP, "", `{}`}, {"", "", `{}`}, {signon.Social, "passthrough", `{"UseProviders":[{"Key":"k","DiscoverURL":"https://a"}]}`}, {signon.Social, "", ``}, {signon.Social, "", `{"UseProviders":{}}`},
		{signon.Social, "", `{"UseProviders":[]}`}, {signon.Social, "", `{"UseProviders":[{"DiscoverURL":"https://a"}]}`}, {signon.Social, "", `{"UseProviders":[{"Key":"k"}]}`}, {signon.Social, "", `{"UseProviders":[{"Key":"k","DiscoverURL":"file:///x"}]}`},
		{signon.Social, "", `{"UseProviders":[{"Key":"k","DiscoverURL":"https://u:p@a"}]}`},
	} {
		if _, err := signon.Connect(c[0], c[1], []byte(c[2])); fault.CodeOf(err) != signon.CodeProfile {
			t.Errorf("%v: %v", c, err)
		}
	}
	for config, want := range map[string]string{`{"UseProviders":[{"Name":"Corp"}]}`: "corp", `{"UseProviders":[{"Name":"a/b"}]}`: "openid-connect", `{"UseProviders":[{"Name":".."}]}`: "openid-connect", ``: "openid-connect"} {
		if got := signon.Segment(signon.Social, []byte(config)); got != want {
			t.Errorf("%s: %s", config, got)
		}
	}
	if got := signon.Segment(signon.LDAP, []byte(`{"UseProviders":[{"Name":"Corp"}]}`)); got != "ldap" {
		t.Error(got)
	}
}

// FuzzRecognise: for any claims, a recognised person has an address in the domain, an
// identifier of bounded length, and only groups that the profile names.
func FuzzRecognise(f *testing.F) {
	f.Add(`{"sub":"1","email":"a@b.c","email_verified":true,"groups":["a"]}`)
	f.Add(`{"sub":1,"email":"\"a@b.c\"@d.e","email_verified":"true","groups":"a b"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var c map[string]any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if d.Decode(&c) != nil {
			return
		}
		r := signon.Rules{Domain: "b.c", Groups: "groups", Mapping: map[string]string{"a": "1"}, Default: "2"}
		got, why := r.Recognise(c)
		if why == "" && (!strings.HasSuffix(got.Email, "@b.c") || got.Subject == "" || len(got.Subject) > 255 || len(got.Groups) != 1 || got.Groups[0] != "1" && got.Groups[0] != "2") {
			t.Errorf("%s: %+v", text, got)
		}
	})
}
