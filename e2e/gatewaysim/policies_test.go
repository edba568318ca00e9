package gatewaysim

import (
	"encoding/json"
	"slices"
	"testing"
)

// The identity table of docs/wire/feeds.md#policies.
func TestPolicyIdentity(t *testing.T) {
	const hex = "5f0000000000000000000001"
	for entry, want := range map[string][]Policy{
		`{"_id":"` + hex + `","id":"","org_id":"o1"}`:       {{OrgID: "o1", ID: hex}},
		`{"_id":"` + hex + `","org_id":"o1"}`:               {{OrgID: "o1", ID: hex}},
		`{"_id":"` + hex + `","id":"gold"}`:                 {{ID: "gold"}},
		`{"_id":"","id":"gold"}`:                            {{ID: "gold"}},
		`{"_id":null,"id":"gold"}`:                          {{ID: "gold"}},
		`{"id":"gold","name":"Gold"}`:                       {{ID: "gold", Name: "Gold"}},
		`{"_id":"","id":""}`:                                {},
		`{"name":"nobody"}`:                                 {},
		`null`:                                              {},
		`{"id":"x","org_id":"o1"},{"id":"x","org_id":"o2"}`: {{OrgID: "o1", ID: "x"}, {OrgID: "o2", ID: "x"}},
		`{"id":"x","name":"old"},{"id":"x","name":"new"}`:   {{ID: "x", Name: "new"}},
	} {
		loaded, err := parsePolicies(json.RawMessage("["+entry+"]"), nil)
		if err != nil || !slices.Equal(listPolicies(loaded), want) {
			t.Errorf("%s: %v, %v, want %v", entry, listPolicies(loaded), err, want)
		}
	}
}

func TestPolicyFeedRefusals(t *testing.T) {
	for message, fine := range map[string]bool{
		``:                            true,
		`null`:                        true,
		`[]`:                          true,
		`{"gold":{"id":"gold"}}`:      false,
		`"x"`:                         false,
		`[7]`:                         false,
		`[{"id":"a"},{"_id":"gold"}]`: false,
		`[{"_id":"5f00"}]`:            false,
		`[{"id":7}]`:                  false,
		`[{"id":"a","rate":"10"}]`:    false,
		`[{"id":"a","rate":10.5,"quota_max":-1}]`:                                                true,
		`[{"id":"a","quota_max":1.5}]`:                                                           false,
		`[{"id":"a","active":"yes"}]`:                                                            false,
		`[{"id":"a","access_rights":null,"tags":null,"meta_data":{"x":[1]}}]`:                    true,
		`[{"id":"a","access_rights":{"api":{"versions":"Default"}}}]`:                            false,
		`[{"id":"a","access_rights":{"api":{"limit":{"rate":1,"smoothing":{"enabled":true}}}}}]`: true,
		`[{"id":"a","access_rights":{"api":{"mcp_access_rights":{"tools":{"allowed":["a"]}}}}}]`: true,
		`[{"id":"a","access_rights":{"api":{"mcp_access_rights":{"tools":{"allowed":"a"}}}}}]`:   false,
	} {
		if _, err := parsePolicies(json.RawMessage(message), nil); (err == nil) != fine {
			t.Errorf("%s: error %v, want accepted %v", message, err, fine)
		}
	}
}
