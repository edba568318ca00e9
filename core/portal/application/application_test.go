package application_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

// home is the default team of organisation 2.
const home table.ID = 20

func user(id, org table.ID, teams ...table.ID) account.User {
	return account.User{Base: table.Base{ID: id}, OrganisationID: org, Teams: teams}
}

// TestSettled: the visibility that an owner can choose.
func TestSettled(t *testing.T) {
	for _, c := range []struct {
		what       string
		owner      account.User
		have, want string
	}{
		{"an admin", user(1, 0), application.Organisation, application.Personal},
		{"the default organisation", user(1, 1, 1), application.Team, application.Personal},
		{"nothing said", user(1, 2, home), "", application.Organisation},
		{"the default team alone", user(1, 2, home), application.Team, application.Personal},
		{"another team", user(1, 2, home, 21), application.Team, application.Team},
		{"personal", user(1, 2, 21), application.Personal, application.Personal},
	} {
		if a := (application.App{Visibility: c.have}).Settled(c.owner, home); a.Visibility != c.want {
			t.Errorf("%s: %s", c.what, a.Visibility)
		}
	}
}

// TestVisibleTo: who may use an app. All pairs of users of several organisations and teams are
// compared with the definition of each visibility.
func TestVisibleTo(t *testing.T) {
	people := []account.User{user(1, 0), user(2, 1, 1), user(3, 1, 1), user(4, 2, home), user(5, 2, home, 21), user(6, 2, 21), user(7, 2, 22), user(8, 3, 30), user(9, 2, home)}
	shares := func(a, b account.User) bool {
		for _, x := range a.Teams {
			for _, y := range b.Teams {
				if x == y && x != home {
					return true
				}
			}
		}
		return false
	}
	for _, visibility := range []string{"", application.Personal, application.Team, application.Organisation} {
		for _, owner := range people {
			for _, viewer := range people {
				want := viewer.ID == owner.ID
				if owner.OrganisationID > 1 && viewer.OrganisationID == owner.OrganisationID {
					switch visibility {
					case application.Organisation, "":
						want = true
					case application.Team:
						want = want || shares(owner, viewer)
					}
				}
				if have := (application.App{UserID: owner.ID, Visibility: visibility}).VisibleTo(viewer, owner, home); have != want {
					t.Errorf("%q of %d to %d: %v", visibility, owner.ID, viewer.ID, have)
				}
			}
		}
	}
}

// TestFields: the accepted values of an app, and that owners cannot give it to others.
func TestFields(t *testing.T) {
	tabletest.Sound[application.App](t, `{"Name":"Till","UserID":1}`)
	tabletest.Sound[application.Own](t, `{"Name":"Till"}`)
	tabletest.Bodies(t, application.App{}, true, map[string]string{
		`{"Name":"Till","UserID":"7","RedirectURLs":"https://a.example/x,com.example.till:/back"}`: "",
		`{"Name":"Till","UserID":7,"RedirectURLs":["https://a.example/x"]}`:                        "",
		`{"UserID":7}`: "Name can't be blank",
		`{"Name":"x"}`: "UserID can't be blank",
		`{"Name":"x","UserID":7,"Visibility":"all"}`:                                                  "Visibility is invalid",
		`{"Name":"x","UserID":7,"RedirectURLs":"/back"}`:                                              "RedirectURLs is invalid",
		`{"Name":"x","UserID":7,"RedirectURLs":"https://a.example/#x"}`:                               "RedirectURLs is invalid",
		`{"Name":"x","UserID":7,"RedirectURLs":"javascript:alert(1)"}`:                                "RedirectURLs is invalid",
		`{"Name":"x","UserID":7,"RedirectURLs":"https://u:p@a.example/"}`:                             "RedirectURLs is invalid",
		`{"Name":"x","UserID":7,"RedirectURLs":"` + strings.Repeat("https://a.example/,", 101) + `"}`: "RedirectURLs is invalid",
	})
	tabletest.Bodies(t, application.Own{App: application.App{UserID: 3}}, true, map[string]string{
		`{"Name":"Till","UserID":4,"Visibility":"personal"}`: `{"Name":"Till","UserID":3,"Visibility":"personal"}`,
		`{"Name":"Till","User":{"ID":4}}`:                    `{"UserID":3}`,
		`{"Name":"Till","RedirectURLs":"/back"}`:             "RedirectURLs is invalid",
	})
}

// FuzzRedirects: no accepted list has a URL that a browser executes.
func FuzzRedirects(f *testing.F) {
	f.Add("https://a.example/x,JavaScript:alert(1)")
	f.Fuzz(func(t *testing.T, text string) {
		var b table.Body[application.App]
		body, _ := json.Marshal(map[string]any{"Name": "x", "UserID": 7, "RedirectURLs": text})
		if err := json.Unmarshal(body, &b); err != nil {
			t.Fatal(err)
		}
		var a application.App
		if b.Apply(&a, true, func(string, string) (table.ID, bool, error) { return 7, true, nil }) != nil {
			return
		}
		for _, s := range a.Redirects() {
			if s := strings.ToLower(s); strings.HasPrefix(s, "javascript:") || strings.HasPrefix(s, "data:") {
				t.Errorf("%q is taken", s)
			}
		}
	})
}
