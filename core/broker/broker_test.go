package broker_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/broker"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/signon"
)

func draft(t testing.TB, text string) (d broker.Draft) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestProfiles: valid and invalid profiles.
func TestProfiles(t *testing.T) {
	p, err := broker.New("p", "o", draft(t, `{"ActionType":"GenerateOrLoginUserProfile","ProviderName":"SocialProvider","CustomUserIDField":"oid","CustomEmailField":"upn","ProviderConstraints":{"Domain":"d","Group":"g"},"CustomUserGroupField":"gs","UserGroupSeparator":";","DefaultUserGroupID":"9","UserGroupMapping":{"a":"1"},"ProviderConfig":{"UseProviders":[{"Name":"Corp","Key":"k","DiscoverURL":"https://a/.well-known/openid-configuration"}]}}`))
	if err != nil || p.LoginPath() != "/auth/p/corp" || !p.Answers("corp") || p.Answers("Corp") || p.Answers("") {
		t.Errorf("%+v %v", p, err)
	}
	if want := (signon.Rules{User: "oid", Email: "upn", Domain: "d", Group: "g", Groups: "gs", Separator: ";", Mapping: map[string]string{"a": "1"}, Default: "9"}); !reflect.DeepEqual(p.Rules(), want) {
		t.Errorf("%+v", p.Rules())
	}
	if c, err := p.Connection(); err != nil || c.ID != "k" {
		t.Error(c, err)
	}
	p.ActionType = broker.Actions[1]
	if _, err := p.Connection(); fault.CodeOf(err) != signon.CodeProfile {
		t.Error(err)
	}
	many := map[string]string{}
	for i := range 1001 {
		many[fmt.Sprint(i)] = "x"
	}
	mapping, _ := json.Marshal(many)
	long := strings.Repeat("x", 256)
	for field, text := range map[string]string{
		"ActionType": `"ActionType":"x"`, "Type": `"Type":"x"`, "ProviderName": `"ProviderName":"x"`, "ReturnURL": `"ReturnURL":"/tap"`, "Name": `"Name":"` + long + `"`, "MatchedPolicyID": `"MatchedPolicyID":"` + long + `"`,
		"ProviderConstraints.Domain": `"ProviderConstraints":{"Domain":"` + long + `"}`, "ProviderConfig": `"ProviderConfig":{"a":"` + strings.Repeat("x", 32_000) + `"}`, "IdentityHandlerConfig": `"IdentityHandlerConfig":{"a":"` + strings.Repeat("x", 32_000) + `"}`,
		"UserGroupMapping": `"UserGroupMapping":` + string(mapping), "UserGroupMapping ": `"UserGroupMapping":{"a":"` + long + `"}`,
	} {
		_, err := broker.New("p", "o", draft(t, `{"ActionType":"GenerateOrLoginUserProfile",`+text+`}`))
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Field != strings.TrimSpace(field) || f.Code != broker.CodeInvalid {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestMasked(t *testing.T) {
	var p broker.Profile
	const text = `{"ID":"1","OrgID":"o","Name":"n","ActionType":"GenerateOrLoginUserProfile","MatchedPolicyID":"","Type":"redirect","ProviderName":"SocialProvider","CustomEmailField":"","CustomUserIDField":"",` +
		`"ProviderConfig":{"CallbackBaseURL":"http://b","UseProviders":[{"Name":"openid-connect","Key":"k","Secret":"s","DiscoverURL":"http://d","Scopes":["a"]}],"LDAPPort":"389","LDAPAdminPassword":"s"},` +
		`"IdentityHandlerConfig":{"DashboardCredential":"s","n":1},"ProviderConstraints":{"Domain":"","Group":""},"ReturnURL":"http://r","DefaultUserGroupID":"","CustomUserGroupField":"","UserGroupMapping":{"a":"b"},"UserGroupSeparator":"","SSOOnlyForRegisteredUsers":false}`
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(p.Masked())
	want := strings.NewReplacer(`"Key":"k"`, `"Key":"***"`, `"Secret":"s"`, `"Secret":"***"`, `["a"]`, `["***"]`, `"LDAPAdminPassword":"s"`, `"LDAPAdminPassword":"***"`, `"DashboardCredential":"s"`, `"DashboardCredential":"***"`).Replace(text)
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\n%s", err, got, want)
	}
	if again, _ := json.Marshal(p); string(again) != text {
		t.Error("masking changes the profile")
	}
	if _, err := json.Marshal(broker.Profile{}.Masked()); err != nil {
		t.Error(err)
	}
}

// TestIdentifiers: which identifiers drafts may set, and that they stay.
func TestIdentifiers(t *testing.T) {
	const rest = `"ActionType":"GenerateOrLoginUserProfile"}`
	for id, ok := range map[string]bool{
		"1": true, "corp-login_2.Test": true, "5f1a0c5d8e3b2a1f00000003": true, "-": true, "a..": true, strings.Repeat("x", 128): true,
		strings.Repeat("x", 129): false, ".": false, "..": false, ".a": false, "a/b": false, "a b": false, "a%2fb": false, "ü": false, "a\n": false, "{id}": false,
	} {
		name, _ := json.Marshal(id)
		p, err := broker.New("drawn", "o", draft(t, `{"ID":`+string(name)+`,`+rest))
		if ok && (err != nil || p.ID != id || !strings.HasPrefix(p.LoginPath(), "/auth/"+id+"/")) {
			t.Errorf("%q: %+v %v", id, p, err)
		}
		if f, _ := errors.AsType[*fault.Error](err); !ok && (f == nil || f.Field != "ID" || f.Code != broker.CodeInvalid) {
			t.Errorf("%q: %v", id, err)
		}
	}
	p, err := broker.New("drawn", "o", draft(t, `{`+rest))
	if err != nil || p.ID != "drawn" {
		t.Error(p, err)
	}
	for id, ok := range map[string]bool{"": true, "drawn": true, "Drawn": false, "other": false} {
		if next, err := p.Replace(draft(t, `{"ID":"`+id+`",`+rest)); (err == nil) != ok || next.ID != "drawn" {
			t.Errorf("%q: %+v %v", id, next, err)
		}
		if d, err := draft(t, `{"ID":"`+id+`",`+rest).At("drawn"); (err == nil) != ok || ok && d.ID != "drawn" {
			t.Errorf("%q: %+v %v", id, d, err)
		}
	}
}

// TestDraft: a profile has every member of its draft, and Size fits.
func TestDraft(t *testing.T) {
	const text = `{"ID":"1","OrgID":"o","Name":"n","ActionType":"GenerateOrLoginUserProfile","MatchedPolicyID":"m","Type":"redirect","ProviderName":"SocialProvider","CustomEmailField":"e","CustomUserIDField":"u",` +
		`"ProviderConfig":{"a":"b"},"IdentityHandlerConfig":{"c":"d"},"ProviderConstraints":{"Domain":"d","Group":"g"},"ReturnURL":"http://r","DefaultUserGroupID":"f","CustomUserGroupField":"h","UserGroupMapping":{"i":"j"},"UserGroupSeparator":",","SSOOnlyForRegisteredUsers":true}`
	p, err := broker.New("drawn", "o", draft(t, text))
	got, failed := json.Marshal(p)
	if err != nil || failed != nil || string(got) != text {
		t.Errorf("%v %v\n%s\n%s", err, failed, got, text)
	}
	long := draft(t, `{"ActionType":"GenerateOrLoginUserProfile","ProviderConfig":{"a":"`+strings.Repeat("x", 20_000)+`"},"UserGroupMapping":{"i":"`+strings.Repeat("y", 200)+`"}}`)
	if p, err = broker.New("drawn", "o", long); err != nil || p.Size() < 20_200 || p.Size() > 22_000 {
		t.Error(p.Size(), err)
	}
}

// TestTaken: the refusal of an identifier in use has the status, text and field of the contract.
func TestTaken(t *testing.T) {
	f, ok := errors.AsType[*fault.Error](broker.Taken("corp"))
	if !ok || f.Kind != fault.Conflict || f.Field != "ID" || f.Message != "profile ID already exists: 'corp'" {
		t.Errorf("%+v", f)
	}
	turned := draft(t, `{"ActionType":"GenerateOrLoginUserProfile","Name":"pay\u202elive"}`)
	if _, err := broker.New("1", "o", turned); fault.CodeOf(err) != broker.CodeInvalid {
		t.Error("a name that shows another one:", err)
	}
}
