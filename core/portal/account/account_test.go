package account_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// TestStates: the result of every event in every state; "": refused.
func TestStates(t *testing.T) {
	want := map[account.State]string{ // in the order of Events
		account.Inactive: "active inactive   gone",
		account.Active:   "active inactive active active gone",
		account.Gone:     "    ",
	}
	if len(want) != len(account.States) {
		t.Fatal(account.States)
	}
	for _, s := range account.States {
		have := ""
		for i, e := range account.Events {
			next, ok := s.On(e)
			if !ok && next != "" {
				t.Errorf("%s %s: %q", s, e, next)
			}
			if i > 0 {
				have += " "
			}
			have += string(next)
		}
		if have != want[s] {
			t.Errorf("%s: %q, want %q", s, have, want[s])
		}
	}
	if !(account.User{Active: true}).Can(account.LogIn) || (account.User{}).Can(account.LogIn) || (account.User{}).Can(account.Forget) {
		t.Error("who logs in")
	}
}

// TestSettle: the organisation and teams of users. Teams 10 and 11 belong to organisation 1,
// 20 and 21 to 2, 30 to 3; the first of each is the default one.
func TestSettle(t *testing.T) {
	belongs := func(id table.ID) table.ID { return id / 10 }
	type ids = []table.ID
	for name, c := range map[string]struct {
		before, sent account.User
		home         account.Home
		org          table.ID
		teams        ids
		refused      bool
	}{
		"an admin":                    {sent: account.User{Role: account.SuperAdmin, OrganisationID: 2, Teams: ids{20}}, home: account.Home{Organisation: 2, Team: 20}},
		"a developer without a place": {sent: account.User{Role: account.Member}, home: account.Home{Organisation: 1, Team: 10}, org: 1, teams: ids{10}},
		"in a team":                   {sent: account.User{Role: account.Member, Teams: ids{21}}, home: account.Home{Organisation: 2, Team: 20}, org: 2, teams: ids{21}},
		"in a foreign team":           {sent: account.User{Role: account.Member, Teams: ids{30}}, home: account.Home{Organisation: 2, Team: 20}, refused: true},
		"moves": {before: account.User{Base: table.Base{ID: 7}, OrganisationID: 1}, sent: account.User{Role: account.Member, Teams: ids{10, 11}},
			home: account.Home{Organisation: 2, Team: 20}, org: 2, teams: ids{20}},
		"moves into a team": {before: account.User{Base: table.Base{ID: 7}, OrganisationID: 1}, sent: account.User{Role: account.Member, Teams: ids{11, 21}},
			home: account.Home{Organisation: 2, Team: 20}, org: 2, teams: ids{21, 20}},
		"moves, and names a third organisation": {before: account.User{Base: table.Base{ID: 7}, OrganisationID: 1}, sent: account.User{Role: account.Member, Teams: ids{30}},
			home: account.Home{Organisation: 2, Team: 20}, refused: true},
		"stays, and names another organisation": {before: account.User{Base: table.Base{ID: 7}, OrganisationID: 2}, sent: account.User{Role: account.Member, Teams: ids{10}},
			home: account.Home{Organisation: 2, Team: 20}, refused: true},
	} {
		got, ok := c.sent.Settle(c.before, c.home, belongs)
		if ok == c.refused || ok && (got.OrganisationID != c.org || !slices.Equal(got.Teams, c.teams)) {
			t.Errorf("%s: %d %v %t", name, got.OrganisationID, got.Teams, ok)
		}
		if again, same := got.Settle(got, c.home, belongs); ok && (!same || !slices.Equal(again.Teams, got.Teams)) {
			t.Errorf("%s: settled again: %v %t", name, again.Teams, same)
		}
	}
}
