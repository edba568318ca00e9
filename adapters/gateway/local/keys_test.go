package local_test

import (
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// TestLifetime: a new key whose policy limits its lifetime expires, as at gateways; a key that
// is overwritten keeps its expiry.
func TestLifetime(t *testing.T) {
	keys, _ := newKeys(t, gatewayPolicies{
		"brief": `{"id":"brief","access_rights":{"a":{}},"key_expires_in":3600}`, "always": `{"id":"always","access_rights":{"a":{}}}`,
	})
	session := func(text string) *doc.Node {
		n := doctest.Node(t, text)
		return n
	}
	for _, c := range []struct {
		id, text string
		seconds  int64 // from now; 0: never
	}{
		{"ada", `{"apply_policies":["brief","always"]}`, 3600}, {"", `{"apply_policies":["always"],"expires":0}`, 0},
		{"over", `{"apply_policies":["always"]}`, 0}, {"over", `{"apply_policies":["brief"]}`, 0},
	} {
		made, err := keys.CreateKey(t.Context(), "acme", c.id, session(c.text))
		if err != nil {
			t.Fatal(err)
		}
		expires := made.Session.Get("expires").Int()
		if (expires == 0) != (c.seconds == 0) || c.seconds > 0 && (expires < time.Now().Unix()+c.seconds-60 || expires > time.Now().Unix()+c.seconds) {
			t.Errorf("%s %s: %d", c.id, c.text, expires)
		}
	}
	for text, want := range map[string]bool{`{"apply_policies":["brief"]}`: true, `{"apply_policies":["always"],"expires":5}`: false} {
		s, err := keys.PreviewKey(t.Context(), "acme", session(text))
		if expires := s.Get("expires").Int(); err != nil || (expires > time.Now().Unix()) != want || !want && expires != 0 {
			t.Errorf("a preview of %s: %d, %v", text, expires, err)
		}
	}
}

// TestZeroMembers: zero values are omitted at any depth in members that gateways decode, and
// kept in clients' data for plugins.
func TestZeroMembers(t *testing.T) {
	keys, _ := newKeys(t, nil)
	session, err := doc.ParseNode([]byte(`{"access_rights":{"a":{"api_id":"a","versions":["Default"],"allowed_urls":[],"disable_introspection":false,
		"limit":{"rate":5,"per":60,"quota_max":0,"smoothing":{"enabled":false,"step":0}},"endpoints":[{"path":"/x","methods":[]}]},"b":{}},
		"monitor":{"trigger_limits":[]},"smoothing":{"enabled":false},"meta_data":{"n":0,"deep":{"off":false}}}`))
	if err != nil {
		t.Fatal(err)
	}
	made, err := keys.CreateKey(t.Context(), "acme", "sparse", session)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"access_rights": `{"a":{"api_id":"a","versions":["Default"],"limit":{"rate":5,"per":60},"endpoints":[{"path":"/x"}]},"b":{}}`,
		"meta_data":     `{"n":0,"deep":{"off":false}}`, "monitor": "", "smoothing": "",
	} {
		got := ""
		if v := made.Session.Get(name); v != nil {
			got = string(v.JSON())
		}
		if got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
