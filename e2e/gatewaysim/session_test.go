package gatewaysim

import (
	"errors"
	"reflect"
	"testing"
	"time"
)

func loadedPolicies(t *testing.T, texts ...string) map[policyKey]*policy {
	t.Helper()
	loaded, err := parsePolicies(nil, raws(texts...))
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func TestGrants(t *testing.T) {
	loaded := loadedPolicies(t,
		`{"id":"open","org_id":"o1"}`,
		`{"id":"here","org_id":"o1","access_rights":{"api":{}}}`,
		`{"id":"there","org_id":"o1","access_rights":{"other":null}}`,
		`{"id":"off","org_id":"o1","is_inactive":true,"active":true}`,
		`{"id":"inactive-flag","org_id":"o1","active":false}`,
		`{"id":"plan","org_id":"o1","partitions":{"quota":true},"access_rights":{"other":{}}}`,
		`{"id":"product","org_id":"o1","partitions":{"acl":true},"access_rights":{"api":{}}}`,
		`{"id":"each","org_id":"o1","partitions":{"per_api":true},"access_rights":{"api":{}}}`,
	)
	for _, tt := range []struct {
		org              string
		ids              []string
		grants, inactive bool
		err              error
	}{
		{"o1", nil, true, false, nil},
		{"o1", []string{"open"}, true, false, nil},
		{"o1", []string{"here"}, true, false, nil},
		{"o1", []string{"there"}, false, false, nil},
		{"o1", []string{"there", "here"}, true, false, nil},
		{"o1", []string{"here", "there"}, true, false, nil},
		{"o1", []string{"open", "there"}, false, false, nil},
		{"o1", []string{"here", "gone"}, false, false, errNoPolicy},
		{"o2", []string{"here"}, false, false, errNoPolicy},
		{"o1", []string{"off"}, true, true, nil},
		{"o1", []string{"inactive-flag"}, true, false, nil},
		{"o1", []string{"product", "plan"}, true, false, nil},
		{"o1", []string{"there", "plan"}, false, false, nil},
		{"o1", []string{"each"}, true, false, nil},
		{"o1", []string{"each", "here"}, true, false, nil},
		{"o1", []string{"each", "product"}, false, false, errMixed},
	} {
		s, err := newSession(loaded, tt.org, tt.ids)
		if !errors.Is(err, tt.err) || (err == nil && (s.Grants("api") != tt.grants || s.Inactive != tt.inactive)) {
			t.Errorf("%s %v: %+v, %v", tt.org, tt.ids, s, err)
		}
	}
}

func TestPartitions(t *testing.T) {
	loaded := loadedPolicies(t,
		`{"id":"all","rate":10,"per":1,"quota_max":100,"quota_renewal_rate":60,"access_rights":{"a":{}}}`,
		`{"id":"acl","rate":99,"per":1,"quota_max":999,"partitions":{"acl":true},"access_rights":{"b":{}}}`,
		`{"id":"rate","rate":100,"per":5,"quota_max":999,"partitions":{"rate_limit":true},"access_rights":{"c":{}}}`,
		`{"id":"quota","rate":99,"per":1,"quota_max":-1,"partitions":{"quota":true}}`,
		`{"id":"small","rate":5,"per":1,"quota_max":7}`,
		`{"id":"free","rate":-1,"per":1}`,
		`{"id":"complexity","rate":99,"per":1,"quota_max":999,"partitions":{"complexity":true},"access_rights":{"c":{}}}`,
		`{"id":"each","rate":3,"per":1,"partitions":{"per_api":true},"access_rights":{"a":{"limit":{"rate":1,"per":2,"quota_max":4}},"b":{}}}`,
	)
	for _, tt := range []struct {
		ids   []string
		api   string
		limit Limit
		scope string
		apis  int
	}{
		{[]string{"all"}, "a", Limit{Rate: 10, Per: 1, QuotaMax: 100, QuotaRenewal: 60}, "", 1},
		{[]string{"all", "acl"}, "b", Limit{Rate: 10, Per: 1, QuotaMax: 100, QuotaRenewal: 60}, "", 2},
		{[]string{"acl"}, "b", Limit{}, "", 1},
		{[]string{"acl", "rate"}, "b", Limit{Rate: 100, Per: 5, QuotaMax: 0, QuotaRenewal: 0}, "", 1},
		{[]string{"rate", "all"}, "a", Limit{Rate: 10, Per: 1, QuotaMax: 100, QuotaRenewal: 60}, "", 1}, // limits of policies that name the API override others
		{[]string{"rate", "small"}, "a", Limit{Rate: 100, Per: 5, QuotaMax: 7, QuotaRenewal: 0}, "", 0},
		{[]string{"all", "quota"}, "a", Limit{Rate: 10, Per: 1, QuotaMax: 100, QuotaRenewal: 60}, "", 1},
		{[]string{"quota", "all"}, "a", Limit{Rate: 10, Per: 1, QuotaMax: 100, QuotaRenewal: 60}, "", 1},
		{[]string{"free", "all"}, "a", Limit{Rate: 10, Per: 1, QuotaMax: 100, QuotaRenewal: 60}, "", 1},
		{[]string{"complexity"}, "c", Limit{}, "", 0},
		{[]string{"each"}, "a", Limit{Rate: 1, Per: 2, QuotaMax: 4, QuotaRenewal: 0}, "a", 2},
		{[]string{"each"}, "b", Limit{Rate: 3, Per: 1, QuotaMax: 0, QuotaRenewal: 0}, "b", 2},
	} {
		s, err := newSession(loaded, "", tt.ids)
		if limit, scope := s.limit(tt.api); err != nil || limit != tt.limit || scope != tt.scope || len(s.Rights) != tt.apis {
			t.Errorf("%v on %s: %+v %q, %d APIs, %v", tt.ids, tt.api, limit, scope, len(s.Rights), err)
		}
	}
}

// Rights of several policies on one API are merged.
func TestJoinedRights(t *testing.T) {
	loaded := loadedPolicies(t,
		`{"id":"a","access_rights":{"x":{"allowed_urls":[{"url":"^/a","methods":["GET"]}],
			"mcp_access_rights":{"tools":{"allowed":["a.*"],"blocked":["ab"]}},"json_rpc_methods":[{"name":"tools/call","limit":{"rate":1,"per":1}}]}}}`,
		`{"id":"b","access_rights":{"x":{"allowed_urls":[{"url":"(","methods":["GET"]},{"url":"/b$","methods":["PUT"]}],
			"mcp_access_rights":{"tools":{"allowed":["b"]}},"json_rpc_methods":[{"name":"tools/call","limit":{"rate":2,"per":1}}],
			"mcp_primitives":[{"type":"tool","name":"b","limit":{"rate":3,"per":1}}]}}}`,
	)
	s, err := newSession(loaded, "", []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	access := s.Rights["x"]
	for request, want := range map[[2]string]bool{
		{"GET", "/a/b"}: true, {"PUT", "/a/b"}: true, {"PUT", "/a"}: false, {"GET", "/c"}: false, {"PUT", "/b/c"}: false,
	} {
		if access.permits(request[0], request[1]) != want {
			t.Errorf("%v: %v", request, !want)
		}
	}
	for name, want := range map[string]bool{"a": true, "ac": true, "ab": false, "b": true, "bb": false, "xa": false} {
		if access.Primitives.Tools.permit(name) != want {
			t.Errorf("tool %s: %v", name, !want)
		}
	}
	call := &rpcCall{Method: "tools/call"}
	call.Params.Name = "b"
	want := map[string]Limit{"tools/call": {Rate: 2, Per: 1}, "tool b": {Rate: 3, Per: 1}}
	if got := access.callLimits(call); !reflect.DeepEqual(got, want) {
		t.Errorf("limits %v", got)
	}
}

func TestCounter(t *testing.T) {
	var c counter
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := Limit{Rate: 2, Per: 10, QuotaMax: 5, QuotaRenewal: 60}
	for _, tt := range []struct {
		second int
		status int
	}{{0, 200}, {1, 200}, {2, 429}, {9, 429}, {10, 200}, {11, 200}, {12, 429}, {30, 200}, {50, 403}, {59, 403}, {61, 200}} {
		status := 200
		if refusal := c.take(l, start.Add(time.Duration(tt.second)*time.Second)); refusal != nil {
			status = refusal.Status
		}
		if status != tt.status {
			t.Errorf("second %d: %d, want %d", tt.second, status, tt.status)
		}
	}
	for range 100 {
		if refusal := c.take(Limit{Rate: -1, Per: 1, QuotaMax: -1}, start); refusal != nil {
			t.Fatalf("unlimited: %+v", refusal)
		}
	}
}
