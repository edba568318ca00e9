package orgrequest_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/orgrequest"
)

// TestStates: the result of every event in every state; "": refused.
func TestStates(t *testing.T) {
	want := map[orgrequest.State][]orgrequest.State{ // in the order of Events
		orgrequest.Pending: {orgrequest.Approved, orgrequest.Rejected}, orgrequest.Approved: {"", ""}, orgrequest.Rejected: {"", ""},
	}
	for _, s := range orgrequest.States {
		for i, e := range orgrequest.Events {
			if next, ok := s.On(e); next != want[s][i] || ok != (next != "") {
				t.Errorf("%s %s: %q %t", s, e, next, ok)
			}
		}
	}
	if len(want) != len(orgrequest.States) {
		t.Error(orgrequest.States)
	}
}
