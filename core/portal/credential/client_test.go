package credential_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
)

const (
	orders  = `{"partitions":{"acl":true},"tags":["shop","orders"],"meta_data":{"line":"a"},"access_rights":{"orders":{"api_id":"orders","api_name":"Orders","versions":["Default"],"allowed_urls":[],"limit":null}}}`
	claims  = `{"partitions":{"acl":true},"access_rights":{"claims":{"api_id":"claims","versions":["v1"],"allowed_urls":[{"url":"/x","methods":["GET"]}]},"orders":{"api_id":"orders","versions":["v2"]}}}`
	gold    = `{"partitions":{"quota":true,"rate_limit":true},"rate":10,"per":60,"quota_max":100,"quota_renewal_rate":3600,"tags":["gold"],"meta_data":{"tier":"gold"},"access_rights":{}}`
	counted = `{"partitions":{"quota":true},"rate":10,"per":60,"quota_max":100,"quota_renewal_rate":3600}`
)

func clientPolicy(t *testing.T, plan string, products ...string) credential.ClientPolicy {
	t.Helper()
	p := credential.ClientPolicy{Client: "c1", Org: "one", Mark: "CID", App: 2, Organisation: 1, Tags: []string{"shop"}}
	for _, text := range products {
		p.Products = append(p.Products, doctest.Node(t, text))
	}
	if plan != "" {
		p.Plan = doctest.Node(t, plan)
	}
	return p
}

// TestClientPolicy: the policy of a client for products under a plan.
func TestClientPolicy(t *testing.T) {
	n := doc.NewObject()
	if !clientPolicy(t, gold, orders, claims).Write(n) {
		t.Error("a new policy needs nothing")
	}
	want := doctest.Node(t, `{"id":"portal-client-c1","org_id":"one","name":"OAuth client c1","active":true,"state":"active","is_inactive":false,
		"tags":["shop","orders","gold","portal-app-2","portal-org-1","portal-clients-CID"],"meta_data":{"line":"a","tier":"gold"},
		"partitions":{"acl":true,"per_api":false,"quota":true,"rate_limit":true,"complexity":false},
		"rate":10,"per":60,"quota_max":100,"quota_renewal_rate":3600,
		"access_rights":{"orders":{"api_id":"orders","api_name":"Orders","versions":["Default","v2"],"allowed_urls":[]},"claims":{"api_id":"claims","versions":["v1"],"allowed_urls":[{"url":"/x","methods":["GET"]}]}},
		"access_rights_array":[{"api_id":"orders","api_name":"Orders","versions":["Default","v2"],"allowed_urls":[]},{"api_id":"claims","versions":["v1"],"allowed_urls":[{"url":"/x","methods":["GET"]}]}]}`)
	if n.Canonical() != want.Canonical() {
		t.Errorf("%s", n.Canonical())
	}
	if client, app, ok := credential.ClientOf(n, "CID"); client != "c1" || app != 2 || !ok {
		t.Error(client, app, ok)
	}
	for _, mark := range []string{"", "OTHER"} {
		if _, _, ok := credential.ClientOf(n, mark); ok {
			t.Errorf("the mark %q is another one", mark)
		}
	}
}

// TestClientPolicyFollows: what must be written when the policies of products and plans
// change, and that defaults added by dashboards need no write.
func TestClientPolicyFollows(t *testing.T) {
	for _, c := range []struct {
		what, plan string
		products   []string
		change     func(*doc.Node)
		changed    bool
		is         func(*doc.Node) bool
	}{
		{"nothing", gold, []string{orders}, func(*doc.Node) {}, false, func(n *doc.Node) bool { return !n.Get("is_inactive").True() }},
		{"defaults", gold, []string{orders}, func(n *doc.Node) {
			n.Put(doc.NewNull(), "access_rights", "orders", "limit")
			n.Put(doc.NewArray(), "access_rights", "orders", "restricted_types")
			n.Set("max_query_depth", doc.NewInt(0))
			n.Set("smoothing", doc.NewNull())
		}, false, func(*doc.Node) bool { return true }},
		{"a rate that somebody has changed", gold, []string{orders}, func(n *doc.Node) { n.Set("rate", doc.NewInt(999)) }, true, func(n *doc.Node) bool { return n.Get("rate").Int() == 10 }},
		{"another product", gold, []string{orders, claims}, func(*doc.Node) {}, true, func(n *doc.Node) bool { return n.Get("access_rights").Len() == 2 }},
		{"a plan without a rate", counted, []string{orders}, func(*doc.Node) {}, true, func(n *doc.Node) bool {
			return n.Get("rate").Is(doc.Absent) && !n.Get("partitions", "rate_limit").True() && n.Get("quota_max").Int() == 100
		}},
		{"no plan", "", []string{orders}, func(*doc.Node) {}, true, func(n *doc.Node) bool { return n.Get("is_inactive").True() }},
		{"no product: an empty list would be everything", gold, nil, func(*doc.Node) {}, true, func(n *doc.Node) bool {
			return n.Get("is_inactive").True() && n.Get("access_rights", "orders").Is(doc.TypeObject)
		}},
		{"a draft", gold, []string{strings.Replace(orders, `"tags"`, `"is_inactive":true,"state":"draft","tags"`, 1)}, func(*doc.Node) {}, true, func(n *doc.Node) bool { return n.Get("is_inactive").True() }},
		{"a policy that gateways do not get", gold, []string{strings.Replace(orders, `"tags"`, `"state":"deny","tags"`, 1)}, func(*doc.Node) {}, true, func(n *doc.Node) bool { return n.Get("is_inactive").True() }},
	} {
		n := doc.NewObject()
		clientPolicy(t, gold, orders).Write(n)
		c.change(n)
		changed := clientPolicy(t, c.plan, c.products...).Write(n)
		if changed != c.changed || !c.is(n) {
			t.Errorf("%s: changed %v\n%s", c.what, changed, n.Canonical())
		}
		if clientPolicy(t, c.plan, c.products...).Write(n) {
			t.Errorf("%s: it has to be changed twice", c.what)
		}
	}
}

// TestJoinRedirects: redirect URLs that gateways can store.
func TestJoinRedirects(t *testing.T) {
	for _, c := range []struct {
		list            []string
		separator, want string
		refused         bool
	}{
		{nil, "", "", false},
		{[]string{"https://a"}, "", "https://a", false},
		{[]string{"https://a", "https://b"}, ";", "https://a;https://b", false},
		{[]string{"https://a", "https://b"}, "", "", true},
		{[]string{"https://a/;x"}, ";", "", true},
	} {
		have, err := credential.JoinRedirects(c.list, c.separator)
		if have != c.want || (err != nil) != c.refused {
			t.Errorf("%v with %q: %q, %v", c.list, c.separator, have, err)
		}
	}
}
