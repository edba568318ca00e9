package account_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
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

// TestTables: the fields of users, newcomers and colleagues.
func TestTables(t *testing.T) {
	tabletest.Sound[account.User](t, `{"Email":"a@b.example","First":"A","Role":"consumer-admin"}`)
	tabletest.Sound[account.Newcomer](t, `{}`)
	tabletest.Sound[account.Colleague](t, `{"First":"A","Role":"consumer-admin"}`)
	const role = `"Role":"consumer-team-member"`
	tabletest.Bodies(t, account.User{}, true, map[string]string{
		`{"Email":"a@b.example",` + role + `}`:                                                                    "First can't be blank",
		`{"Email":"a@b.example","First":" ",` + role + `}`:                                                        "First can't be blank",
		`{"Email":"a@b@c","First":"A",` + role + `}`:                                                              "Email is invalid",
		`{"Email":"a@b.example","First":"A","Role":"admin"}`:                                                      "Role is invalid",
		`{"Email":"a@b.example","First":"A",` + role + `,"Organisation":{"ID":2},"Token":"t","PasswordHash":"h"}`: `{"OrganisationID":2,"Token":"","PasswordHash":""}`,
	})
	tabletest.Bodies(t, account.User{Base: table.Base{ID: 3}, Email: "a@b.example", Role: account.Member}, false, map[string]string{`{"Last":"L"}`: `{"First":"","Last":"L"}`, `{"Email":""}`: "Email can't be blank"})
	tabletest.Bodies(t, account.Colleague{First: "A", Role: account.Member}, false, map[string]string{`{"Role":"super-admin"}`: "Role is invalid", `{"Role":"consumer-admin"}`: `{"Role":"consumer-admin"}`})
	tabletest.Bodies(t, account.Newcomer{}, true, map[string]string{`{"Email":"a@b@c"}`: "Email is invalid", `{"Role":"super-admin","Code":"c"}`: `{"Code":"c"}`})
	unique := account.User{}.Table().Unique
	for i, u := range []account.User{{Email: " A@b.example"}, {SSOKey: "1@corp"}, {Token: "t"}} {
		for j := range unique {
			if got := unique[j].Of(u); (got != "") != (i == j) {
				t.Errorf("%s of %+v is %q", unique[j].Name, u, got)
			}
		}
	}
	if unique[0].Of(account.User{Email: "a@B.example "}) != "a@b.example" {
		t.Error("an address in another spelling is another one")
	}
}

// TestPrincipals: the name of a user in logs leads back to the user.
func TestPrincipals(t *testing.T) {
	if id, ok := account.OfPrincipal(account.Principal(17)); id != 17 || !ok {
		t.Error(id, ok)
	}
	for _, name := range []string{"", "17", "portal-user-", "portal-user-x", "portal-user--1", "service:ci", "5f1a0c5d8e3b2a1f00000003"} {
		if id, ok := account.OfPrincipal(name); ok {
			t.Errorf("%q is user %d", name, id)
		}
	}
}

// TestMails: a user gets the mails that the user has not turned off.
func TestMails(t *testing.T) {
	u := account.User{Unwanted: []string{"approved"}}
	if u.Wants("approved") || !u.Wants("rejected") {
		t.Error(u.Unwanted)
	}
}

// TestVouched: the password of an address that was not proved may be another person's.
func TestVouched(t *testing.T) {
	if u := (account.User{Unproven: true, PasswordHash: "h"}).Vouched(); u.Unproven || u.PasswordHash != "" {
		t.Errorf("%+v", u)
	}
	if u := (account.User{PasswordHash: "h"}).Vouched(); u.PasswordHash != "h" {
		t.Errorf("%+v", u)
	}
}

// TestTeams: joining, leaving and moving change a copy of the user's teams.
func TestTeams(t *testing.T) {
	u := account.User{OrganisationID: 1, Teams: append(make([]table.ID, 0, 8), 10, 11)}
	for name, c := range map[string]struct {
		got  account.User
		org  table.ID
		want []table.ID
	}{
		"joins":           {u.Join(12), 1, []table.ID{10, 11, 12}},
		"is in it":        {u.Join(11), 1, []table.ID{10, 11}},
		"leaves":          {u.Leave(10, 13), 1, []table.ID{11}},
		"leaves the last": {u.Leave(10, 13).Leave(11, 13), 1, []table.ID{13}},
		"was not in it":   {u.Leave(14, 13), 1, []table.ID{10, 11}},
		"moves":           {u.Move(2, 20), 2, []table.ID{20}},
		"joins another":   {u.Join(15), 1, []table.ID{10, 11, 15}},
	} {
		if c.got.OrganisationID != c.org || !slices.Equal(c.got.Teams, c.want) {
			t.Errorf("%s: %d %v", name, c.got.OrganisationID, c.got.Teams)
		}
	}
	if !slices.Equal(u.Teams, []table.ID{10, 11}) {
		t.Error("the user itself has changed:", u.Teams)
	}
}

// TestSight: who sees and who governs whom (docs/wire/portal-people.md#visibility). The first
// organisation is that of people without another one.
func TestSight(t *testing.T) {
	user := func(id table.ID, role string, org table.ID, teams ...table.ID) account.User {
		return account.User{Base: table.Base{ID: id}, Role: role, OrganisationID: org, Teams: teams}
	}
	admin, member := user(1, account.ConsumerAdmin, 2, 20), user(2, account.Member, 2, 20, 21)
	for name, c := range map[string]struct {
		u, other      account.User
		sees, governs bool
	}{
		"an admin of the organisation":  {admin, member, true, true},
		"a member":                      {member, admin, true, false},
		"oneself":                       {member, member, true, false},
		"another team":                  {user(3, account.ConsumerAdmin, 2, 22), member, false, true},
		"another organisation":          {user(3, account.ConsumerAdmin, 3, 20), member, false, false},
		"the first organisation":        {user(3, account.ConsumerAdmin, 1, 10), user(4, account.Member, 1, 10), false, false},
		"alone in the first":            {user(3, account.Member, 1, 10), user(3, account.Member, 1, 10), true, false},
		"an admin of the portal":        {user(3, account.ProviderAdmin, 2, 20), member, false, false},
		"of an admin of the portal":     {admin, user(3, account.SuperAdmin, 2, 20), false, false},
		"no organisation":               {user(3, account.ConsumerAdmin, 0), user(4, account.Member, 0), false, false},
		"two users that are not stored": {user(0, account.Member, 0), user(0, account.Member, 0), false, false},
	} {
		if c.u.Sees(c.other) != c.sees || c.u.Governs(c.other) != c.governs {
			t.Errorf("%s: sees %t, governs %t", name, c.u.Sees(c.other), c.u.Governs(c.other))
		}
	}
}
