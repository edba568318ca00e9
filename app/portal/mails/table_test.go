package mails_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/mail/mailtest"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/mails"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/core/portal/orgrequest"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// everything is a template that prints all data of a mail, except the name of the mail.
const everything = `[{{site}} {{login_url}} {{with current_user}}{{.Email}}{{end}} {{with user}}{{.First}}{{end}} ` +
	`team={{team}} reset={{reset_password_url}} confirm={{confirm_url}} invite={{invite_url}} called={{user}} of={{team.Name}} ` +
	`shown={{user.DisplayName}}/{{with .user}}{{.DisplayName}}{{end}} user={{with .user}}{{.Email}}{{end}} name={{with .name}}{{.}}{{end}} organisation={{with .organisationName}}{{.}}{{end}} ` +
	`requests={{range .requests}}{{.ID}}:{{.App}}{{end}} credential={{with .credential}}{{.ID}}:{{.Name}}:{{.Expires}}{{end}} certificate={{with .certificate}}{{.ID}}:{{.Name}}:{{.Expires}}{{end}}]`

// talkative is a theme whose mails print all data, in both forms.
func talkative() theme.Content {
	files := theme.Files{"layouts/emails.html.tmpl": []byte("<h1>layout</h1>{{yield}}"), "layouts/emails.text.tmpl": []byte("layout {{yield}}")}
	for _, n := range letter.Table {
		files[theme.Mailers+n.Name+".html.tmpl"] = []byte("<p>html of " + n.Name + everything + "</p>")
		files[theme.Mailers+n.Name+".text.tmpl"] = []byte("text of " + n.Name + everything)
	}
	return theme.Content{Files: files}
}

// TestEveryMail goes through the table of docs/wire/portal-mails.md: the cause of each mail,
// its receivers, that both parts have their layout, and the data for templates. The events are
// made from records, as in the portal.
func TestEveryMail(t *testing.T) {
	w := open(t)
	server := mailtest.Start(t)
	w.server(server.Address())
	var app application.App
	var pending, former, elsewhere request.Request // of a developer with another user's app, of a deleted one, and of one in another organisation
	w.store(func(wr store.Writer) (err error) {
		if app, err = portal.Add(t.Context(), wr, apps.Kind, w.at, application.App{Name: "Till", UserID: 4}); err != nil {
			return err
		}
		for i, one := range []*request.Request{&pending, &elsewhere, &former} {
			by := account.User{Email: []string{"mate@example.com", "far@example.com", ""}[i], First: "Mate", Role: account.Member, OrganisationID: table.ID(i + 1), Active: true, Token: fmt.Sprint("mate ", i)}
			if by.Email == "" {
				by.ID = 99
			} else if by, err = portal.Add(t.Context(), wr, people.Users, w.at, by); err != nil {
				return err
			}
			if *one, err = portal.Add(t.Context(), wr, apps.Requests, w.at, request.Request{Status: request.Pending, AppID: app.ID, UserID: 4, AskedBy: by.ID}); err != nil {
				return err
			}
		}
		return nil
	})
	var ends []letter.Expiry
	s, stop := w.start(func(c *mails.Config) {
		c.Content = func(context.Context, tenant.Scope) (theme.Content, error) { return talkative(), nil }
		c.Every = 5 * time.Millisecond
		c.Expiring = func(context.Context, store.Reader, time.Time, time.Time) ([]letter.Expiry, error) {
			return slices.Clone(ends), nil
		}
	})
	stop() // the test creates events itself, and nothing is sent before it is checked
	said := 0
	tell := func(told []event.Told, by string) {
		t.Helper()
		to, err := mails.Audience{Service: s}.Target(t.Context(), nil, w.at.Org, "mails")
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range told {
			said++
			body, err := mails.Audience{}.Body(deliver.Event{Name: one.Name, Org: w.at.Org, At: time.Now(), By: by, Message: one.Message})
			if err == nil {
				err = to.Hand(t.Context(), fmt.Sprint("event ", said), body)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	post := func(name string) {
		w.store(func(wr store.Writer) error {
			_, err := s.Post(t.Context(), wr, "by hand", name, mails.Data{Person: mails.Person{First: "Dev", Email: "dev@example.com"}, Team: "Red", Link: "https://portal.example/x"})
			return err
		})
	}
	user := func(role string, org table.ID, active bool) account.User {
		return account.User{Base: table.Base{ID: 9}, Email: "new@example.com", First: "New", Role: role, OrganisationID: org, Active: active}
	}
	dev := account.User{Base: table.Base{ID: 4}, Email: "dev@example.com", First: "Dev", Role: account.Member, OrganisationID: 1, Active: true}
	out, asked := dev, dev
	out.Active, asked.RequestID = false, 3
	approved, rejected, ofGone, ofFar := pending, pending, former, elsewhere
	ofGone.Status, ofFar.Status = request.Approved, request.Approved
	approved.Status, rejected.Status = request.Approved, request.Rejected
	atOnce := pending
	atOnce.ProvisionImmediately = true
	wish := orgrequest.Request{Base: table.Base{ID: 3}, UserID: 4, Email: "dev@example.com", Name: "Acme", Status: orgrequest.Pending}
	refused := wish
	refused.Status = orgrequest.Rejected
	admin := account.Principal(1)
	const admins = "ada@example.com,bob@example.com"
	for what, c := range map[string]struct {
		cause func()
		want  map[string]string // receivers of each mail
		says  string            // text in each mail
	}{
		"a new password is asked for":   {func() { post(letter.ResetPassword) }, map[string]string{letter.ResetPassword: "dev@example.com"}, "dev@example.com Dev team=Red reset=https://portal.example/x confirm=https://portal.example/x"},
		"somebody is invited":           {func() { post(letter.Invite) }, map[string]string{letter.Invite: "dev@example.com"}, "dev@example.com Dev team=Red reset=https://portal.example/x confirm=https://portal.example/x invite=https://portal.example/x called=Dev of=Red "},
		"access is asked for":           {func() { tell(event.OfAccessRequests.Of(nil, &pending), admin) }, map[string]string{"submitted": admins}, "requests=1:Till"},
		"access is given at once":       {func() { tell(event.OfAccessRequests.Of(nil, &approved), admin) }, nil, ""},
		"access is to be given at once": {func() { tell(event.OfAccessRequests.Of(nil, &atOnce), admin) }, nil, ""},
		"that has failed":               {func() { tell(event.OfAccessRequests.Of(&atOnce, &pending), admin) }, map[string]string{"submitted": admins}, "requests=1:Till"},
		"access is given":               {func() { tell(event.OfAccessRequests.Of(&pending, &approved), admin) }, map[string]string{"approve": "mate@example.com"}, "requests=1:Till"},
		"somebody gone has asked":       {func() { tell(event.OfAccessRequests.Of(&former, &ofGone), admin) }, map[string]string{"approve": "dev@example.com"}, "requests=3:Till"},
		"somebody has asked who left":   {func() { tell(event.OfAccessRequests.Of(&elsewhere, &ofFar), admin) }, map[string]string{"approve": "dev@example.com"}, "requests=2:Till"},
		"access is refused":             {func() { tell(event.OfAccessRequests.Of(&pending, &rejected), admin) }, map[string]string{"reject": "mate@example.com"}, "requests=1:Till"},
		"a developer registers":         {func() { tell(event.OfUsers.Of(nil, ptr(user(account.Member, 1, false))), "") }, map[string]string{"newuser": admins, "welcome_dev": "new@example.com"}, "user=new@example.com name=New"},
		"a developer is made, inactive": {func() { tell(event.OfUsers.Of(nil, ptr(user(account.Member, 1, false))), admin) }, map[string]string{"welcome_dev": "new@example.com"}, "user=new@example.com"},
		"a developer is made, active":   {func() { tell(event.OfUsers.Of(nil, ptr(user(account.Member, 1, true))), admin) }, map[string]string{"welcome_dev": "new@example.com"}, "shown=New/New user=new@example.com"},
		"an admin is made":              {func() { tell(event.OfUsers.Of(nil, ptr(user(account.ProviderAdmin, 0, true))), admin) }, map[string]string{"welcome_admin": "new@example.com"}, "user=new@example.com"},
		"an account is activated":       {func() { tell(event.OfUsers.Of(&out, &dev), admin) }, map[string]string{"activate": "dev@example.com"}, "name=Dev"},
		"an account is deactivated":     {func() { tell(event.OfUsers.Of(&dev, &out), admin) }, map[string]string{"deactivate": "dev@example.com"}, "name=Dev"},
		"an organisation is asked for":  {func() { tell(event.OfRequests.Of(nil, &wish), admin) }, map[string]string{"organisation_request": admins}, "organisation=Acme requests="},
		"an organisation is given":      {func() { tell(event.OfUsers.Of(&dev, &asked), admin) }, map[string]string{"organisation_approve": "dev@example.com"}, "user=dev@example.com"},
		"an organisation is refused":    {func() { tell(event.OfRequests.Of(&wish, &refused), admin) }, map[string]string{"organisation_reject": "dev@example.com"}, "user=dev@example.com"},
		"a credential ends soon": {func() {
			ends = []letter.Expiry{{Credential: 1, Name: "Till", Owner: 4, Expires: time.Now().Add(time.Hour)}}
		}, map[string]string{letter.ToExpire: "dev@example.com"}, " Eloper user=dev@example.com name= organisation= requests= credential=1:Till:2"},
		"a credential has ended": {func() {
			ends = []letter.Expiry{{Credential: 2, Name: "Till", Owner: 4, Expires: time.Now().Add(-time.Hour)}}
		}, map[string]string{letter.Expired: "dev@example.com"}, "credential=2:Till:2"},
		"a certificate ends soon": {func() {
			ends = []letter.Expiry{{Certificate: 1, Name: "Till", Organisations: []table.ID{1}, Expires: time.Now().Add(time.Hour)}}
		}, map[string]string{letter.CertificateToExpire: admins + ",dev@example.com,mate@example.com"}, "credential= certificate=1:Till:2"},
		"a certificate has ended": {func() {
			ends = []letter.Expiry{{Certificate: 1, Name: "Till", Organisations: []table.ID{1, 1, 99}, Expires: time.Now().Add(-time.Hour)}}
		}, map[string]string{letter.CertificateExpired: admins + ",dev@example.com,mate@example.com"}, "credential= certificate=1:Till:2"},
	} {
		ends = nil
		c.cause()
		_, stop := w.start(func(m *mails.Config) {
			m.Content = func(context.Context, tenant.Scope) (theme.Content, error) { return talkative(), nil }
			m.Every = 5 * time.Millisecond
			due := slices.Clone(ends)
			m.Expiring = func(context.Context, store.Reader, time.Time, time.Time) ([]letter.Expiry, error) { return due, nil }
		})
		got, expected := map[string][]string{}, 0
		for _, list := range c.want {
			expected += strings.Count(list, ",") + 1
		}
		for range expected {
			m := server.Next(t)
			text, html := parts(t, m)
			name := strings.TrimPrefix(text[:strings.Index(text, "[")], "layout text of ")
			got[name] = append(got[name], m.To)
			n, known := letter.Find(name)
			for _, want := range []string{c.says, "[https://portal.example https://portal.example/auth/password/login "} {
				if !strings.Contains(text, want) || !strings.Contains(html, want) {
					t.Errorf("%s: %q is not in both of %s %s", what, want, text, html)
				}
			}
			if !known || !strings.HasPrefix(strings.TrimSpace(html), "<h1>layout</h1><p>html of "+name) || m.Header.Get("Subject") != n.Subject {
				t.Errorf("%s: %v %s", what, m.Header, html)
			}
		}
		w.until("all are sent", func() bool { return count(w.all(), letter.Pending) == 0 })
		stop()
		have := map[string]string{}
		for name, to := range got {
			slices.Sort(to)
			have[name] = strings.Join(to, ",")
		}
		if fmt.Sprint(have) != fmt.Sprint(c.want) || server.Waiting() != 0 {
			t.Errorf("%s: %v, and not %v", what, have, c.want)
		}
	}
}

func ptr[T any](v T) *T { return &v }
