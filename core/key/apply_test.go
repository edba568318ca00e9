package key_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

func TestApply(t *testing.T) {
	const gold = `{"id":"gold","rate":100,"per":60,"quota_max":5,"quota_renewal_rate":3600,"access_rights":{"a":{"api_id":"a","versions":["1"]}}}`
	for name, c := range map[string]struct {
		session  string
		policies []string
		want     string
	}{
		"none": {`{"rate":1,"access_rights":{"a":{}}}`, nil, `{"rate":1,"access_rights":{"a":{}}}`},
		"one sets everything": {`{"rate":1,"alias":"x","access_rights":{"b":{}}}`, []string{gold},
			`{"alias":"x","rate":100,"per":60,"quota_max":5,"quota_renewal_rate":3600,"access_rights":{"a":{"limit":{"rate":100,"per":60,"quota_max":5,"quota_renewal_rate":3600},"api_id":"a","versions":["1"]}}}`},
		"the most generous counts": {`{}`, []string{
			`{"rate":100,"per":60,"quota_max":5,"max_query_depth":3,"access_rights":{"a":{"versions":["1"]}}}`,
			`{"rate":5,"per":1,"quota_max":-1,"max_query_depth":2,"access_rights":{"a":{"versions":["1","2"]},"b":null}}`},
			`{"rate":5,"per":1,"quota_max":-1,"max_query_depth":3,"access_rights":{
				"a":{"limit":{"rate":5,"per":1,"quota_max":-1,"max_query_depth":3},"versions":["1","2"]},"b":{"limit":{"rate":5,"per":1,"quota_max":-1,"max_query_depth":2}}}}`},
		"partitions": {`{"rate":1,"quota_max":9,"access_rights":{"b":{"api_id":"b"}}}`, []string{
			`{"rate":7,"per":1,"quota_max":3,"access_rights":{"a":{}},"partitions":{"rate_limit":true}}`},
			`{"quota_max":9,"rate":7,"per":1,"access_rights":{"b":{"api_id":"b"}}}`},
		"rights alone have the limits of the session": {`{"rate":2,"per":1,"quota_max":9}`, []string{
			`{"rate":7,"access_rights":{"a":{},"b":{}},"partitions":{"acl":true}}`},
			`{"rate":2,"per":1,"quota_max":9,"access_rights":{"a":{"limit":{"rate":2,"per":1,"quota_max":9}},"b":{"limit":{"rate":2,"per":1,"quota_max":9}}}}`},
		"limits of each API": {`{"rate":2}`, []string{
			`{"rate":7,"per":1,"access_rights":{"a":{"limit":{"rate":3,"per":1}},"b":{}},"partitions":{"per_api":true}}`},
			`{"access_rights":{"a":{"limit":{"rate":3,"per":1}},"b":{"limit":{"rate":7,"per":1}}}}`},
		"an inactive policy, tags and data": {`{"tags":["x"],"meta_data":{"k":1}}`, []string{
			`{"is_inactive":true,"tags":["x","y"],"meta_data":{"k":2,"m":3},"partitions":{"quota":true}}`},
			`{"tags":["x","y"],"meta_data":{"k":2,"m":3},"is_inactive":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			var list []*doc.Node
			for _, p := range c.policies {
				list = append(list, doctest.Node(t, p))
			}
			session := doctest.Node(t, c.session)
			if got := key.Apply(session, list); !got.Equal(doctest.Node(t, c.want)) {
				t.Errorf("%s", got.JSON())
			}
			if !session.Equal(doctest.Node(t, c.session)) {
				t.Error("the session of the caller has changed")
			}
		})
	}
}

func TestPolicies(t *testing.T) {
	for session, want := range map[string]int{
		`{}`: 0, `{"apply_policy_id":"x"}`: 1, `{"apply_policy_id":"x","apply_policies":["a","b"]}`: 2, `{"apply_policies":null}`: 0,
	} {
		if got := key.Policies(doctest.Node(t, session)); len(got) != want {
			t.Errorf("%s: %v", session, got)
		}
	}
}

// FuzzApply: policies can be applied to any stored session, and applying them twice changes
// nothing.
func FuzzApply(f *testing.F) {
	f.Add(`{"access_rights":{"a":{"versions":["1"]}},"tags":["x"]}`, `{"rate":1,"access_rights":{"a":{"limit":{"rate":2}}},"partitions":{"per_api":true}}`)
	f.Add(`{}`, `{"access_rights":{"a":null},"meta_data":{"a":1},"quota_max":-1}`)
	f.Fuzz(func(t *testing.T, session, policy string) {
		s, err := doc.ParseNode([]byte(session))
		p, more := doc.ParseNode([]byte(policy))
		if err != nil || more != nil || !s.Is(doc.TypeObject) || len(key.Table.Check(s)) > 0 {
			return
		}
		once := key.Apply(s, []*doc.Node{p})
		if twice := key.Apply(once, []*doc.Node{p}); len(key.Table.Check(once)) == 0 && !twice.Equal(once) {
			t.Errorf("%s, then %s", once.JSON(), twice.JSON())
		}
	})
}

// TestApplyMany: many policies add to the same lists, in linear time.
func TestApplyMany(t *testing.T) {
	growth.Linear(t, 5, func(size int) func() {
		var policies []*doc.Node
		for i := range size {
			var tags, urls []string
			for j := range 200 {
				tags = append(tags, fmt.Sprintf(`"%d-%d"`, i, j), `"all"`)
				urls = append(urls, fmt.Sprintf(`{"url":"/%d/%d"}`, i, j), `{"url":"/all"}`)
			}
			policies = append(policies, doctest.Node(t, `{"tags":[`+strings.Join(tags, ",")+`],"access_rights":{"a":{"allowed_urls":[`+strings.Join(urls, ",")+`]}}}`))
		}
		return func() {
			s := key.Apply(doctest.Node(t, `{"tags":["own"]}`), policies)
			tags, urls := s.Get("tags").Texts(), s.Get("access_rights", "a", "allowed_urls")
			if len(tags) != 200*size+2 || tags[0] != "own" || tags[2] != "all" || urls.Len() != 200*size+200 {
				t.Errorf("%d tags, %d addresses", len(tags), urls.Len())
			}
		}
	})
}

// TestLimits: each partition of limits sets members of its own, and callers cannot change
// which.
func TestLimits(t *testing.T) {
	seen := map[string]string{}
	for partition, members := range key.Limits() {
		for _, name := range members {
			if seen[name] != "" {
				t.Errorf("%s and %s set %s", seen[name], partition, name)
			}
			seen[name] = partition
		}
		members[0] = "changed"
	}
	for name, want := range map[string]string{"rate": "rate_limit", "per": "rate_limit", "quota_max": "quota", "quota_renewal_rate": "quota", "max_query_depth": "complexity", "alias": ""} {
		if seen[name] != want {
			t.Errorf("%s is set by %q, want %q", name, seen[name], want)
		}
	}
	for range key.Limits() {
		break // a caller may stop
	}
	for _, members := range key.Limits() {
		if members[0] == "changed" {
			t.Error("a caller has changed a partition")
		}
	}
}

// TestExpiry: when keys expire, and that a new key does not begin with an expiry in the past.
func TestExpiry(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for text, want := range map[string]struct {
		past  bool
		begun string
	}{
		`{}`:                       {false, `{}`},
		`{"expires":0}`:            {false, `{"expires":0}`},
		`{"expires":-1}`:           {false, `{"expires":-1}`},
		`{"expires":1}`:            {false, `{"expires":1}`}, // at once
		`{"expires":1699999999}`:   {true, `{"expires":0}`},
		`{"expires":1700000000}`:   {false, `{"expires":1700000000}`},
		`{"expires":"1699999999"}`: {false, `{"expires":"1699999999"}`},
	} {
		s := doctest.Node(t, text)
		past := key.Past(s, now)
		if key.Begin(s, now); past != want.past || string(s.JSON()) != want.begun {
			t.Errorf("%s: %t, %s", text, past, s.JSON())
		}
	}
	for want, texts := range map[int64][]string{0: {`{}`, `{"key_expires_in":0}`}, 60: {`{"key_expires_in":30}`, `{"key_expires_in":60}`, `{"key_expires_in":-1}`, `{}`}} {
		var policies []*doc.Node
		for _, text := range texts {
			policies = append(policies, doctest.Node(t, text))
		}
		if got := key.Lifetime(policies); got != want {
			t.Errorf("%q: %d", texts, got)
		}
	}
}
