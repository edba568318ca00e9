package policy_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
)

func TestOwnership(t *testing.T) {
	known := policy.APIs{"mine": {}, "theirs": {Foreign: true}}
	for _, c := range []struct {
		ids   []string
		shown bool
	}{
		{nil, true}, {[]string{"gone"}, true}, {[]string{"theirs"}, false}, {[]string{"theirs", "gone"}, false}, {[]string{"gone", "theirs", "mine"}, true},
	} {
		if known.Shown(c.ids) != c.shown {
			t.Errorf("%v: shown %v", c.ids, !c.shown)
		}
	}
	for _, c := range []struct {
		ids, before []string
		allowed     bool
	}{
		{[]string{"mine", "gone"}, nil, true}, {[]string{"mine", "theirs"}, nil, false}, {[]string{"theirs"}, []string{"theirs"}, true}, {nil, []string{"theirs"}, true},
	} {
		if err := known.Allow(c.ids, c.before); (err == nil) != c.allowed || err != nil && fault.CodeOf(err) != policy.CodeNotOwned {
			t.Errorf("%v over %v: %v", c.ids, c.before, err)
		}
	}
	if err := known.Admit(make1(t, `{"name":"p","access_rights":{"theirs":{}}}`)); fault.KindOf(err) != fault.Unauthenticated {
		t.Error(err)
	}
}

// TestAdmit: a policy is shown to a caller who may see one of its APIs.
func TestAdmit(t *testing.T) {
	p, err := policy.Load([]byte(`{"_id":"1","access_rights":{"a":{},"b":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		apis policy.APIs
		ok   bool
	}{
		"sees one": {policy.APIs{"a": {}, "b": {Foreign: true}}, true}, "sees none": {policy.APIs{"a": {Foreign: true}, "b": {Foreign: true}}, false},
		"the other is gone": {policy.APIs{"a": {Foreign: true}}, false}, "all are gone": {policy.APIs{}, true},
	} {
		if err := c.apis.Admit(p); (err == nil) != c.ok || !c.ok && fault.CodeOf(err) != policy.CodeNotOwned {
			t.Errorf("%s: %v", name, err)
		}
	}
}
