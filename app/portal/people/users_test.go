package people_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

func user(id string) map[string]string { return map[string]string{"user_id": id} }

// stored returns a user from the store.
func (w *world) stored(t *testing.T, id string) (u account.User) {
	t.Helper()
	if err := w.tools.Store.View(t.Context(), w.scope, func(r store.Reader) (err error) {
		u, err = portal.Find(t.Context(), r, people.Users, id)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return u
}

// TestUsers states where users belong, what is stored of a password, and what answers
// contain.
func TestUsers(t *testing.T) {
	w := open(t)
	shown := w.call(t, "portal-users.create", nil, `{"Email":" Ada@Example.com ","First":"Ada","Password":"secret","Active":"true"}`).(people.ShownUser)
	if shown.ID != 3 || shown.Email != "Ada@Example.com" || shown.Role != account.Member || shown.Provider != "password" || !shown.Active || shown.Organisation != "Default Organisation" ||
		len(*shown.Teams) != 1 || (*shown.Teams)[0].Name != "Default Organisation All users" || shown.JWTToken == "" || shown.APITokenCreatedAt == "" {
		t.Errorf("%+v", shown)
	}
	u := w.stored(t, "3")
	if u.PasswordHash != "hash of secret" || u.Password != "" || account.Sign("signs", u.Token) != shown.JWTToken {
		t.Errorf("%+v", u)
	}
	text, err := json.Marshal(shown)
	if err != nil || strings.Contains(string(text), "secret") || strings.Contains(string(text), "hash of") {
		t.Errorf("%s %v", text, err)
	}
	w.call(t, "portal-users.update", user("3"), `{"Organisation":{"ID":"2"}}`)
	w.in(t, "3", 2, 2)
	w.call(t, "portal-teams.create", map[string]string{"organisation_id": "2"}, `{"Name":"Developers"}`)
	w.call(t, "portal-users.update", user("3"), `{"Teams":["3"]}`)
	w.in(t, "3", 2, 3)
	w.call(t, "portal-users.update", user("3"), `{"Teams":null}`)
	w.in(t, "3", 2, 2)
	w.call(t, "portal-users.update", user("3"), `{"Teams":[3,2],"OrganisationID":1}`)
	w.in(t, "3", 1, 1)
	admin := w.call(t, "portal-users.update", user("3"), `{"Role":"provider-admin"}`).(people.ShownUser)
	if admin.OrganisationID != 0 || admin.Teams != nil || admin.Organisation != "" {
		t.Errorf("%+v", admin)
	}
	w.call(t, "portal-users.update", user("3"), `{"Role":"consumer-admin","Password":"another"}`)
	w.in(t, "3", 1, 1)
	if u := w.stored(t, "3"); u.PasswordHash != "hash of another" {
		t.Error(u.PasswordHash)
	}
	list := w.call(t, "portal-users.list", nil, "")
	if text, _ := json.Marshal(list); !strings.Contains(string(text), "Ada@Example.com") || strings.Contains(string(text), "Token") {
		t.Errorf("%s", text)
	}
}

// TestUserProblems states which users are refused, and with which texts.
func TestUserProblems(t *testing.T) {
	w := open(t)
	for body, text := range map[string]string{
		`{}`:                                    "Email can't be blank",
		`{"Email":"a b","First":"A"}`:           "Email is invalid",
		`{"Email":"x@example.com"}`:             "First can't be blank",
		`{"Email":"A@example.com","First":"A"}`: "Email has already been taken",
		`{"Email":"x@example.com","First":"A","Role":"root"}`:                                  "Role is invalid",
		`{"Email":"x@example.com","First":"A","OrganisationID":99}`:                            "OrganisationID is invalid",
		`{"Email":"x@example.com","First":"A","Teams":[99]}`:                                   "Teams is invalid",
		`{"Email":"x@example.com","First":"A","Teams":[2]}`:                                    "Teams is invalid",
		`{"Email":"x@example.com","First":"A","Password":"short"}`:                             "Password must have at least 6 characters",
		`{"Email":"x@example.com","First":"A","Password":"` + strings.Repeat("x", 1025) + `"}`: "Password is too long",
	} {
		w.refused(t, "portal-users.create", nil, body, text)
	}
	w.call(t, "portal-users.update", user("1"), `{"First":""}`) // as before: bootstrap requires no name
	w.call(t, "portal-users.update", user("1"), `{"First":"A"}`)
	w.followed = nil
	w.refused(t, "portal-users.update", user("1"), `{"First":""}`, "First can't be blank")
	w.refused(t, "portal-users.update", user("1"), `{"First":" "}`, "First can't be blank")
	w.refused(t, "portal-users.update", user("1"), `{"Role":""}`, "Role can't be blank")
	w.refused(t, "portal-users.update", user("1"), `{"Teams":[1]}`, "Teams is invalid")
	w.refused(t, "portal-users.update", user("77"), `{"First":"X"}`, "not found")
	if len(w.followed) != 0 {
		t.Error(w.followed)
	}
}

// TestLastAdmin states that a portal keeps an active super-admin, and that no admin can
// delete the own account.
func TestLastAdmin(t *testing.T) {
	w := open(t)
	root := func(email string) {
		w.call(t, "portal-users.create", nil, `{"Email":"`+email+`","First":"R","Role":"super-admin","Active":true}`)
	}
	root("r1@example.com")
	for _, body := range []string{`{"Role":"provider-admin"}`, `{"Active":false}`} {
		w.refused(t, "portal-users.update", user("3"), body, "needs an active super-admin")
	}
	w.refused(t, "portal-users.delete", user("3"), "", "needs an active super-admin")
	w.refused(t, "portal-users.delete?force", user("3"), "", "needs an active super-admin")
	w.call(t, "portal-users.update", user("3"), `{"First":"Renamed"}`)
	root("r2@example.com")
	w.call(t, "portal-users.update", user("4"), `{"Active":false}`)
	w.refused(t, "portal-users.delete", user("3"), "", "needs an active super-admin")
	w.call(t, "portal-users.update", user("4"), `{"Active":true}`)
	w.call(t, "portal-users.delete", user("3"), "")
	for i := range 5 {
		w.call(t, "portal-users.create", nil, `{"Email":"n`+string(rune('0'+i))+`@example.com","First":"N"}`)
	}
	if _, err := w.try(t, "portal-users.delete", user("9"), ""); fault.CodeOf(err) != people.CodeCaller {
		t.Error(err)
	}
}

// TestFollowers states when followers of users are called: before a user leaves, and in
// the unit of work of each change, including changes through organisations and teams.
func TestFollowers(t *testing.T) {
	w := open(t)
	said := func(want ...string) {
		t.Helper()
		if !slices.Equal(w.followed, want) {
			t.Errorf("%q, want %q", w.followed, want)
		}
		w.followed = nil
	}
	w.call(t, "portal-users.create", nil, `{"Email":"x@example.com","First":"X","OrganisationID":2,"Active":true}`)
	said("3 is made")
	w.call(t, "portal-users.update", user("3"), `{"Active":false}`)
	said("3: inactive, organisation 2 to 2")
	w.call(t, "portal-organisations.delete", map[string]string{"organisation_id": "2"}, "")
	said("1: inactive, organisation 2 to 1", "2: inactive, organisation 2 to 1", "3: inactive, organisation 2 to 1")
	w.refuses = errors.New("the dashboard is away")
	w.refused(t, "portal-users.delete", user("3"), "", "the dashboard is away")
	said("3 leaves, force false")
	w.call(t, "portal-users.delete?force", user("3"), "")
	said("3 leaves, force true", "3 is deleted")
	w.refused(t, "portal-users.get", user("3"), "", "not found")
	if u := w.stored(t, "1"); !slices.Equal(u.Teams, []table.ID{1}) {
		t.Error(u.Teams)
	}
}
