package app_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/render"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/mails"
	"github.com/gatehouse-io/gatehouse/ports/mail"
)

// posted is a mail server that passes messages on.
type posted chan mail.Message

func (p posted) Send(_ context.Context, m mail.Message) error {
	p <- m
	return nil
}

// TestPortalLetters states that mails with codes are rendered with the templates of the
// portal, link to its pages, and are sent from its store.
func TestPortalLetters(t *testing.T) {
	box := make(posted, 10)
	a := service(t, nobodyWatches(), append(portalOptions(), app.WithPortal(app.Portal{
		Shared: true, SigningKey: signingKey, Live: live.Settings{Delay: -1},
		Mails: mails.Settings{Engine: render.Engine{}, URL: "https://portal.example/", Poll: 5 * time.Millisecond, Dial: func(mail.Server) (mail.Sender, error) { return box, nil }},
	}))...)
	running(t, a)
	call := func(method, path, body string) {
		t.Helper()
		if code, text := fetch(t, a, method, path, "portal-admin", body); code >= 300 {
			t.Fatal(path, code, text)
		}
	}
	call("POST", "/portal-api/bootstrap", `{"username":"admin@example.com","password":"secret"}`)
	call("PUT", "/portal-api/settings", `{"SMTPHost":"mail.example","EmailFrom":"portal@example.com","EmailSubjects":{"auth/targeted_invite_admin":"Run the portal"}}`)
	for _, c := range []struct{ path, body, subject, link string }{
		{"/portal/api/password/forgot", `{"Email":"admin@example.com"}`, "Reset password", "https://portal.example/auth/reset/code?token="},
		{"/portal-api/invitations", `{"Email":"grace@example.com","First":"Grace","OrganisationID":1}`, "Invitation to the developer portal", "https://portal.example/auth/password/register?token="},
		{"/portal-api/invitations", `{"Email":"alan@example.com","First":"Alan","Role":"provider-admin"}`, "Run the portal", "https://portal.example/auth/password/register?token="},
	} {
		call("POST", c.path, c.body)
		for deadline := time.After(10 * time.Second); ; {
			select {
			case m := <-box:
				if m.Subject != c.subject {
					continue // of the events besides
				}
				if !strings.Contains(m.Text, c.link) || !strings.Contains(m.HTML, c.link) {
					t.Errorf("%s: %s", c.path, m.Text)
				}
			case <-deadline:
				t.Fatalf("%s: no mail comes", c.path)
			}
			break
		}
	}
}
