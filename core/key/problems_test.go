package key_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/policy"
)

// TestProblems: why gateways refuse keys.
func TestProblems(t *testing.T) {
	known := map[string]policy.Policy{}
	for id, text := range map[string]string{
		"good":   `{"_id":"","id":"good","access_rights":{"a":{}}}`,
		"draft":  `{"id":"draft","state":"draft","is_inactive":true}`,
		"deny":   `{"id":"deny","state":"deny"}`,
		"off":    `{"id":"off","is_inactive":true}`,
		"each":   `{"id":"each","partitions":{"per_api":true},"access_rights":{"a":{}}}`,
		"quotas": `{"id":"quotas","partitions":{"quota":true}}`,
	} {
		p, err := policy.Load([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		known[id] = p
	}
	now := time.Unix(1000, 0)
	for session, want := range map[string]string{
		`{"apply_policies":["good"]}`:                           "",
		`{"apply_policies":["good"],"expires":999}`:             "key_expired",
		`{"apply_policies":["good"],"expires":-1}`:              "",
		`{"apply_policies":["good"],"is_inactive":true}`:        "key_inactive",
		`{"apply_policies":["gone","good"]}`:                    "policy_missing gone",
		`{"apply_policy_id":"gone"}`:                            "policy_missing gone",
		`{"apply_policies":["draft","deny","off"],"expires":1}`: "policy_draft draft, policy_denied deny, policy_inactive off, key_expired",
		`{"apply_policies":["each","quotas"]}`:                  "policies_mixed",
		`{"apply_policies":["each","good"]}`:                    "",
		`{"access_rights":{"a":{}}}`:                            "",
		`{}`:                                                    "no_rights",
	} {
		s := doctest.Node(t, session)
		carried := key.CarriedBy(s, known)
		var have []string
		for _, p := range key.Explain(s, carried.Applied()).Problems(carried, now) {
			have = append(have, strings.TrimSpace(p.Code+" "+p.Policy))
			if p.Text == "" || p.Fix == "" {
				t.Errorf("%+v", p)
			}
		}
		if got := strings.Join(have, ", "); got != want {
			t.Errorf("%s: %s, want %s", session, got, want)
		}
	}
}
