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
