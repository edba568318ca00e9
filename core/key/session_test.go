package key_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/password"
	"github.com/gatehouse-io/gatehouse/core/policy"
)

func draft(t testing.TB, text string) (d key.Draft) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// checks returns Checks with the policies gold, a draft and a denied one, and an API of each
// sort.
func checks(t testing.TB) key.Checks {
	t.Helper()
	c := key.Checks{APIs: policy.APIs{"orders": {}, "tools": {MCP: true}}, Policies: map[string]policy.Policy{}}
	for id, members := range map[string]string{"gold": ``, "draft": `,"state":"draft"`, "off": `,"is_inactive":true`, "denied": `,"state":"deny"`, "limits": `,"partitions":{"quota":true}`} {
		p, err := policy.Load([]byte(`{"_id":"1","id":"` + id + `","access_rights":{"orders":{}}` + members + `}`))
		if err != nil {
			t.Fatal(err)
		}
		c.Policies[id] = p
	}
	return c
}

const rights = `"access_rights":{"orders":{}}`

// digits is the fingerprint of a certificate.
var digits = strings.Repeat("0a", 32)

// TestNew: the wrong field of a draft, or the session of a valid one.
func TestNew(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: key.CodeRights, `{"apply_policies":[]}`: key.CodeRights, `{"access_rights":{}}`: key.CodeRights, `{"access_rights":null}`: key.CodeRights,
		`{"apply_policies":["gold"]}`: "", `{"apply_policy_id":"gold"}`: "", `{` + rights + `}`: "", `{"access_rights":{"elsewhere":null}}`: "",
		`{"certificate":"acme0a1b",` + rights + `}`: "", `{"certificate":"x\",\"org\":\"other",` + rights + `}`: key.CodeCertificate, `{"certificate":"../x",` + rights + `}`: key.CodeCertificate,
		`{"mtls_static_certificate_bindings":["acme` + digits + `"],` + rights + `}`: "", `{"mtls_static_certificate_bindings":["acme` + digits + `","other` + digits + `"],` + rights + `}`: key.CodeCertificate,
		`{"mtls_static_certificate_bindings":["` + digits + `"],` + rights + `}`: "", // gateways look for a certificate with this fingerprint
		`{"apply_policies":["none"]}`:                                            key.CodePolicy, `{"apply_policy_id":"none"}`: key.CodePolicy, `{"apply_policies":["gold","denied"]}`: key.CodePolicy,
		`{"apply_policies":[null]}`: key.CodePolicy, `{"apply_policies":["gold",null]}`: key.CodePolicy, `{"apply_policies":[null],"apply_policy_id":"gold",` + rights + `}`: key.CodePolicy, // gateways decode null as the empty text
		`{"mtls_static_certificate_bindings":[null],` + rights + `}`: key.CodeCertificate, `{"mtls_static_certificate_bindings":[""],` + rights + `}`: key.CodeCertificate,
		`{"apply_policies":["draft"]}`: key.CodePolicy, `{"apply_policies":["off"]}`: key.CodePolicy,
		`{"apply_policy_id":"none","apply_policies":["gold"]}`: "", // the list counts
		`{"apply_policies":"gold"}`:                            key.CodeType, `{"apply_policies":[1]}`: key.CodeType, `{"rate":"1",` + rights + `}`: key.CodeType,
		`{"expires":1.5,` + rights + `}`: key.CodeType, `{"Alias":"x",` + rights + `}`: key.CodeType, `{"date_created":"yesterday",` + rights + `}`: "",
		`{"meta_data":[],` + rights + `}`: key.CodeType, `{"monitor":{"trigger_limits":["80"]},` + rights + `}`: key.CodeType, `{"org_id":7,` + rights + `}`: "",
		`{"access_rights":{"orders":{"api_id":7}}}`: key.CodeType, `{"access_rights":{"orders":{"api_id":{}}}}`: key.CodeType, `{"access_rights":{"orders":{"api_id":null}}}`: "",
		`{"access_rights":{"orders":7}}`: key.CodeType, `{"access_rights":{"orders":{"limit":{"rate":"1"}}}}`: key.CodeType, `{"smoothing":{"trigger":"x"},` + rights + `}`: key.CodeType,
		`{"basic_auth_data":{"password":7},` + rights + `}`: key.CodeType, `{"jwt_data":{"secret":7},` + rights + `}`: key.CodeType, `{"oauth_keys":{"a":1},` + rights + `}`: key.CodeType,
		`{"post_expiry_action":"delete",` + rights + `}`: "", `{"post_expiry_action":"keep",` + rights + `}`: key.CodeExpiry,
		`{"access_rights":{"orders":{"json_rpc_methods":[{"name":"tools/call"}]}}}`:                                     policy.CodeMCP,
		`{"access_rights":{"orders":{"mcp_access_rights":{"tools":{"blocked":["x"]}}}}}`:                                policy.CodeMCP,
		`{"access_rights":{"orders":{"mcp_access_rights":{"tools":{"blocked":[]}},"mcp_primitives":[]}}}`:               "",
		`{"access_rights":{"tools":{"endpoints":[{"path":"/x"}]}}}`:                                                     policy.CodeMCP,
		`{"access_rights":{"tools":{"disable_introspection":true}}}`:                                                    policy.CodeMCP,
		`{"access_rights":{"tools":{"mcp_primitives":[{"type":"prompt","name":"x"}]}}}`:                                 "",
		`{"access_rights":{"tools":{"mcp_primitives":[{"type":"x","name":"x"}]}}}`:                                      policy.CodeMCP,
		`{"access_rights":{"elsewhere":{"mcp_primitives":[{"type":"tool","name":"x"}],"allowed_urls":[{"url":"/"}]}}}`:  "", // a missing API is not checked
		`{"expires":1.718439136e+09,"quota_max":5.0,"rate":5.0,"access_rights":{"orders":{"limit":{"quota_max":7.0}}}}`: "",
		`{"later":{"x":[1.50]},` + rights + `}`:                                                                         "",
	} {
		s, err := draft(t, text).New("acme", checks(t))
		if got := fault.CodeOf(err); err == nil && want != "" || err != nil && got != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if err != nil {
			continue
		}
		if s.Get("org_id").Text() != "acme" || s.Get("date_created") != nil || len(key.Table.Check(s)) > 0 || strings.Contains(text, "1.50") && !strings.Contains(string(s.JSON()), "1.50") {
			t.Errorf("%s: %s", text, s.JSON())
		}
		if strings.Contains(text, "1.718439136e+09") && (string(s.Get("expires").JSON()) != "1718439136" || string(s.Get("quota_max").JSON()) != "5" || string(s.Get("rate").JSON()) != "5" ||
			string(s.Get("access_rights", "orders", "limit", "quota_max").JSON()) != "7") {
			t.Errorf("%s: %s", text, s.JSON())
		}
		for id, definition := range s.Get("access_rights").Members() {
			if definition.Get("api_id").Text() != id {
				t.Errorf("%s: %s", text, s.JSON())
			}
		}
	}
	c := checks(t)
	for text, want := range map[string]bool{
		`{}`: false, `{"apply_policies":["limits"]}`: false, `{"apply_policies":["limits","gold"]}`: true, `{"apply_policies":["limits"],` + rights + `}`: true, `{"apply_policies":["unknown"]}`: true,
	} {
		if draft(t, text).Grants(c.Policies) != want {
			t.Errorf("%s names an API: %t", text, !want)
		}
	}
	c.Master = true
	if _, err := draft(t, `{}`).New("acme", c); err != nil {
		t.Error("a key for every API:", err)
	}
	if s, err := draft(t, `{"enable_detail_recording":true,`+rights+`}`).New("acme", c); err != nil || !s.Get("enable_detailed_recording").True() {
		t.Error(err)
	}
}

// TestOver: what a new session keeps of the replaced one.
func TestOver(t *testing.T) {
	old := doctest.Node(t, `{"org_id":"acme","alias":"x","apply_policies":["draft"],"hmac_enabled":true,"hmac_string":"secret","jwt_data":{"secret":"jwt"},"tags":["a"]}`)
	for text, want := range map[string]string{
		`{"apply_policies":["draft"]}`:                                        `{"apply_policies":["draft"],"org_id":"acme"}`,
		`{"hmac_enabled":true,"apply_policies":["gold"]}`:                     `{"hmac_enabled":true,"apply_policies":["gold"],"org_id":"acme","hmac_string":"secret"}`,
		`{"hmac_enabled":true,"hmac_string":"new","apply_policies":["gold"]}`: `{"hmac_enabled":true,"hmac_string":"new","apply_policies":["gold"],"org_id":"acme"}`,
		`{"hmac_enabled":false,"apply_policies":["gold"]}`:                    `{"hmac_enabled":false,"apply_policies":["gold"],"org_id":"acme"}`,
		`{"jwt_data":{},"apply_policies":["gold"]}`:                           `{"jwt_data":{"secret":"jwt"},"apply_policies":["gold"],"org_id":"acme"}`,
		`{"jwt_data":{"secret":"new"},"apply_policies":["gold"]}`:             `{"jwt_data":{"secret":"new"},"apply_policies":["gold"],"org_id":"acme"}`,
		`{"org_id":"other","apply_policies":["off"]}`:                         "",
	} {
		s, err := draft(t, text).Over(old, checks(t))
		if want == "" {
			if fault.CodeOf(err) != key.CodePolicy {
				t.Errorf("%s: %v", text, err)
			}
		} else if err != nil || !s.Equal(doctest.Node(t, want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestUsers: the password of a new user is checked against the policy; an existing user may
// keep the password.
func TestUsers(t *testing.T) {
	c := checks(t)
	c.User, c.Password = true, password.Policy{MinLength: 8}
	old := doctest.Node(t, `{"org_id":"acme","basic_auth_data":{"hash_type":"bcrypt"},`+rights+`}`)
	for text, want := range map[string][2]bool{ // valid for a new user, for an existing one
		`{` + rights + `}`: {false, true}, `{"basic_auth_data":{},` + rights + `}`: {false, true},
		`{"basic_auth_data":{"password":"short"},` + rights + `}`: {false, false}, `{"basic_auth_data":{"password":"long enough"},` + rights + `}`: {true, true},
	} {
		_, err := draft(t, text).New("acme", c)
		over := c
		over.User = false
		_, again := draft(t, text).Over(old, over)
		if (err == nil) != want[0] || (again == nil) != want[1] || err != nil && fault.CodeOf(err) != key.CodePassword {
			t.Errorf("%s: %v, %v", text, err, again)
		}
	}
}

func TestShown(t *testing.T) {
	s := doctest.Node(t, `{"alias":"x","hmac_string":"a","jwt_data":{"secret":"b"},"basic_auth_data":{"password":"c","hash_type":"bcrypt"},"date_created":"0001-01-01T00:00:00Z"}`)
	for fresh, want := range map[bool]string{
		true:  `{"alias":"x","hmac_string":"a","jwt_data":{"secret":"b"},"basic_auth_data":{"hash_type":"bcrypt"}}`,
		false: `{"alias":"x","jwt_data":{},"basic_auth_data":{"hash_type":"bcrypt"}}`,
	} {
		if got, err := key.Shown(s, fresh).MarshalJSON(); err != nil || string(got) != want {
			t.Errorf("%s, %v", got, err)
		}
	}
}

func TestNames(t *testing.T) {
	for name, good := range map[string]bool{
		"abc": true, "my-key_1.2~": true, "ада": true, "ada@example.com": true, strings.Repeat("x", 256): true, "": false, "ab": false, strings.Repeat("x", 257): false,
		"a/b/c": false, `a\b`: false, `x","org":"other`: false, "a b c": false, "a\nbc": false, "a\x00bc": false, "\xff\xff\xff": false,
	} {
		if err := key.CheckName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
	for text, whole := range map[string]bool{
		"eyJvcmciOiJvMSIsImlkIjoiNWIzMGU3MDMwMjk3NDliOWJhZDIzZDljNTNiYWY2ZTgiLCJoIjoibXVybXVyNjQifQ==": true, "abc": false, "e30=": false, "": false,
	} {
		if key.Whole(text) != whole {
			t.Errorf("%q", text)
		}
	}
}

// TestBounded: the maximum number of policies and rights in a draft.
func TestBounded(t *testing.T) {
	if err := draft(t, `{"apply_policies":[`+strings.Repeat(`"a",`, 100)+`"a"]}`).Bounded(); fault.CodeOf(err) != key.CodeTooMany {
		t.Error(err)
	}
	if err := draft(t, `{"apply_policies":["a"]}`).Bounded(); err != nil {
		t.Error(err)
	}
}

// FuzzDraft: gateways can decode an accepted session, it belongs to the caller, and its shown
// form can be sent again.
func FuzzDraft(f *testing.F) {
	f.Add([]byte(`{"apply_policies":["gold"],"hmac_enabled":true,"basic_auth_data":{"password":"abcdefg"}}`))
	f.Add([]byte(`{"access_rights":{"orders":null,"tools":{"mcp_primitives":[{"type":"tool"}]}},"jwt_data":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var d key.Draft
		if json.Unmarshal(text, &d) != nil || d.Bounded() != nil {
			return
		}
		c := checks(t)
		s, err := d.New("acme", c)
		if err != nil {
			return
		}
		if problems := key.Table.Check(s); len(problems) > 0 || s.Get("org_id").Text() != "acme" {
			t.Fatalf("%s: %v", s.JSON(), problems)
		}
		shown, err := key.Shown(s, false).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := draft(t, string(shown)).Over(s, c); err != nil {
			t.Fatalf("%s: %v", shown, err)
		}
	})
}

// TestIsUser: clients send an empty basic_auth_data with every key.
func TestIsUser(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: false, `{"basic_auth_data":null}`: false, `{"basic_auth_data":{}}`: false, `{"basic_auth_data":{"password":"","hash_type":""}}`: false, `{"basic_auth_data":{"user":"x"}}`: false,
		`{"basic_auth_data":{"password":"x"}}`: true, `{"basic_auth_data":{"hash_type":"bcrypt"}}`: true,
	} {
		n := doctest.Node(t, text)
		if got := key.IsUser(n); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestDrafts: what a draft says before the rules are applied.
func TestDrafts(t *testing.T) {
	const text = `{"apply_policies":["gold"],"access_rights":{"orders":{},"tools":null},"basic_auth_data":{"user":"ada"}}`
	d := draft(t, text)
	again, err := json.Marshal(d)
	if err != nil || string(again) != text || d.User() != "ada" || !slices.Equal(d.Policies(), []string{"gold"}) || !slices.Equal(slices.Sorted(slices.Values(d.APIs())), []string{"orders", "tools"}) {
		t.Errorf("%s, %v, %q of %q and %q", again, err, d.User(), d.Policies(), d.APIs())
	}
	for _, wrong := range []string{`[]`, `null`, `"x"`, `5`} {
		if json.Unmarshal([]byte(wrong), &d) == nil {
			t.Errorf("%s is a session", wrong)
		}
	}
	for name, want := range map[string]bool{"access_rights": true, "monitor": true, "meta_data": false, "": false} {
		if key.Typed(name) != want {
			t.Error(name)
		}
	}
	if text, err := key.Shown(doctest.Node(t, `{"rate":1.50}`), false).AppendJSON([]byte("x")); err != nil || string(text) != `x{"rate":1.50}` {
		t.Errorf("%s, %v", text, err)
	}
}

// TestSchemas: the API description has each member that is checked, and knows the same form in
// requests and responses.
func TestSchemas(t *testing.T) {
	in, err := json.Marshal(key.Draft{}.Schema())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := json.Marshal(key.View{}.Schema()); err != nil || string(out) != string(in) {
		t.Errorf("%s, %v", out, err)
	}
	for _, name := range []string{"apply_policies", "access_rights", "mtls_static_certificate_bindings", "expires"} {
		if !strings.Contains(string(in), `"`+name+`":`) {
			t.Errorf("%s is not described", name)
		}
	}
}

// TestAlias: an alias that shows as another one is refused, unless the key has it already.
func TestAlias(t *testing.T) {
	const text = `{"alias":"pay\u202elive",` + rights + `}`
	if _, err := draft(t, text).New("acme", checks(t)); fault.CodeOf(err) != key.CodeType {
		t.Error(err)
	}
	if _, err := draft(t, text).Over(doctest.Node(t, text), checks(t)); err != nil {
		t.Error(err)
	}
}

// TestBurden: the size of the policies of one key, at the limit and above.
func TestBurden(t *testing.T) {
	for b, want := range map[key.Burden]string{
		{Rights: key.MaxRights, Bytes: key.MaxPolicyBytes}: "",
		{Rights: key.MaxRights + 1}:                        "the policies in apply_policies have 50001 access definitions in all; those of a key may have 50000",
		{Bytes: key.MaxPolicyBytes + 1}:                    "the policies in apply_policies have 16777217 bytes in all; those of a key may have 16777216",
	} {
		if err := b.Refuse(); want == "" && err != nil || want != "" && (fault.CodeOf(err) != key.CodeTooMany || err.Error() != want) {
			t.Errorf("%+v: %v", b, err)
		}
	}
}

// TestGrants: a key names APIs by itself or by a policy; an unknown policy may name one.
func TestGrants(t *testing.T) {
	known := checks(t).Policies
	for text, want := range map[string]bool{
		`{}`: false, `{"access_rights":{}}`: false, `{"access_rights":{"orders":null}}`: true, `{"apply_policies":["gold"]}`: true, `{"apply_policies":["limits"]}`: false,
		`{"apply_policies":["limits","gold"]}`: true, `{"apply_policies":["unknown"]}`: true,
	} {
		if key.Grants(doctest.Node(t, text), known) != want || draft(t, text).Grants(known) != want {
			t.Error(text)
		}
	}
}
