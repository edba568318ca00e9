package apidef_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
)

// TestFacts: a switch disables the values that belong to it, and a member of a wrong type
// counts as absent.
func TestFacts(t *testing.T) {
	type facts struct {
		path, domain string
		active       bool
		tags         []string
	}
	for definition, want := range map[string]facts{
		`{"active":true,"domain":"Api.example.com","tags":["eu","us"],"proxy":{"listen_path":"/o/"}}`: {"/o/", "Api.example.com", true, []string{"eu", "us"}},
		`{"domain":"api.example.com","domain_disabled":true,"tags":["eu"],"tags_disabled":true}`:      {},
		`{"active":"true","domain":5,"tags":"eu","proxy":[]}`:                                         {},
		`{"active":1,"tags":{"a":"b"},"proxy":{"listen_path":null}}`:                                  {},
		`{"domain_disabled":"true","domain":"d","proxy":"/o/"}`:                                       {domain: "d"},
	} {
		a := made(t, apidef.Classic, definition, "")
		if a.ListenPath() != want.path || a.Domain() != want.domain || a.Active() != want.active || !slices.Equal(a.Tags(), want.tags) {
			t.Errorf("%s: path %q, domain %q, active %v, tags %q", definition, a.ListenPath(), a.Domain(), a.Active(), a.Tags())
		}
	}
}

// TestAuthMethods: lists contain only methods of authentication that filters know, and each
// switch has a known method.
func TestAuthMethods(t *testing.T) {
	known := apidef.AuthMethods()
	for member, method := range map[string]string{
		"use_keyless": "keyless", "use_standard_auth": "authToken", "enable_jwt": "jwt", "use_basic_auth": "basic", "use_oauth2": "oauth",
		"enable_signature_checking": "hmac", "use_openid": "oidc", "use_mutual_tls_auth": "mutualTLS", "custom_plugin_auth_enabled": "custom",
		"enable_coprocess_auth": "custom", "use_go_plugin_auth": "custom",
	} {
		if got := made(t, apidef.Classic, `{"`+member+`":true}`, "").AuthTypes(); !slices.Equal(got, []string{method}) {
			t.Errorf("%s: %v", member, got)
		}
		if !slices.Contains(known, method) {
			t.Errorf("%s is not among the methods", method)
		}
	}
	if !slices.Contains(known, "externalOAuth") {
		t.Error("externalOAuth is not among the methods")
	}
}

// TestChildren: only a table that is switched on makes a base.
func TestChildren(t *testing.T) {
	for definition, want := range map[string]struct {
		children map[string]string
		ids      []string
	}{
		`{"definition":{"enabled":true,"name":"v1","default":"v2","versions":{"v3":"c","v2":"a","old":"a","none":"","odd":7}}}`: {
			map[string]string{"v3": "c", "v2": "a", "old": "a", "none": "", "odd": ""}, []string{"a", "c"}},
		`{"definition":{"enabled":false,"versions":{"v2":"a"}}}`:  {nil, nil},
		`{"definition":{"enabled":true}}`:                         {nil, nil},
		`{"definition":{"enabled":true,"versions":["a"]}}`:        {nil, nil},
		`{"definition":null}`:                                     {nil, nil},
		`{"definition":{"versions":{"v2":"a"},"enabled":"true"}}`: {nil, nil},
	} {
		a := made(t, apidef.Classic, definition, "")
		if !maps.Equal(a.Children(), want.children) || !slices.Equal(a.ChildIDs(), want.ids) {
			t.Errorf("%s: %v, %v", definition, a.Children(), a.ChildIDs())
		}
	}
}

// TestPlaces: the unique values are the address with each gateway segment. Two APIs collide if
// they share a place, or if either is for all segments.
func TestPlaces(t *testing.T) {
	for definition, want := range map[string][]string{
		`{"proxy":{"listen_path":"/a/"}}`:                                              {" /a/"},
		`{"proxy":{"listen_path":"/A/"},"domain":"X.test"}`:                            {"x.test /A/"},
		`{"proxy":{"listen_path":"/a/"},"tags":["eu"," us ","eu",""]}`:                 {" /a/ eu", " /a/ us"},
		`{"proxy":{"listen_path":"/a/"},"tags":["eu"],"tags_disabled":true}`:           {" /a/"},
		`{"protocol":"tcp","tags":["eu"],"domain":"x"}`:                                nil,
		`{"proxy":{"listen_path":"/a/"},"domain":"x","domain_disabled":true,"tags":5}`: {" /a/"},
	} {
		a := made(t, apidef.Classic, definition, "")
		if got := a.Places(); !slices.Equal(got, want) {
			t.Errorf("%s: %q", definition, got)
		}
		if a.Collides(a) != (len(want) > 0) {
			t.Errorf("%s collides with itself: %v", definition, a.Collides(a))
		}
	}
}

// TestCredentials: where gateways look for keys of an API, for every method.
func TestCredentials(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"x"}`: "",
		`{"name":"x","auth":{"auth_header_name":"Authorization","cookie_name":"","param_name":"key"}}`:                                                  "Authorization key",
		`{"name":"x","auth":{"auth_header_name":"A"},"auth_configs":{"jwt":{"auth_header_name":"B","cookie_name":"C"},"authToken":{"param_name":"D"}}}`: "A B C D",
	} {
		got := made(t, apidef.Classic, text, "").Credentials()
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// TestMethodsOf: the methods of a definition that is not stored; texts without one have none.
func TestMethodsOf(t *testing.T) {
	for text, want := range map[string]string{`{}`: "authToken", `{"enable_jwt":true,"use_basic_auth":true}`: "jwt basic", `{"external_oauth":{"enabled":true}}`: "externalOAuth", `{"external_oauth":5}`: "authToken", `[`: "", `[]`: ""} {
		got := apidef.MethodsOf([]byte(text))
		slices.Sort(got)
		if parts := strings.Fields(want); !slices.Equal(got, slices.Sorted(slices.Values(parts))) {
			t.Errorf("%s: %q, want %s", text, got, want)
		}
	}
}
