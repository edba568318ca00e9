package orgrequest_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/orgrequest"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
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

// TestRequest: a request has its user's address at that time, and one of a user is pending at
// most.
func TestRequest(t *testing.T) {
	var u account.User
	u.ID, u.Email = 4, "a@b.example"
	r := orgrequest.New(u)
	if r.UserID != 4 || r.Email != "a@b.example" || r.Status != orgrequest.Pending {
		t.Errorf("%+v", r)
	}
	tabletest.Bodies(t, r, true, map[string]string{
		`{}`: "Name can't be blank", `{"Name":"a\u0000b"}`: "Name is invalid", `{"Name":"Acme","Status":"approved","UserID":5,"CID":"2r7p8aUnkzby17hCJk8w2XvK3K6"}`: `{"Name":"Acme","Status":"pending","UserID":4,"CID":"2r7p8aUnkzby17hCJk8w2XvK3K6"}`,
	})
	pending := r.Table().Unique[0].Of
	if pending(r) == "" || pending(r) != pending(orgrequest.New(u)) {
		t.Error("a second request is accepted")
	}
	for _, s := range []orgrequest.State{orgrequest.Approved, orgrequest.Rejected} {
		if r.Status = s; pending(r) != "" {
			t.Errorf("a request that is %s keeps the user from another one", s)
		}
	}
}
