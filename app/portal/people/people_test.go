package people_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// world is a portal with the default organisation and another one.
type world struct {
	tools crud.Tools
	scope tenant.Scope
	ops   map[string]operation.Operation

	people   *people.Service
	followed []string // calls of followers
	refuses  error    // what a follower returns when a user leaves
}

// plain does not hash passwords, so that tests can read them.
type plain struct{ secret.Passwords }

func (plain) Hash(password string) (string, error) { return "hash of " + password, nil }
func (plain) Verify(hash, password string) bool    { return hash == "hash of "+password }
func (plain) Current(string) bool                  { return true }

func (w *world) leave(_ context.Context, _ tenant.Scope, u account.User, force bool) error {
	w.followed = append(w.followed, fmt.Sprintf("%d leaves, force %t", u.ID, force))
	if force {
		return nil
	}
	return w.refuses
}

func (w *world) follow(_ context.Context, _ store.Writer, _ crud.Stamp, before, after *account.User) error {
	switch {
	case before == nil:
		w.followed = append(w.followed, fmt.Sprintf("%d is made", after.ID))
	case after == nil:
		w.followed = append(w.followed, fmt.Sprintf("%d is deleted", before.ID))
	default:
		w.followed = append(w.followed, fmt.Sprintf("%d: %s, organisation %d to %d", after.ID, after.State(), before.OrganisationID, after.OrganisationID))
	}
	return nil
}

func open(t *testing.T) *world {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := tenant.Of("portal:test")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	keys, err := crypto.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{tools: crud.Tools{Store: db, Now: time.Now, NewID: func() string { n++; return fmt.Sprint(n) }}, scope: scope, ops: map[string]operation.Operation{}}
	w.people = &people.Service{Config: people.Config{Keys: keys, Passwords: plain{}, Signing: func(context.Context, store.Reader) (string, error) { return "signs", nil },
		Followers: []people.Follower{{Leave: w.leave, Follow: w.follow}}}}
	for _, r := range w.people.Registrations() {
		for _, o := range r.Registration().Operations(w.tools) {
			w.ops[o.ID] = o
		}
	}
	w.store(t, func(wr store.Writer) error { return people.Found(t.Context(), wr, w.at()) })
	w.call(t, "portal-organisations.create", nil, `{"Name":"Acme"}`)
	for _, email := range []string{"a@example.com", "b@example.com"} {
		w.store(t, func(wr store.Writer) error {
			_, err := portal.Add(t.Context(), wr, people.Users, w.at(), account.User{Email: email, Role: account.Member, OrganisationID: 2, Teams: []table.ID{2}})
			return err
		})
	}
	return w
}

func (w *world) at() crud.Stamp { return crud.Stamp{ID: w.tools.NewID(), Now: time.Now} }

func (w *world) store(t *testing.T, fn func(store.Writer) error) {
	t.Helper()
	if _, err := w.tools.Store.Update(t.Context(), w.scope, fn); err != nil {
		t.Fatal(err)
	}
}

func (w *world) call(t *testing.T, id string, path map[string]string, body string) any {
	t.Helper()
	out, err := w.try(t, id, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v", id, body, err)
	}
	return out
}

// try calls an operation as user 9, who need not exist.
func (w *world) try(t *testing.T, id string, path map[string]string, body string) (any, error) {
	t.Helper()
	id, force, _ := strings.Cut(id, "?")
	o := w.ops[id]
	c := &operation.Call{Spec: &o.Spec, Scope: w.scope, Principal: operation.Principal{ID: account.Principal(9)}, Path: path, Body: []byte(body)}
	if force != "" {
		c.Query = url.Values{"force": {"true"}}
	}
	return o.Do(t.Context(), c)
}

// refused checks that an operation fails with a text.
func (w *world) refused(t *testing.T, id string, path map[string]string, body, text string) {
	t.Helper()
	if _, err := w.try(t, id, path, body); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%s %s: %v, want %s", id, body, err, text)
	}
}

// in fails unless a user is in exactly an organisation and these teams.
func (w *world) in(t *testing.T, user string, org table.ID, teams ...table.ID) {
	t.Helper()
	if err := w.tools.Store.View(t.Context(), w.scope, func(r store.Reader) error {
		u, err := portal.Find(t.Context(), r, people.Users, user)
		if err == nil && (u.OrganisationID != org || !slices.Equal(u.Teams, teams)) {
			t.Errorf("user %s is in %d %v, want %d %v", user, u.OrganisationID, u.Teams, org, teams)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestTeams states who is in which team: the body replaces the members, no user is left
// without a team, and labels in place of numbers are ignored.
func TestTeams(t *testing.T) {
	w := open(t)
	org, team := map[string]string{"organisation_id": "2"}, map[string]string{"organisation_id": "2", "team_id": "3"}
	shown := w.call(t, "portal-teams.create", org, `{"Name":"Developers","Users":["1"]}`).(people.ShownTeam)
	if !slices.Equal(shown.Users, []string{"User#1"}) || shown.ID != 3 {
		t.Errorf("%+v", shown)
	}
	w.in(t, "1", 2, 2, 3)
	w.call(t, "portal-teams.update", team, `{"Users":["User#1"],"Name":"Builders"}`)
	w.in(t, "1", 2, 2, 3)
	w.call(t, "portal-teams.update", team, `{"Users":[2]}`)
	w.in(t, "1", 2, 2)
	w.in(t, "2", 2, 2, 3)
	w.call(t, "portal-teams.update", map[string]string{"organisation_id": "2", "team_id": "2"}, `{"Users":[1]}`)
	w.in(t, "2", 2, 3)
	w.call(t, "portal-teams.delete", team, "")
	w.in(t, "2", 2, 2)
	w.call(t, "portal-teams.update", map[string]string{"organisation_id": "2", "team_id": "2"}, `{"Users":null}`)
	w.in(t, "1", 2, 2)
}

// TestOrganisationIsDissolved states where users go when their organisation is deleted,
// and that its teams are deleted with it.
func TestOrganisationIsDissolved(t *testing.T) {
	w := open(t)
	shown := w.call(t, "portal-organisations.get", map[string]string{"organisation_id": "2"}, "").(people.ShownOrganisation)
	if len(shown.Users) != 2 || shown.Users[0].Email != "a@example.com" || len(shown.Teams) != 1 || !shown.Teams[0].Default || shown.Teams[0].Name != "Acme All users" {
		t.Errorf("%+v", shown)
	}
	w.call(t, "portal-organisations.delete", map[string]string{"organisation_id": "2"}, "")
	w.in(t, "1", 1, 1)
	w.in(t, "2", 1, 1)
	first := w.call(t, "portal-organisations.get", map[string]string{"organisation_id": "1"}, "").(people.ShownOrganisation)
	if len(first.Users) != 2 || len(first.Teams) != 1 {
		t.Errorf("%+v", first)
	}
	if err := w.tools.Store.View(t.Context(), w.scope, func(r store.Reader) error {
		n, err := r.Count(t.Context(), store.Query{Kind: account.TeamKind})
		if n != 1 {
			t.Errorf("%d teams are left", n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
