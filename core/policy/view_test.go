package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/policy"
)

func view(t *testing.T, p policy.Policy) string {
	t.Helper()
	text, err := p.View().AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := doc.ParseNode(text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return string(text)
}

const unwritten = `"quota_max":0,"quota_renewal_rate":0,"throttle_interval":0,"throttle_retry_limit":0,"max_query_depth":0,"smoothing":null,` +
	`"hmac_enabled":false,"enable_http_signature_validation":false,"active":false,"is_inactive":false,"tags":[],"meta_data":{},"key_expires_in":0,` +
	`"post_expiry_grace_period":0,"graphql_enabled":false,"auth_type":"","auth_types":[]}`

// TestView: a policy is read as it was written, followed by the missing members; the stored
// document stays unchanged.
func TestView(t *testing.T) {
	p := make1(t, `{"z":1.0,"rate":1e2,"partitions":{"quota":true},"name":"n","per":null}`)
	want := strings.TrimSuffix(text(t, p), "}") + "," + unwritten
	if got := view(t, p); got != want || !strings.HasPrefix(got, `{"z":1.0,"rate":1e2,"partitions":{"quota":true},"name":"n","per":null,`) {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, stored := range []string{`{}`, ` { } `, `{"name":"x"} `, "{\"rate\":1\n}\n"} {
		old, err := policy.Load([]byte(stored))
		if err != nil {
			t.Fatal(err)
		}
		if got := view(t, old); !strings.Contains(got, `"max_query_depth":0`) {
			t.Errorf("%s: %s", stored, got)
		}
	}
	// An edit of the read form stores only its changes.
	d, err := p.Edited([]byte(strings.Replace(view(t, p), `"tags":[]`, `"tags":["a"]`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	q, err := p.Replace(d, now, rules)
	if want := strings.TrimSuffix(text(t, p), "}") + `,"tags":["a"]}`; err != nil || text(t, q) != want {
		t.Errorf("%s %v\nwant %s", text(t, q), err, want)
	}
}

// TestViewLists: lists that clients expect are never null or missing, and the rest stays
// unchanged, also after an edit.
func TestViewLists(t *testing.T) {
	const (
		written = `{"rate":1e2,"tags":null,"z":null,"auth_types":null,"access_rights_array":null,` +
			`"access_rights":{"x":{"api_id":"x","versions":null,"allowed_urls":[{"url":"/a"}],"mcp_primitives":null,"limit":null}}}`
		want = `{"rate":1e2,"tags":[],"z":null,"auth_types":[],"access_rights_array":[],` +
			`"access_rights":{"x":{"api_id":"x","versions":[],"allowed_urls":[{"url":"/a","methods":[]}],"mcp_primitives":[],"limit":null,` +
			`"restricted_types":[],"allowed_types":[],"field_access_rights":[],"endpoints":[]}},`
	)
	stored, err := policy.Load([]byte(written))
	if err != nil {
		t.Fatal(err)
	}
	if got := view(t, stored); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := text(t, stored); got != written {
		t.Errorf("the stored form changed: %s", got)
	}
	p := make1(t, `{"name":"n","access_rights":{"rest":{"versions":null},"other":{"versions":["v1"]}}}`)
	read := view(t, p)
	if listed := p.View().Size(); listed < strings.Index(read, `,"rate":0`) {
		t.Errorf("%d bytes are said of %s", listed, read)
	}
	d, err := p.Edited([]byte(strings.Replace(read, `"versions":["v1"]`, `"versions":["v2"]`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	q, err := p.Replace(d, now, rules)
	if want := strings.ReplaceAll(text(t, p), "v1", "v2"); err != nil || text(t, q) != want {
		t.Errorf("%s %v\nwant %s", text(t, q), err, want)
	}
}

// TestViewOfMany: reading a policy builds no tree, because it may have thousands of access
// definitions.
func TestViewOfMany(t *testing.T) {
	v := make1(t, bulk(500)).View()
	if n := testing.AllocsPerRun(5, func() { _, _ = v.AppendJSON(nil) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
}

// TestAuthTypes: authentication methods that a client set stay unchanged, and those that the
// service set follow the APIs.
func TestAuthTypes(t *testing.T) {
	for _, c := range []struct {
		body, one, all string
		told           bool
	}{
		{`{"name":"n","auth_type":"ba","access_rights":{"rest":{}}}`, `"ba"`, `["jwt"]`, true},
		{`{"name":"n","auth_type":"other","auth_types":["other","ba"],"access_rights":{"rest":{}}}`, `"other"`, `["other","ba"]`, true},
		{`{"name":"n","auth_type":"","auth_types":[],"access_rights":{"rest":{}}}`, `"jwt"`, `["jwt"]`, false},
		{`{"name":"n","access_rights":{"other":{}}}`, `""`, `["authToken","jwt"]`, false},
	} {
		p := make1(t, c.body)
		n, err := p.Node()
		if err != nil {
			t.Fatal(err)
		}
		if one, all := string(n.Get("auth_type").JSON()), string(n.Get("auth_types").JSON()); one != c.one || all != c.all || p.Told() != c.told {
			t.Errorf("%s: %s %s, told %v", c.body, one, all, p.Told())
		}
		// A patch that gives access to another API.
		d, err := p.Edited([]byte(strings.Replace(view(t, p), `"access_rights":{`, `"access_rights":{"other":{},`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		q, err := p.Replace(d, now, rules)
		if err != nil {
			t.Fatal(err)
		}
		if follows := slices.Equal(q.AuthTypes(), []string{"authToken", "jwt"}); follows == c.told {
			t.Errorf("%s: %v after a patch", c.body, q.AuthTypes())
		}
	}
	for methods, want := range map[string]bool{"ba": true, "basic": true, "jwt": false} {
		f := policy.Filter{AuthTypes: []string{methods}}
		for _, said := range []string{"ba", "basic"} {
			p := make1(t, `{"name":"n","auth_type":"`+said+`"}`)
			if takes(f, p) != want {
				t.Errorf("%s among %s: %v", methods, said, !want)
			}
		}
	}
}
