package contract_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
)

// TestPortalWorlds makes 1,000 random calls by users and admins of two portals in one store,
// each connected with the dashboard of another organisation. A model predicts what each of them
// sees, counts and may change, and the final state.
func TestPortalWorlds(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("GATEHOUSE_E2E_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil { // 0 would be another world than the one to be repeated
			t.Fatal("GATEHOUSE_E2E_SEED:", err)
		}
	}
	t.Logf("repeat with GATEHOUSE_E2E_SEED=%d", seed)
	// One slow clock for both: if the clock is read often enough, work that the reader itself
	// runs counts as held for too long.
	clock := apptest.ClockOf(200 * time.Millisecond)
	s := newServiceWith(t, false, func() []app.Option { return []app.Option{app.WithClock(clock)} })
	keys, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		t.Fatal(err)
	}
	second, err := app.New(app.WithStore(s.Store()), app.WithKeys(keys), app.WithClock(clock), app.WithPasswords(crypto.Passwords{Iterations: 2}), app.WithFetcher(outside{}), app.WithLogger(slog.New(slog.DiscardHandler)),
		app.WithPortal(app.Portal{ID: "other", Shared: true, SigningKey: "signing-key", Local: []string{ownAddress}, Live: live.Settings{Delay: -1}}))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	worlds := []*portalWorld{newPortalWorld(t, rng, s, admin), newPortalWorld(t, rng, &service{App: second, made: 5}, other)}
	worlds[0].beside, worlds[1].beside = worlds[1], worlds[0]
	steps := 1000
	if os.Getenv("GATEHOUSE_E2E_LONG") != "" {
		steps = 20_000
	}
	did := map[string]int{}
	for step := range steps {
		w := worlds[rng.IntN(2)]
		what := w.act(t)
		did[what]++
		for i, each := range worlds {
			if each.check(t, step%10 == 9); t.Failed() {
				t.Fatalf("step %d, %s: portal %d is not what it should be", step, what, i)
			}
		}
	}
	t.Log(did)
	if len(did) < len(portalActs) {
		t.Errorf("of %d kinds of acts, %d were tried", len(portalActs), len(did))
	}
}

// modelUser is a user in the model.
type modelUser struct {
	ID             int
	CID            string
	Email          string
	Last           string
	OrganisationID int
	Role           string
	Active         bool

	teams  []int
	as     caller // a session
	asked  []int  // requests for organisations
	wanted string // the name in a pending request
}

// together reports whether the user's organisation shows its members to each other.
func (u *modelUser) together() bool { return u.OrganisationID != 1 }

func (u *modelUser) sees(o *modelUser) bool {
	return u == o || u.together() && u.OrganisationID == o.OrganisationID && slices.ContainsFunc(u.teams, func(t int) bool { return slices.Contains(o.teams, t) })
}

func (u *modelUser) governs(o *modelUser) bool {
	return u.Role == "consumer-admin" && u.together() && u.OrganisationID == o.OrganisationID
}

// portalWorld is a portal with its expected content.
type portalWorld struct {
	*service
	beside    *portalWorld
	rng       *rand.Rand
	dashboard caller
	users     map[int]*modelUser
	orgs      map[int][]int // teams by organisation, the default one first
	apps      map[int]*modelApp
	plan      string
	product   string
	named     int
}

// modelApp is an app: its owner, and whether it has a key.
type modelApp struct {
	owner int
	keyed bool
}

func newPortalWorld(t *testing.T, rng *rand.Rand, s *service, dashboard caller) *portalWorld {
	t.Helper()
	w := &portalWorld{service: s, rng: rng, dashboard: dashboard, users: map[int]*modelUser{}, orgs: map[int][]int{1: {1}}, apps: map[int]*modelApp{}}
	id := map[caller]string{admin: "orders-a", other: "orders-b"}[dashboard]
	if a := s.ask(t, request{method: "POST", path: "/api/apis", as: dashboard, body: fmt.Appendf(nil,
		`{"api_definition":{"name":%q,"api_id":%q,"active":true,"use_standard_auth":true,"proxy":{"listen_path":"/%s/","target_url":"http://orders.example"}}}`, id, id, id)}); a.status != http.StatusOK {
		t.Fatal(a)
	}
	provider := w.add(t, "/providers", fmt.Sprintf(`{"Name":"Dashboard","Configuration":{"MetaData":"{\"URL\":\"%s\",\"Secret\":\"%s\"}"}}`, ownAddress, dashboard))
	w.product = w.add(t, "/products", fmt.Sprintf(`{"Name":"Orders","ProviderID":%s,"APIDetails":[{"APIID":%q}]}`, provider, id))
	w.plan = w.add(t, "/plans", fmt.Sprintf(`{"Name":"Gold","ProviderID":%s,"RateLimit":10,"Per":1,"Quota":-1,"AutoApproveAccessRequests":true}`, provider))
	for range 3 {
		w.found(t)
	}
	for range 6 {
		w.groups(t)
	}
	for range 14 {
		w.hires(t)
	}
	return w
}

// anyOf returns a random number, or 0 when there is none.
func anyOf[V any](rng *rand.Rand, from map[int]V) int {
	all := slices.Sorted(maps.Keys(from))
	if len(all) == 0 {
		return 0
	}
	return all[rng.IntN(len(all))]
}

func (w *portalWorld) name(kind string) string {
	w.named++
	return fmt.Sprintf("%s-%s-%d", kind, w.dashboard[:2], w.named)
}

// wants makes a call, checks its status, and decodes the answer.
func (w *portalWorld) wants(t *testing.T, as caller, method, path, body string, status int, out any) bool {
	t.Helper()
	a := w.ask(t, request{method: method, path: path, as: as, body: []byte(body)})
	if a.status != status {
		t.Errorf("%s %s %s was answered %s, want %d", method, path, body, a, status)
		return false
	}
	if out != nil && status < http.StatusBadRequest {
		if err := json.Unmarshal(a.body, out); err != nil {
			t.Errorf("%s %s: %v in %s", method, path, err, a)
		}
	}
	return true
}

// rules is wants as the admin of the portal.
func (w *portalWorld) rules(t *testing.T, method, path, body string, status int, out any) bool {
	t.Helper()
	return w.wants(t, w.portalAdmin(t), method, "/portal-api"+path, body, status, out)
}

// portalActs are the actions, by name; actions of one person take the person.
var portalActs = map[string]func(*portalWorld, *testing.T){
	"make an organisation":   (*portalWorld).found,
	"make a team":            (*portalWorld).groups,
	"make a user":            (*portalWorld).hires,
	"move a user":            (*portalWorld).moves,
	"delete a user":          (*portalWorld).dismisses,
	"delete an organisation": (*portalWorld).dissolves,
	"delete a team":          (*portalWorld).disbands,
	"decide about a request": (*portalWorld).decides,
	"make an app":            (*portalWorld).makesApp,
	"delete an app":          (*portalWorld).dropsApp,
	"reach for the other":    (*portalWorld).reaches,
	"list people":            byPerson((*portalWorld).lists),
	"look at people":         byPerson((*portalWorld).looks),
	"change people":          byPerson((*portalWorld).changes),
	"remove people":          byPerson((*portalWorld).removes),
	"invite":                 byPerson((*portalWorld).invites),
	"look at oneself":        byPerson((*portalWorld).reflects),
	"ask for one":            byPerson((*portalWorld).asks),
	"list requests":          byPerson((*portalWorld).listsRequests),
}

// act runs one random action.
func (w *portalWorld) act(t *testing.T) string {
	names := slices.Sorted(maps.Keys(portalActs))
	name := names[w.rng.IntN(len(names))]
	portalActs[name](w, t)
	return name
}

// byPerson chooses a random active user with a session.
func byPerson(do func(*portalWorld, *testing.T, *modelUser)) func(*portalWorld, *testing.T) {
	return func(w *portalWorld, t *testing.T) {
		active := maps.Clone(w.users)
		maps.DeleteFunc(active, func(_ int, u *modelUser) bool { return !u.Active })
		u := w.users[anyOf(w.rng, active)]
		if u == nil {
			return
		}
		if u.as == "" || w.ask(t, request{method: "GET", path: ownPrefix + "session", as: u.as}).status == http.StatusUnauthorized { // time passes
			w.enter(t, u.Email)
			u.as, w.visits = w.visits, ""
		}
		do(w, t, u)
	}
}

func (w *portalWorld) found(t *testing.T) {
	if len(w.orgs) > 3 { // so few that they share members
		return
	}
	var made struct {
		ID    int
		Teams []struct{ ID int }
	}
	w.rules(t, "POST", "/organisations", fmt.Sprintf(`{"Name":%q}`, w.name("org")), http.StatusCreated, &made)
	w.orgs[made.ID] = []int{made.Teams[0].ID}
}

func (w *portalWorld) groups(t *testing.T) {
	org := anyOf(w.rng, w.orgs)
	if org == 1 || len(w.orgs[org]) > 4 {
		return
	}
	var made struct{ ID int }
	w.rules(t, "POST", fmt.Sprintf("/organisations/%d/teams", org), fmt.Sprintf(`{"Name":%q}`, w.name("team")), http.StatusCreated, &made)
	w.orgs[org] = append(w.orgs[org], made.ID)
}

// some returns some teams of an organisation, at least one.
func (w *portalWorld) some(org int) []int {
	teams := slices.Clone(w.orgs[org])
	w.rng.Shuffle(len(teams), func(i, j int) { teams[i], teams[j] = teams[j], teams[i] })
	return teams[:1+w.rng.IntN(min(2, len(teams)))]
}

func list(numbers []int) string { return strings.ReplaceAll(fmt.Sprint(numbers), " ", ",") }

func (w *portalWorld) role() string {
	return []string{"consumer-admin", "consumer-team-member"}[w.rng.IntN(2)]
}

func (w *portalWorld) hires(t *testing.T) {
	if len(w.users) > 25 {
		return
	}
	org, role := anyOf(w.rng, w.orgs), w.role()
	u := &modelUser{Email: w.name("user") + "@example.com", teams: w.some(org)}
	if w.rules(t, "POST", "/users", fmt.Sprintf(`{"Email":%q,"First":"Ada","Password":%q,"Active":true,"Role":%q,"OrganisationID":%d,"Teams":%s}`, u.Email, goodPassword, role, org, list(u.teams)), http.StatusCreated, u) {
		w.users[u.ID] = u
	}
}

func (w *portalWorld) moves(t *testing.T) {
	u := w.users[anyOf(w.rng, w.users)]
	if u == nil {
		return
	}
	org, role := anyOf(w.rng, w.orgs), w.role()
	teams := w.some(org)
	if !w.rules(t, "PUT", fmt.Sprintf("/users/%d", u.ID), fmt.Sprintf(`{"OrganisationID":%d,"Teams":%s,"Role":%q}`, org, list(teams), role), http.StatusOK, nil) {
		return
	}
	if u.OrganisationID != org && !slices.Contains(teams, w.orgs[org][0]) { // new members join the default team
		teams = append(teams, w.orgs[org][0])
	}
	u.OrganisationID, u.teams, u.Role = org, teams, role
}

func (w *portalWorld) dismisses(t *testing.T) {
	u := w.users[anyOf(w.rng, w.users)]
	if u == nil || len(w.users) < 13 {
		return
	}
	w.rules(t, "DELETE", fmt.Sprintf("/users/%d", u.ID), "", http.StatusOK, nil)
	delete(w.users, u.ID)
	maps.DeleteFunc(w.apps, func(_ int, a *modelApp) bool { return a.owner == u.ID })
}

func (w *portalWorld) dissolves(t *testing.T) {
	org := anyOf(w.rng, w.orgs)
	if org == 1 {
		w.rules(t, "DELETE", "/organisations/1", "", http.StatusUnprocessableEntity, nil)
		return
	}
	if len(w.orgs) < 3 {
		return
	}
	w.rules(t, "DELETE", fmt.Sprintf("/organisations/%d", org), "", http.StatusOK, nil)
	for _, u := range w.users {
		if u.OrganisationID == org {
			u.OrganisationID, u.teams = 1, []int{1}
		}
	}
	delete(w.orgs, org)
}

func (w *portalWorld) disbands(t *testing.T) {
	org := anyOf(w.rng, w.orgs)
	if len(w.orgs[org]) < 2 {
		return
	}
	home, team := w.orgs[org][0], w.orgs[org][1]
	w.rules(t, "DELETE", fmt.Sprintf("/organisations/%d/teams/%d", org, team), "", http.StatusOK, nil)
	w.orgs[org] = slices.Delete(w.orgs[org], 1, 2)
	for _, u := range w.users {
		if u.teams = slices.DeleteFunc(u.teams, func(t int) bool { return t == team }); len(u.teams) == 0 {
			u.teams = []int{home}
		}
	}
}

// decides approves or rejects a pending request.
func (w *portalWorld) decides(t *testing.T) {
	for _, id := range slices.Sorted(maps.Keys(w.users)) {
		u := w.users[id]
		if u.wanted == "" {
			continue
		}
		request := fmt.Sprintf("/organisation_requests/%d", u.asked[len(u.asked)-1])
		u.wanted = ""
		if w.rng.IntN(2) == 0 {
			w.rules(t, "PUT", request+"/reject", "", http.StatusOK, nil)
			return
		}
		w.rules(t, "PUT", request+"/approve", "", http.StatusOK, nil)
		var shown struct{ OrganisationID int }
		w.rules(t, "GET", request, "", http.StatusOK, &shown)
		var made struct{ Teams []struct{ ID int } }
		w.rules(t, "GET", fmt.Sprintf("/organisations/%d", shown.OrganisationID), "", http.StatusOK, &made)
		w.orgs[shown.OrganisationID] = []int{made.Teams[0].ID}
		u.OrganisationID, u.teams, u.Role = shown.OrganisationID, []int{made.Teams[0].ID}, "consumer-admin"
		return
	}
}

func (w *portalWorld) makesApp(t *testing.T) {
	owner := anyOf(w.rng, w.users)
	if owner == 0 || len(w.apps) > 15 {
		return
	}
	var made struct{ ID int }
	if !w.rules(t, "POST", "/apps", fmt.Sprintf(`{"Name":%q,"UserID":%d}`, w.name("app"), owner), http.StatusCreated, &made) {
		return
	}
	a := &modelApp{owner: owner, keyed: w.rng.IntN(2) == 0}
	w.apps[made.ID] = a
	if a.keyed {
		w.rules(t, "PUT", fmt.Sprintf("/apps/%d/provision", made.ID), fmt.Sprintf(`{"PlanID":%s,"ProductIDs":[%s]}`, w.plan, w.product), http.StatusOK, nil)
	}
}

func (w *portalWorld) dropsApp(t *testing.T) {
	if app := anyOf(w.rng, w.apps); app != 0 {
		w.rules(t, "DELETE", fmt.Sprintf("/apps/%d", app), "", http.StatusOK, nil)
		delete(w.apps, app)
	}
}

// reaches names a user of the other portal by CID, and sends tokens of the other portal:
// nothing is found, and access is denied.
func (w *portalWorld) reaches(t *testing.T) {
	u := w.beside.users[anyOf(w.rng, w.beside.users)]
	if u == nil {
		return
	}
	w.rules(t, "GET", "/users/"+u.CID, "", http.StatusNotFound, nil)
	w.rules(t, "DELETE", "/users/"+u.CID, "", http.StatusNotFound, nil)
	w.rules(t, "PUT", "/users/"+u.CID, `{"Last":"Reached"}`, http.StatusUnprocessableEntity, nil)
	w.wants(t, w.beside.portalAdmin(t), "GET", "/portal-api/users", "", http.StatusUnauthorized, nil)
	if u.as != "" {
		w.wants(t, u.as, "GET", ownPrefix+"users", "", http.StatusUnauthorized, nil)
		w.wants(t, u.as, "PUT", ownPrefix+"profile", `{"Last":"Reached"}`, http.StatusUnauthorized, nil)
	}
	if mine := w.users[anyOf(w.rng, w.users)]; mine != nil && mine.as != "" {
		w.wants(t, mine.as, "GET", "/portal-api/users", "", http.StatusUnauthorized, nil)
	}
}

// seen returns the numbers of the people whom a user sees.
func (w *portalWorld) seen(u *modelUser) (out []int) {
	for _, id := range slices.Sorted(maps.Keys(w.users)) {
		if u.sees(w.users[id]) {
			out = append(out, id)
		}
	}
	return out
}

func (w *portalWorld) lists(t *testing.T, u *modelUser) {
	want := w.seen(u)
	for page, size := range map[int]int{-1: 20, 1: 2, 2: 2, 99: 1} {
		var shown []struct {
			ID    int
			Email string
			Teams []int
		}
		w.wants(t, u.as, "GET", fmt.Sprintf("%susers?page=%d&per_page=%d", ownPrefix, page, size), "", http.StatusOK, &shown)
		ids := []int{}
		for _, m := range shown {
			ids = append(ids, m.ID)
			if o := w.users[m.ID]; o == nil || m.Email != o.Email || !slices.Equal(sortedNumbers(m.Teams), sortedNumbers(o.teams)) {
				t.Errorf("%d sees %+v, want %+v", u.ID, m, o)
			}
		}
		whole, from := len(want), (page-1)*size
		switch n := len(ids); {
		case page == -1 && !slices.Equal(sortedNumbers(ids), want):
			t.Errorf("%+v sees %v, want %v", *u, ids, want)
		case page > 0 && n != max(0, min(size, whole-from)):
			t.Errorf("%+v: page %d of %d has %v of %v", *u, page, size, ids, want)
		}
	}
}

func sortedNumbers(list []int) []int {
	out := slices.Clone(list)
	slices.Sort(out)
	return out
}

// anybody returns a random user, named by number or CID.
func (w *portalWorld) anybody() (*modelUser, string) {
	u := w.users[anyOf(w.rng, w.users)]
	if w.rng.IntN(4) == 0 {
		return u, ownPrefix + "users/" + u.CID
	}
	return u, fmt.Sprint(ownPrefix, "users/", u.ID)
}

func (w *portalWorld) looks(t *testing.T, u *modelUser) {
	o, path := w.anybody()
	if !u.sees(o) {
		w.wants(t, u.as, "GET", path, "", http.StatusNotFound, nil)
	} else {
		var shown struct{ Email string }
		if w.wants(t, u.as, "GET", path, "", http.StatusOK, &shown) && shown.Email != o.Email {
			t.Errorf("%s is %s, want %s", path, shown.Email, o.Email)
		}
	}
	if stranger := w.beside.users[anyOf(w.rng, w.beside.users)]; stranger != nil {
		w.wants(t, u.as, "GET", ownPrefix+"users/"+stranger.CID, "", http.StatusNotFound, nil)
	}
	w.wants(t, u.as, "GET", fmt.Sprint(ownPrefix, "users/", 999), "", http.StatusNotFound, nil)
}

func (w *portalWorld) changes(t *testing.T, u *modelUser) {
	o, path := w.anybody()
	name, role := w.name("last"), w.role()
	body := fmt.Sprintf(`{"Last":%q,"Role":%q}`, name, role)
	switch {
	case !u.sees(o):
		w.wants(t, u.as, "PUT", path, body, http.StatusUnprocessableEntity, nil)
	case !u.governs(o):
		w.wants(t, u.as, "PUT", path, body, http.StatusForbidden, nil)
	case w.rng.IntN(2) == 0: // into a team of another organisation
		org := anyOf(w.rng, w.orgs)
		teams := w.some(org)
		if org != o.OrganisationID {
			w.wants(t, u.as, "PUT", path, `{"Teams":`+list(teams)+`}`, http.StatusUnprocessableEntity, nil)
			return
		}
		w.wants(t, u.as, "PUT", path, `{"Teams":`+list(teams)+`}`, http.StatusOK, nil)
		o.teams = teams
	case u == o && role != u.Role && !w.othersLead(o):
		w.wants(t, u.as, "PUT", path, body, http.StatusUnprocessableEntity, nil)
	default:
		w.wants(t, u.as, "PUT", path, body, http.StatusOK, nil)
		o.Last, o.Role = name, role
	}
}

// othersLead reports whether the organisation of u has another active admin.
func (w *portalWorld) othersLead(u *modelUser) bool {
	for _, o := range w.users {
		if o != u && o.Active && o.OrganisationID == u.OrganisationID && o.Role == u.Role {
			return true
		}
	}
	return false
}

func (w *portalWorld) removes(t *testing.T, u *modelUser) {
	o, path := w.anybody()
	switch {
	case !u.sees(o):
		w.wants(t, u.as, "DELETE", path, "", http.StatusNotFound, nil)
	case !u.governs(o) || u == o:
		w.wants(t, u.as, "DELETE", path, "", http.StatusForbidden, nil)
	default:
		w.wants(t, u.as, "DELETE", path, "", http.StatusOK, nil)
		o.OrganisationID, o.teams, o.Role = 1, []int{1}, "consumer-team-member"
		for _, a := range w.apps { // the apps stay with the organisation
			if a.owner == o.ID {
				a.owner = u.ID
			}
		}
	}
}

func (w *portalWorld) invites(t *testing.T, u *modelUser) {
	fresh := &modelUser{Email: w.name("guest") + "@example.com"}
	body := fmt.Sprintf(`{"Email":%q,"First":"Grace"}`, fresh.Email)
	if !u.together() || u.Role != "consumer-admin" {
		w.wants(t, u.as, "POST", ownPrefix+"users/invite", body, http.StatusForbidden, nil)
		return
	}
	if w.wants(t, u.as, "POST", ownPrefix+"users/invite", body, http.StatusCreated, fresh) {
		fresh.teams = []int{w.orgs[u.OrganisationID][0]}
		w.users[fresh.ID] = fresh
	}
	if o := w.users[anyOf(w.rng, w.users)]; !u.governs(o) || o.Active { // a user whom the caller must not learn about
		w.wants(t, u.as, "POST", ownPrefix+"users/invite", fmt.Sprintf(`{"Email":%q,"First":"Grace"}`, o.Email), http.StatusUnprocessableEntity, nil)
	}
}

func (w *portalWorld) reflects(t *testing.T, u *modelUser) {
	u.Last = w.name("last")
	var shown struct{ Email, Last string }
	w.wants(t, u.as, "PUT", ownPrefix+"profile", fmt.Sprintf(`{"Last":%q,"OrganisationID":2,"Role":"super-admin","Teams":[1]}`, u.Last), http.StatusOK, nil)
	if w.wants(t, u.as, "GET", ownPrefix+"profile", "", http.StatusOK, &shown) && (shown.Email != u.Email || shown.Last != u.Last) {
		t.Errorf("%+v sees itself as %+v", *u, shown)
	}
}

func (w *portalWorld) asks(t *testing.T, u *modelUser) {
	name := w.name("wanted")
	status := http.StatusCreated
	if u.OrganisationID != 1 || u.wanted != "" {
		status = http.StatusUnprocessableEntity
	}
	var made struct{ ID int }
	if w.wants(t, u.as, "POST", ownPrefix+"organisation-requests", fmt.Sprintf(`{"Name":%q}`, name), status, &made) && status == http.StatusCreated {
		u.asked, u.wanted = append(u.asked, made.ID), name
	}
}

func (w *portalWorld) listsRequests(t *testing.T, u *modelUser) {
	var shown []struct{ ID int }
	w.wants(t, u.as, "GET", ownPrefix+"organisation-requests?page=-1", "", http.StatusOK, &shown)
	ids := []int{}
	for _, r := range shown {
		ids = append(ids, r.ID)
	}
	if !slices.Equal(sortedNumbers(ids), sortedNumbers(u.asked)) {
		t.Errorf("%+v has the requests %v, want %v", *u, ids, u.asked)
	}
}

// check compares a portal with the model: people each time, and everything else now and then.
func (w *portalWorld) check(t *testing.T, whole bool) {
	t.Helper()
	var shown []modelUser
	w.rules(t, "GET", "/users?page=-1", "", http.StatusOK, &shown)
	n := 0
	for _, u := range shown {
		if u.OrganisationID == 0 { // the admin
			continue
		}
		n++
		if want := w.users[u.ID]; want == nil || u.Email != want.Email || u.Last != want.Last || u.OrganisationID != want.OrganisationID || u.Role != want.Role || u.Active != want.Active || u.CID != want.CID {
			t.Errorf("there is %+v, want %+v", u, want)
		}
	}
	if n != len(w.users) {
		t.Errorf("there are %d people, want %d", n, len(w.users))
	}
	if !whole {
		return
	}
	for _, u := range w.users {
		var shown struct{ Teams []struct{ ID int } }
		w.rules(t, "GET", fmt.Sprintf("/users/%d", u.ID), "", http.StatusOK, &shown)
		teams := []int{}
		for _, team := range shown.Teams {
			teams = append(teams, team.ID)
		}
		if !slices.Equal(sortedNumbers(teams), sortedNumbers(u.teams)) {
			t.Errorf("%+v is in the teams %v", *u, teams)
		}
	}
	var orgs []struct{ ID int }
	w.rules(t, "GET", "/organisations?page=-1", "", http.StatusOK, &orgs)
	ids := []int{}
	for _, o := range orgs {
		ids = append(ids, o.ID)
	}
	if !slices.Equal(sortedNumbers(ids), slices.Sorted(maps.Keys(w.orgs))) {
		t.Errorf("there are the organisations %v, want %v", ids, w.orgs)
	}
	var apps []struct{ ID, UserID int }
	w.rules(t, "GET", "/apps?page=-1", "", http.StatusOK, &apps)
	keys := 0
	for _, a := range apps {
		if want := w.apps[a.ID]; want == nil || want.owner != a.UserID {
			t.Errorf("there is the app %+v, want %+v", a, want)
		} else if want.keyed {
			keys++
		}
	}
	var kept struct{ Keys []any }
	w.wants(t, w.dashboard, "GET", "/api/keys/detailed?p=-1", "", http.StatusOK, &kept)
	if len(apps) != len(w.apps) || len(kept.Keys) != keys {
		t.Errorf("there are %d apps and %d keys, want %d and %d", len(apps), len(kept.Keys), len(w.apps), keys)
	}
}
