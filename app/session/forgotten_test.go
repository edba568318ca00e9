package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/password"
	rules "github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/ports/mail"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// box is a mail server in memory.
type box struct {
	mu    sync.Mutex
	fails int // number of attempts that fail first
	mails []mail.Message
}

func (b *box) Send(_ context.Context, m mail.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails > 0 {
		b.fails--
		return errors.New("mail: the server cannot be reached")
	}
	b.mails = append(b.mails, m)
	return nil
}

var codeIn = regexp.MustCompile(`code=([A-Z0-9]+)`)

// codes returns the codes in all mails.
func (b *box) codes() (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.mails {
		out = append(out, codeIn.FindStringSubmatch(m.Text)[1])
	}
	return out
}

// posting runs a test with a world that sends mails, in a synctest bubble.
func posting(t *testing.T, run func(w *world, b *box)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &box{}
		w := open(t, session.Config{Mail: b, PublicURL: "https://gatehouse.example"})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = w.service.Run(ctx) }()
		synctest.Wait()
		run(w, b)
		cancel()
		<-done
	})
}

func (b *browser) do(op string, body any) (operation.Landing, error) {
	b.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	o := b.ops[op]
	out, err := o.Do(b.t.Context(), &operation.Call{Spec: &o.Spec, Body: text, Remote: b.address, Peer: b.address})
	l, _ := out.(operation.Landing)
	return l, err
}

func (b *browser) forget(email string) (operation.Landing, error) {
	b.t.Helper()
	return b.do("sessions.forgot", session.Forgotten{Username: email})
}

func (b *browser) reset(code, chosen string) error {
	b.t.Helper()
	_, err := b.do("sessions.reset", session.NewPassword{Code: code, Password: chosen})
	return err
}

// A forgotten password: the mail, the new password, the end of the sessions, and a code
// that works once.
func TestForgottenPassword(t *testing.T) {
	posting(t, func(w *world, box *box) {
		id := w.user("ada@example.com")
		b := w.browser("192.0.2.1:1")
		if err := b.login("ada@example.com", "a-long-passphrase"); err != nil {
			t.Fatal(err)
		}
		box.fails = 2
		if _, err := b.forget(" Ada@Example.com "); err != nil {
			t.Fatal(err)
		}
		if _, err := b.forget("ada@example.com"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		codes := box.codes()
		if len(codes) != 2 || box.mails[0].To != "ada@example.com" || !strings.Contains(box.mails[0].Text, "https://gatehouse.example/password/reset?code=") {
			t.Fatalf("%+v", box.mails)
		}
		before := w.hashOf(id)
		w.now = w.now.Add(time.Second)
		if err := b.reset(codes[0], "short"); fault.CodeOf(err) != identity.CodeNewPassword || w.hashOf(id) != before || !b.holds() {
			t.Error("a password that breaks the rules:", err)
		}
		if err := b.reset(codes[0], "another-passphrase"); err != nil {
			t.Fatal(err)
		}
		if b.holds() || b.login("ada@example.com", "a-long-passphrase") == nil || b.login("ada@example.com", "another-passphrase") != nil {
			t.Error("the session, or the older password, holds on; or the new one does not")
		}
		for i, code := range append(codes, "", "made-up") {
			if err := b.reset(code, "a-third-passphrase"); fault.CodeOf(err) != session.CodeReset {
				t.Error(i, "a code that was used, was for the older password, or was never made:", err)
			}
		}
		for _, code := range codes {
			if strings.Contains(w.log.String(), code) || strings.Contains(w.log.String(), "ada@") {
				t.Error("the log has a code or an address")
			}
		}
	})
}

// Codes that are not valid any more.
func TestResetsEnd(t *testing.T) {
	for name, c := range map[string]func(w *world, id string){
		"too old": func(w *world, _ string) { w.now = w.now.Add(rules.ResetLife) },
		"inactive": func(w *world, id string) {
			w.do("admin.users.update", map[string]string{"userId": id}, `{"active":false}`)
		},
		"another address": func(w *world, id string) {
			w.do("admin.users.update", map[string]string{"userId": id}, `{"email_address":"bob@example.com"}`)
		},
		"another password": func(w *world, id string) {
			w.do("admin.users.update", map[string]string{"userId": id}, `{"password":"set-by-an-admin"}`)
		},
		"no organisation":    func(w *world, _ string) { w.do("admin.organisations.delete", map[string]string{"orgID": org}, "") },
		"pruned and too old": func(w *world, _ string) { w.now = w.now.Add(rules.ResetLife); _, _ = w.service.Prune(w.t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			posting(t, func(w *world, box *box) {
				id := w.user("ada@example.com")
				b := w.browser("192.0.2.1:1")
				if _, err := b.forget("ada@example.com"); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				w.now = w.now.Add(time.Second)
				c(w, id)
				if err := b.reset(box.codes()[0], "another-passphrase"); fault.CodeOf(err) != session.CodeReset {
					t.Error(err)
				}
			})
		})
	}
}

// The response says nothing about users. Users without a password, who use single
// sign-on, and super users get no mail.
func TestForgottenTellsNothing(t *testing.T) {
	posting(t, func(w *world, box *box) {
		w.user("ada@example.com")
		for _, u := range []string{`{"org_id":"` + org + `","email_address":"sso@example.com","user_permissions":{"apis":"read"}}`, `{"email_address":"super@example.com","password":"a-long-passphrase"}`} {
			w.do("admin.users.create", nil, u)
		}
		var said []operation.Landing
		for i, email := range []string{"ada@example.com", "sso@example.com", "super@example.com", "none@example.com"} {
			out, err := w.browser(fmt.Sprintf("192.0.2.%d:1", i)).forget(email)
			if err != nil {
				t.Error(email, err)
			}
			said = append(said, out)
		}
		synctest.Wait()
		for _, out := range said {
			if out.Message != said[0].Message || out.Meta != nil || out.Who.ID != "" || len(out.Cookies) != 0 {
				t.Errorf("%+v", out)
			}
		}
		if len(box.mails) != 1 || box.mails[0].To != "ada@example.com" {
			t.Errorf("%+v", box.mails)
		}
	})
}

// An address gets three mails within a period, from all networks together; a network
// may request twenty.
func TestFloodOfForgottenPasswords(t *testing.T) {
	posting(t, func(w *world, box *box) {
		w.user("ada@example.com")
		for i := range 50 {
			if _, err := w.browser(fmt.Sprintf("198.51.100.%d:1", i)).forget("ada@example.com"); err != nil {
				t.Fatal(i, err)
			}
		}
		synctest.Wait()
		if len(box.mails) != 3 {
			t.Error(len(box.mails), "mails")
		}
		refused := 0
		for i := range 50 {
			if _, err := w.browser("192.0.2.1:1").forget(fmt.Sprintf("user-%d@example.com", i)); fault.CodeOf(err) == session.CodeWait {
				refused++
			}
		}
		if refused != 30 {
			t.Error(refused, "of 50 were refused")
		}
		w.now = w.now.Add(rules.ResetLife)
		if _, err := w.browser("192.0.2.1:1").forget("ada@example.com"); err != nil {
			t.Error(err)
		}
		if synctest.Wait(); len(box.mails) != 4 {
			t.Error(len(box.mails), "mails after the window")
		}
	})
}

// A mail to the user of one organisation that fails for good does not keep the users of
// the other organisations with the same address from theirs.
func TestForgottenInSeveralOrganisations(t *testing.T) {
	posting(t, func(w *world, box *box) {
		w.users.MultiOrg = true
		w.user("ada@example.com")
		if _, err := w.users.Bootstrap(t.Context(), identity.First{OrgID: "5f1a0c5d8e3b2a1f000000b2", Email: "ada@example.com", Password: "a-long-passphrase"}); err != nil {
			t.Fatal(err)
		}
		box.fails = 4 // all attempts for the first user
		if _, err := w.browser("192.0.2.1:1").forget("ada@example.com"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(box.codes()) != 1 || !strings.Contains(w.log.String(), "cannot be reached") {
			t.Errorf("%d mails, of two of which one failed: %s", len(box.codes()), w.log.String())
		}
	})
}

// A password that the user has had is refused here as well. Without mail, the
// operations are off.
func TestForgottenRules(t *testing.T) {
	posting(t, func(w *world, box *box) {
		w.users.PasswordSettings = identity.PasswordSettings{History: 2, Policy: password.Policy{MinLength: 12}}
		w.user("ada@example.com")
		b := w.browser("192.0.2.1:1")
		if _, err := b.forget("ada@example.com"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for chosen, code := range map[string]string{"a-long-passphrase": identity.CodeUsedPassword, "too short": identity.CodeNewPassword} {
			if err := b.reset(box.codes()[0], chosen); fault.CodeOf(err) != code {
				t.Error(chosen, err)
			}
		}
	})
	w := open(t, session.Config{})
	if _, err := w.browser("192.0.2.1:1").forget("ada@example.com"); fault.CodeOf(err) != session.CodeNoMail {
		t.Error(err)
	}
}
