package contract_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// livePlans are the plans for portal users on their own behalf. A plan of an operation
// with a session stores the caller in the service: see visit.
var livePlans = map[string]plan{
	"portal-live.form":     {path: opened},
	"portal-live.register": {path: opened, bodies: fresh(applying)},
	"portal-live.accept":   {path: awaited, bodies: accepts},
	"portal-live.login":    {path: developer, bodies: entries},
	"portal-live.forgot":   {path: developer, bodies: asksForMail},
	"portal-live.reset":    {path: forgetful, bodies: remembers},

	"portal-live.session":        {path: visiting},
	"portal-live.logout":         {path: visiting},
	"portal-live.password":       {path: visiting, bodies: fixed(`{"CurrentPassword":"` + goodPassword + `","Password":"` + goodPassword + `2"}`)},
	"portal-live.profile":        {path: visiting},
	"portal-live.update-profile": {path: visiting, bodies: fixed(`{"First":"Grace"}`, `{"Last":"Hopper","CustomAttributes":[]}`)},
	"portal-live.leave":          {path: visiting, bodies: fixed(`{"CurrentPassword":"` + goodPassword + `"}`)},
	"portal-live.requests":       {path: visiting, query: portalLists},
	"portal-live.ask":            {path: visiting, bodies: fresh(company)},

	"portal-live.users":       {path: colleagues, query: portalLists},
	"portal-live.user":        {path: colleagues},
	"portal-live.update-user": {path: colleagues, bodies: fixed(`{"Role":"consumer-admin"}`, `{"First":"Grace","Last":"Hopper","Role":"consumer-team-member"}`)},
	"portal-live.remove-user": {path: colleagues},
	"portal-live.invite":      {path: governing, bodies: fresh(newcomer)},

	"portal-users.archive":       {path: person},
	"portal-invitations.create":  {path: opened, bodies: fresh(newcomer)},
	"portal-invite-codes.list":   {path: welcome, query: portalLists},
	"portal-invite-codes.create": {bodies: fresh(welcoming)},
	"portal-invite-codes.get":    {path: welcome},
	"portal-invite-codes.update": {path: welcome, bodies: fresh(welcoming)},
	"portal-invite-codes.delete": {path: welcome},

	"portal-organisation-requests.list":    {path: asked, query: portalLists},
	"portal-organisation-requests.get":     {path: asked},
	"portal-organisation-requests.approve": {path: asked},
	"portal-organisation-requests.reject":  {path: asked},
}

// ownPrefix is the prefix of the paths in livePlans that need no admin.
const ownPrefix = "/portal/api/"

// visit is the prefix of a browser credential: session token and CSRF token follow.
const visit = "visit "

// browses adds the session of a browser to a request.
func browses(h *http.Request, as caller) {
	token, proof, _ := strings.Cut(strings.TrimPrefix(string(as), visit), " ")
	h.AddCookie(&http.Cookie{Name: "portal-session", Value: token})
	h.Header.Set("X-CSRF-Token", proof)
}

// visitor returns a user with a session.
func (s *service) visitor(t testing.TB) caller {
	t.Helper()
	if s.visits == "" {
		visiting(t, s)
	}
	return s.visits
}

// enter logs a user in, who becomes the caller.
func (s *service) enter(t testing.TB, address string) {
	t.Helper()
	a := s.ask(t, request{method: "POST", path: ownPrefix + "login", body: fmt.Appendf(nil, `{"Email":%q,"Password":%q}`, address, goodPassword)})
	var answer struct{ CSRFToken string }
	if err := json.Unmarshal(a.body, &answer); err != nil || a.status != http.StatusOK || a.token == "" {
		t.Fatal(a)
	}
	s.visits = caller(visit + a.token + " " + answer.CSRFToken)
}

// goodPassword is valid under the strictest rules that a portal can have: 128 characters
// of each kind. Random requests change the rules.
var goodPassword = strings.Repeat("aA1!", 128)

// hire creates a user who can log in.
func (s *service) hire(t testing.TB, more string) (id, address string) {
	t.Helper()
	address = fmt.Sprintf("developer%d@example.com", s.next())
	return s.add(t, "/users", fmt.Sprintf(`{"Email":%q,"First":"Ada","Password":%q,"Active":true%s}`, address, goodPassword, more)), address
}

func developer(t testing.TB, s *service) map[string]string {
	t.Helper()
	_, address := s.hire(t, "")
	return map[string]string{"email": address}
}

func visiting(t testing.TB, s *service) map[string]string {
	t.Helper()
	s.enter(t, developer(t, s)["email"])
	return nil
}

// governing makes the admin of a new organisation the caller.
func governing(t testing.TB, s *service) map[string]string {
	t.Helper()
	s.govern(t)
	return nil
}

func (s *service) govern(t testing.TB) (organisation string) {
	t.Helper()
	organisation = s.add(t, "/organisations", company(s.next(), ""))
	_, address := s.hire(t, `,"Role":"consumer-admin","OrganisationID":`+organisation)
	s.enter(t, address)
	return organisation
}

// colleagues makes the admin of an organisation with another member the caller.
func colleagues(t testing.TB, s *service) map[string]string {
	t.Helper()
	id, _ := s.hire(t, `,"OrganisationID":`+s.govern(t))
	return map[string]string{"user_id": id}
}

// asked creates a request for an organisation.
func asked(t testing.TB, s *service) map[string]string {
	t.Helper()
	visiting(t, s)
	a := s.ask(t, request{method: "POST", path: ownPrefix + "organisation-requests", as: s.visits, body: []byte(company(s.next(), ""))})
	var made struct{ ID json.Number }
	if err := json.Unmarshal(a.body, &made); err != nil || a.status != http.StatusCreated {
		t.Fatal(a)
	}
	return map[string]string{"organisation_request_id": made.ID.String()}
}

var welcome = inPortal("invite_code_id", "/invite_codes", welcoming)

func welcoming(n int, _ string) string {
	return fmt.Sprintf(`{"Code":"WELCOME-%d","Quota":10,"ExpiresAt":"2099-12-31 23:59","Active":true,"TeamID":1}`, n)
}

func applying(n int, _ string) string {
	return fmt.Sprintf(`{"Email":"new%d@example.com","First":"Ada","Password":%q,"CustomAttributes":[]}`, n, goodPassword)
}

// awaited invites a person, who gets a mail.
func awaited(t testing.TB, s *service) map[string]string {
	t.Helper()
	address := fmt.Sprintf("grace%d@example.com", s.next())
	s.add(t, "/invitations", fmt.Sprintf(`{"Email":%q,"First":"Grace"}`, address))
	return map[string]string{"code": s.codeFor(t, address)}
}

// forgetful creates a user who has requested a mail for a forgotten password.
func forgetful(t testing.TB, s *service) map[string]string {
	t.Helper()
	address := developer(t, s)["email"]
	if a := s.ask(t, request{method: "POST", path: ownPrefix + "password/forgot", body: fmt.Appendf(nil, `{"Email":%q}`, address)}); a.status != http.StatusOK {
		t.Fatal(a)
	}
	return map[string]string{"code": s.codeFor(t, address)}
}

// codeFor returns the code in the mail to an address.
func (s *service) codeFor(t testing.TB, address string) string {
	t.Helper()
	for {
		select {
		case m := <-s.mails:
			if m.To == address {
				return regexp.MustCompile(`code: ([A-Z0-9]+)`).FindStringSubmatch(m.Text)[1]
			}
		case <-time.After(20 * time.Second):
			t.Fatal("no mail has come")
		}
	}
}

func accepts(_ *service, path map[string]string) []string {
	return []string{fmt.Sprintf(`{"Code":%q,"First":"Grace","Password":%q}`, path["code"], goodPassword)}
}

func entries(_ *service, path map[string]string) []string {
	return []string{fmt.Sprintf(`{"Email":%q,"Password":%q}`, path["email"], goodPassword)}
}

func asksForMail(_ *service, path map[string]string) []string {
	return []string{fmt.Sprintf(`{"Email":%q}`, path["email"]), `{"Email":"nobody@example.com"}`}
}

func remembers(_ *service, path map[string]string) []string {
	return []string{fmt.Sprintf(`{"Code":%q,"Password":"a-better-password"}`, path["code"])}
}
