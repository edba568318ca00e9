package key_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/key"
)

// TestExplain: the sources of a key's rights and limits.
func TestExplain(t *testing.T) {
	for name, c := range map[string]struct {
		session  string
		policies []string
		apis     string // parts of each API by policy
		limits   string // effective limits of the APIs a and b
		each     string
	}{
		"its own": {`{"rate":2,"per":1,"access_rights":{"a":{},"b":{"limit":{"rate":9,"per":1}}}}`, nil,
			`{"a":{},"b":{}}`, `{"rate":2,"per":1} {"rate":9,"per":1}`, `{"b":true}`},
		"one policy": {`{"rate":2,"access_rights":{"z":{}}}`, []string{`{"id":"gold","rate":5,"per":1,"quota_max":7,"access_rights":{"a":{},"b":{}}}`},
			`{"a":{"acl":["gold"],"quota":["gold"],"rate_limit":["gold"]},"b":{"acl":["gold"],"quota":["gold"],"rate_limit":["gold"]}}`,
			`{"rate":5,"per":1,"quota_max":7} {"rate":5,"per":1,"quota_max":7}`, `{}`},
		"of two, the more generous, and rights of both": {`{}`, []string{
			`{"id":"small","rate":5,"per":1,"quota_max":-1,"access_rights":{"a":{}}}`, `{"id":"large","rate":50,"per":1,"quota_max":7,"access_rights":{"a":{},"b":{}}}`},
			`{"a":{"acl":["small","large"],"quota":["small"],"rate_limit":["large"]},"b":{"acl":["large"],"quota":["large"],"rate_limit":["large"]}}`,
			`{"rate":50,"per":1,"quota_max":-1} {"rate":50,"per":1,"quota_max":7}`, `{}`},
		"rights of one, rate of another, quota of the key": {`{"quota_max":3}`, []string{
			`{"id":"plan","rate":5,"per":1,"partitions":{"rate_limit":true}}`, `{"id":"product","access_rights":{"a":{}},"partitions":{"acl":true}}`},
			`{"a":{"acl":["product"],"rate_limit":["plan"]}}`, `{"rate":5,"per":1,"quota_max":3} {"rate":5,"per":1,"quota_max":3}`, `{}`},
		"a limit for an API before the right to it": {`{}`, []string{
			`{"id":"plan","rate":5,"per":1,"access_rights":{"a":{},"b":{}},"partitions":{"rate_limit":true}}`, `{"id":"product","access_rights":{"a":{}},"partitions":{"acl":true}}`},
			`{"a":{"acl":["product"],"rate_limit":["plan"]}}`, `{"rate":5,"per":1} {"rate":5,"per":1}`, `{}`},
		"limits of each API": {`{}`, []string{`{"id":"each","rate":5,"per":1,"access_rights":{"a":{"limit":{"rate":1,"per":1}},"b":{}},"partitions":{"per_api":true}}`},
			`{"a":{"acl":["each"],"rate_limit":["each"]},"b":{"acl":["each"],"rate_limit":["each"]}}`, `{"rate":1,"per":1} {"rate":5,"per":1}`, `{"a":true,"b":true}`},
		"a rate for the rights of the key": {`{"rate":1,"access_rights":{"a":{}}}`, []string{`{"id":"plan","rate":5,"per":1,"partitions":{"rate_limit":true}}`},
			`{"a":{"rate_limit":["plan"]}}`, `{"rate":5,"per":1} {"rate":5,"per":1}`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			var list []*doc.Node
			for _, p := range c.policies {
				list = append(list, doctest.Node(t, p))
			}
			e := key.Explain(doctest.Node(t, c.session), list)
			apis, _ := json.Marshal(e.APIs)
			each, _ := json.Marshal(e.Each)
			for have, want := range map[string]string{string(apis): c.apis, fmt.Sprintf("%s %s", e.LimitOf("a").JSON(), e.LimitOf("b").JSON()): c.limits, string(each): c.each} {
				if have != want {
					t.Errorf("%s, want %s", have, want)
				}
			}
		})
	}
}

// TestMixed: per-API limits cannot be combined with other partitions.
func TestMixed(t *testing.T) {
	each, acl, all := doctest.Node(t, `{"partitions":{"per_api":true}}`), doctest.Node(t, `{"partitions":{"acl":true}}`), doctest.Node(t, `{}`)
	for _, c := range []struct {
		policies []*doc.Node
		want     bool
	}{{nil, false}, {[]*doc.Node{each, all}, false}, {[]*doc.Node{acl, all}, false}, {[]*doc.Node{acl, each}, true}} {
		if key.Mixed(c.policies) != c.want {
			t.Errorf("%d policies: %v", len(c.policies), !c.want)
		}
	}
}
