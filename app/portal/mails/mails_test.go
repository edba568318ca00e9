package mails_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	smtp "github.com/gatehouse-io/gatehouse/adapters/mail"
	"github.com/gatehouse-io/gatehouse/adapters/mail/mailtest"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/render"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/app/portal/mails"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/mail"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// world is a portal with two admins, a developer, and mails.
type world struct {
	*testing.T
	portal apptest.Portal
	config mails.Config
	at     crud.Stamp
	log    *strings.Builder
}

func open(t *testing.T) *world {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := crypto.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, portal: apptest.Portal{DB: db, Keys: keys}.Beside(t, "portal:test"), log: &strings.Builder{}}
	w.portal.Tools.Log = slog.New(slog.NewTextHandler(w.log, nil))
	w.at = crud.Stamp{ID: "x", Org: w.portal.Scope.Org(), Now: time.Now}
	w.config = mails.Config{
		Tools: w.portal.Tools, Keys: keys, Scope: w.portal.Scope, Holder: "one", TTL: 20 * time.Second, Standard: themes.Standard,
		Content:  func(context.Context, tenant.Scope) (theme.Content, error) { return themes.Standard(), nil },
		Settings: mails.Settings{Dial: smtp.Dial, Engine: render.Engine{}, URL: "https://portal.example/", Poll: 10 * time.Millisecond},
	}
	w.store(func(wr store.Writer) error {
		for _, u := range []account.User{
			{Email: "ada@example.com", First: "Ada", Role: account.SuperAdmin, Active: true, Token: "1"}, {Email: "bob@example.com", First: "Bob", Role: account.ProviderAdmin, Active: true, Token: "2"},
			{Email: "out@example.com", First: "Out", Role: account.ProviderAdmin, Token: "3"}, {Email: "dev@example.com", First: "<Dev>", Last: "Eloper", Role: account.Member, OrganisationID: 1, Active: true, Token: "4"},
		} {
			if _, err := portal.Add(t.Context(), wr, people.Users, w.at, u); err != nil {
				return err
			}
		}
		return general.Found(t.Context(), wr, w.at)
	})
	return w
}

func (w *world) store(fn func(store.Writer) error) {
	w.Helper()
	if _, err := w.portal.DB.Update(w.Context(), w.portal.Scope, fn); err != nil {
		w.Fatal(err)
	}
}

// server sets the address of the mail server.
func (w *world) server(address string) {
	w.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		w.Fatal(err)
	}
	w.settings(func(s *setting.Settings) {
		s.SMTPHost, s.EmailFrom = host, "portal@example.com"
		_, _ = fmt.Sscan(port, &s.SMTPPort)
	})
}

func (w *world) settings(fn func(*setting.Settings)) {
	w.Helper()
	w.store(func(wr store.Writer) error {
		_, err := portal.Edit(w.Context(), wr, general.Kind, 1, w.at, func(s setting.Settings) (setting.Settings, error) { fn(&s); return s, nil })
		return err
	})
}

// start runs the mails of the world until the returned function is called.
func (w *world) start(more ...func(*mails.Config)) (s *mails.Service, stop func()) {
	w.Helper()
	c := w.config
	for _, fn := range more {
		fn(&c)
	}
	s, err := mails.New(c)
	if err != nil {
		w.Fatal(err)
	}
	// From here on it is known how far events have been delivered.
	if _, ok, err := w.portal.DB.Acquire(w.Context(), "events", c.Holder, c.TTL); err != nil || !ok {
		w.Fatal(ok, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	sources := map[string]deliver.Source{account.Kind: userEvents()}
	d, err := delivery.New(delivery.Settings{Fetcher: none{}, Holder: c.Holder, TTL: c.TTL, Name: "events", Pause: 10 * time.Millisecond}, c.Tools, sources, mails.Audience{Service: s})
	if err != nil {
		w.Fatal(err)
	}
	done := make(chan struct{}, 2)
	for _, run := range []func(context.Context) error{s.Run, d.Run} {
		go func() { _ = run(ctx); done <- struct{}{} }()
	}
	stop = func() {
		if err := errors.Join(s.Quit(context.Background()), d.Quit(context.Background())); err != nil {
			w.Error(err)
		}
		cancel()
		<-done
		<-done
	}
	w.Cleanup(cancel)
	return s, stop
}

func userEvents() deliver.Source {
	reg := crud.Facts[account.User]{Kind: people.Users, Events: portal.Events(event.OfUsers), Sample: func(crud.Stamp) (account.User, error) { return account.User{}, nil }}.Registration()
	return *reg.Events
}

// none is an outside without receivers.
type none struct{}

func (none) Fetch(context.Context, fetch.Request) (fetch.Answer, error) {
	return fetch.Answer{}, fetch.ErrUnreachable
}

// add creates a user, on behalf of an actor.
func (w *world) add(u account.User, by string) {
	w.Helper()
	ctx := store.Attribute(w.Context(), store.Attribution{Actor: by, Operation: "test"})
	if _, err := w.portal.DB.Update(ctx, w.portal.Scope, func(wr store.Writer) error {
		_, err := portal.Add(ctx, wr, people.Users, w.at, u)
		return err
	}); err != nil {
		w.Fatal(err)
	}
}

// all returns the stored mails.
func (w *world) all() (out []letter.Mail) {
	w.Helper()
	if err := w.portal.DB.View(w.Context(), w.portal.Scope, func(r store.Reader) error {
		var err error
		out, err = mails.All(w.Context(), r)
		return err
	}); err != nil {
		w.Fatal(err)
	}
	return out
}

func count(list []letter.Mail, state letter.State) (n int) {
	for _, m := range list {
		if m.State == state {
			n++
		}
	}
	return n
}

// until waits for a condition.
func (w *world) until(what string, fn func() bool) {
	w.Helper()
	for range 4000 {
		if fn() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	w.Fatalf("%s: that did not happen; %+v\n%s", what, w.all(), w.log)
}

// parts returns the text and the HTML of a mail with both.
func parts(t *testing.T, m mailtest.Mail) (text, html string) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatal(m.Header, err)
	}
	r := multipart.NewReader(strings.NewReader(m.Text), params["boundary"])
	for _, want := range []struct {
		kind string
		to   *string
	}{{"text/plain", &text}, {"text/html", &html}} {
		p, err := r.NextPart()
		if err != nil || !strings.HasPrefix(p.Header.Get("Content-Type"), want.kind) {
			t.Fatal(m.Text, err)
		}
		all, err := io.ReadAll(p)
		if err != nil || len(all) == 0 {
			t.Fatal(m.Text, err)
		}
		*want.to = strings.ReplaceAll(string(all), "\r\n", "\n")
	}
	return text, html
}

// TestEvents states which mails the events of users cause, in both forms, each once.
func TestEvents(t *testing.T) {
	w := open(t)
	server := mailtest.Start(t)
	w.server(server.Address())
	w.settings(func(s *setting.Settings) { s.EmailSubjects = `{"welcome_dev":"Hello\r\nBcc: eve@example.com"}` })
	_, stop := w.start()
	w.add(account.User{Email: "new@example.com", First: "New & Co", Role: account.Member, OrganisationID: 1, Token: "n"}, "")
	w.until("three mails", func() bool { return count(w.all(), letter.Done) == 3 }) // from the first one, to the existing admins
	w.add(account.User{Email: "boss@example.com", Role: account.ProviderAdmin, Active: true, Token: "b"}, account.Principal(1))
	w.until("four mails", func() bool { return count(w.all(), letter.Done) == 4 })
	got := map[string][]string{}
	for range 4 {
		m := server.Next(t)
		got[m.Header.Get("Subject")] = append(got[m.Header.Get("Subject")], m.To)
		text, html := parts(t, m)
		if m.From != "portal@example.com" || m.To == "new@example.com" && (!strings.Contains(html, "New &amp; Co") || !strings.Contains(text, "Hello New & Co,") || !strings.Contains(text, "https://portal.example")) {
			t.Error(m, text, html)
		}
		if m.To == "boss@example.com" && (!strings.Contains(html, "Hello,<") || !strings.Contains(text, "Hello,\n")) {
			t.Error("who has no first name is greeted with", text, html)
		}
	}
	for _, list := range got {
		slices.Sort(list)
	}
	if fmt.Sprint(got) != "map[A developer waits for approval:[ada@example.com bob@example.com] Hello  Bcc: eve@example.com:[new@example.com] Welcome to the developer portal:[boss@example.com]]" {
		t.Error(got)
	}
	stop()
	_, stop = w.start(func(c *mails.Config) { c.Holder = "two" })
	time.Sleep(50 * time.Millisecond)
	stop()
	if server.Waiting() != 0 {
		t.Error("a mail came twice")
	}
	for _, m := range w.all() {
		if m.Data != "" || m.To != "" {
			t.Errorf("of a mail that was sent something is kept: %+v", m)
		}
	}
}

// TestSignUpAddress states that the address for sign-ups gets one mail about each waiting
// developer, also when it is an admin's, and no other mails for admins.
func TestSignUpAddress(t *testing.T) {
	for set, want := range map[string]string{
		"":                     "ada@example.com bob@example.com",
		" Desk@Example.com ":   "ada@example.com bob@example.com desk@example.com",
		"ADA@example.com":      "ada@example.com bob@example.com",
		"nobody@other.example": "ada@example.com bob@example.com nobody@other.example",
	} {
		w := open(t)
		server := mailtest.Start(t)
		w.server(server.Address())
		w.settings(func(s *setting.Settings) { s.AdminSignUpEmail = set })
		_, stop := w.start()
		w.add(account.User{Email: "new@example.com", First: "New", Role: account.Member, OrganisationID: 1, Token: "n"}, "")
		w.add(account.User{Email: "boss@example.com", Role: account.ProviderAdmin, Token: "b"}, account.Principal(1))
		n := len(strings.Fields(want)) + 2
		w.until("the mails", func() bool { return count(w.all(), letter.Done) == n })
		stop()
		var to []string
		for range n {
			if m := server.Next(t); m.Header.Get("Subject") == "A developer waits for approval" {
				to = append(to, m.To)
			}
		}
		slices.Sort(to)
		if got := strings.Join(to, " "); got != want {
			t.Errorf("%q: %s", set, got)
		}
	}
}

// TestUnwanted: users get no mails that they have turned off, but always those about their own
// account.
func TestUnwanted(t *testing.T) {
	w := open(t)
	server := mailtest.Start(t)
	w.server(server.Address())
	w.store(func(wr store.Writer) error {
		for id, unwanted := range map[table.ID][]string{1: {"newuser"}, 4: {letter.ToExpire, letter.ResetPassword}} {
			if _, err := portal.Edit(t.Context(), wr, people.Users, id, w.at, func(u account.User) (account.User, error) { u.Unwanted = unwanted; return u, nil }); err != nil {
				return err
			}
		}
		return nil
	})
	soon := time.Now().Add(time.Hour)
	s, stop := w.start(func(c *mails.Config) {
		c.Every = 10 * time.Millisecond
		c.Expiring = func(context.Context, store.Reader, time.Time, time.Time) ([]letter.Expiry, error) {
			return []letter.Expiry{{Credential: 1, Name: "Till", Owner: 4, Expires: soon}, {Credential: 2, Name: "Shop", Owner: 2, Expires: soon}}, nil
		}
	})
	w.add(account.User{Email: "new@example.com", First: "New", Role: account.Member, OrganisationID: 1, Token: "n"}, "")
	w.store(func(wr store.Writer) error {
		_, err := s.Post(t.Context(), wr, "reset", letter.ResetPassword, mails.Data{Person: mails.Person{First: "Dev", Email: "dev@example.com"}})
		return err
	})
	w.until("four mails", func() bool { return count(w.all(), letter.Done) == 4 })
	time.Sleep(50 * time.Millisecond)
	stop()
	var got []string
	for range count(w.all(), letter.Done) {
		m := server.Next(t)
		got = append(got, m.To+" "+m.Header.Get("Subject"))
	}
	slices.Sort(got)
	if want := []string{"bob@example.com A developer waits for approval", "bob@example.com Your Credential is about to expire", "dev@example.com Reset password", "new@example.com Welcome to the developer portal"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestNoMailOfALeap: a clock that leaps ahead causes no warning about a credential that expires
// much later. Each warning is sent once, so the real one would be missing.
func TestNoMailOfALeap(t *testing.T) {
	w := open(t)
	server := mailtest.Start(t)
	w.server(server.Address())
	var clock apptest.Leaping
	asked := make(chan bool)
	list := []letter.Expiry{{Credential: 1, Name: "Later", Owner: 4, Expires: time.Now().UTC().Round(0).Add(9000 * time.Hour)}}
	_, stop := w.start(func(c *mails.Config) {
		c.Every, c.Now = time.Millisecond, clock.Now
		c.Expiring = func(ctx context.Context, _ store.Reader, _, _ time.Time) ([]letter.Expiry, error) {
			select {
			case asked <- true:
			case <-ctx.Done():
			}
			return list, nil
		}
	})
	<-asked
	clock.Set(8999 * time.Hour)
	for range 3 { // the second-to-last run used the clock that is ahead, and is done
		<-asked
	}
	go func() {
		for range asked {
		}
	}()
	stop()
	close(asked)
	if all := w.all(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// TestPost states that a mail with a secret is sealed and sent once, and that its link works.
func TestPost(t *testing.T) {
	w := open(t)
	s, _ := w.start()
	post := func() {
		w.store(func(wr store.Writer) error {
			_, err := s.Post(w.Context(), wr, "reset 7", letter.ResetPassword, mails.Data{Person: mails.Person{First: "Dev", Email: "dev@example.com"}, Link: "https://portal.example/auth/reset?code=secret&x=1"})
			return err
		})
	}
	post()
	if len(w.all()) != 0 {
		t.Error("a mail is kept although there is no server")
	}
	away, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = away.Close()
	w.server(away.Addr().String())
	post()
	post()
	if all := w.all(); len(all) != 1 || strings.Contains(fmt.Sprint(all), "secret") {
		t.Errorf("%+v", all)
	}
	w.until("an attempt", func() bool { return w.all()[0].Tries > 0 })
	if m := w.all()[0]; m.State != letter.Pending || m.Refused != 0 || strings.Contains(m.LastFail, "dev@") {
		t.Errorf("%+v", m)
	}
	server := mailtest.Start(t)
	w.server(server.Address())
	w.store(func(wr store.Writer) error { return mails.Hurry(w.Context(), wr) })
	m := server.Next(t)
	if text, html := parts(t, m); !strings.Contains(text, "code=secret&x=1") || !strings.Contains(html, `href="https://portal.example/auth/reset?code=secret&amp;x=1"`) || m.To != "dev@example.com" {
		t.Error(m)
	}
	w.until("it is written down", func() bool { return count(w.all(), letter.Done) == 1 })
	post()
	time.Sleep(50 * time.Millisecond)
	if server.Waiting() != 0 || strings.Contains(w.log.String(), "secret") {
		t.Error("a mail came twice, or the log tells a secret")
	}
}

// TestRefused states that a mail that the server refuses is tried three times.
func TestRefused(t *testing.T) {
	w := open(t)
	server := mailtest.Start(t)
	server.Refuse = "550 5.1.1 <dev@example.com> is unknown"
	w.server(server.Address())
	s, _ := w.start()
	w.store(func(wr store.Writer) error {
		_, err := s.Post(w.Context(), wr, "a", letter.Invite, mails.Data{Person: mails.Person{Email: "dev@example.com"}, Link: "https://x.example"})
		return err
	})
	for n := 1; n <= letter.MaxAttempts; n++ {
		w.until("another attempt", func() bool { return w.all()[0].Refused == n })
		w.store(func(wr store.Writer) error { return mails.Hurry(w.Context(), wr) })
	}
	if m := w.all()[0]; m.State != letter.Failed || m.Data != "" || strings.Contains(m.LastFail, "dev@") || strings.Contains(w.log.String(), "dev@") {
		t.Errorf("%+v\n%s", m, w.log)
	}
}

// TestLater states that a mail that the server rejects temporarily waits as long as one without a
// reachable server, and does not delay other mails.
func TestLater(t *testing.T) {
	w := open(t)
	server := mailtest.Start(t)
	server.Refuse = "450 4.2.0 <dev@example.com> come again"
	w.server(server.Address())
	s, _ := w.start()
	for _, cause := range []string{"a", "b"} {
		w.store(func(wr store.Writer) error {
			_, err := s.Post(w.Context(), wr, cause, letter.Invite, mails.Data{Person: mails.Person{Email: "dev@example.com"}, Link: "https://x.example"})
			return err
		})
	}
	for n := 1; n <= letter.MaxAttempts+1; n++ {
		w.until("another attempt at both", func() bool { all := w.all(); return all[0].Tries >= n && all[1].Tries >= n })
		w.store(func(wr store.Writer) error { return mails.Hurry(w.Context(), wr) })
	}
	for _, m := range w.all() {
		if m.State != letter.Pending || m.Refused != 0 || strings.Contains(m.LastFail, "dev@") {
			t.Errorf("%+v\n%s", m, w.log)
		}
	}
}

// taking is a mail server that accepts mails when the test says so.
type taking struct {
	came  chan string
	taken func(ctx context.Context)
}

func (s taking) Send(ctx context.Context, m mail.Message) error {
	s.came <- m.To
	s.taken(ctx)
	return nil
}

// to sets the mail server, and posts a mail.
func (w *world) to(s taking, more ...func(*mails.Config)) (stop func()) {
	w.Helper()
	w.server("127.0.0.1:25")
	service, stop := w.start(append(more, func(c *mails.Config) { c.Dial = func(mail.Server) (mail.Sender, error) { return s, nil } })...)
	w.store(func(wr store.Writer) error {
		_, err := service.Post(w.Context(), wr, "a", letter.Invite, mails.Data{Person: mails.Person{Email: "dev@example.com"}, Link: "https://x.example"})
		return err
	})
	return stop
}

// TestTakenAtTheEnd states that a mail that the server accepted during the shutdown is not sent
// again.
func TestTakenAtTheEnd(t *testing.T) {
	w := open(t)
	s := taking{make(chan string, 9), func(ctx context.Context) { <-ctx.Done() }}
	stop := w.to(s)
	<-s.came
	stop()
	if n := count(w.all(), letter.Done); n != 1 {
		t.Errorf("%d mails are sent: %+v", n, w.all())
	}
}

// TestUnwritten states that a mail is sent once although the store cannot record that for a while.
func TestUnwritten(t *testing.T) {
	w := open(t)
	var is atomic.Bool
	s := taking{make(chan string, 999), func(context.Context) { is.Store(true) }}
	w.to(s, func(c *mails.Config) { c.Store = apptest.Disk{DB: w.portal.DB, Full: &is} })
	<-s.came
	time.Sleep(200 * time.Millisecond)
	is.Store(false)
	w.until("it is written down", func() bool { return count(w.all(), letter.Done) == 1 })
	if n := len(s.came); n != 0 {
		t.Errorf("it was sent %d more times", n)
	}
}

// granting is a store whose mail lease no other process can take.
type granting struct{ *memdb.DB }

func (g granting) Acquire(ctx context.Context, sink, holder string, ttl time.Duration) (store.Revision, bool, error) {
	if strings.HasPrefix(sink, mails.Operation) {
		return 0, true, nil
	}
	return g.DB.Acquire(ctx, sink, holder, ttl)
}

// refusing is a mail server that refuses mails when the test says so.
type refusing struct{ taking }

func (r refusing) Send(ctx context.Context, m mail.Message) error {
	_ = r.taking.Send(ctx, m)
	return errors.New("refused")
}

// TestHaltedSender states that a process that was halted while it sent a mail does not overwrite
// that another one has sent it.
func TestHaltedSender(t *testing.T) {
	w := open(t)
	goes := make(chan struct{})
	halted := refusing{taking{make(chan string, 9), func(context.Context) { <-goes }}}
	sends := taking{make(chan string, 9), func(context.Context) {}}
	w.server("127.0.0.1:25")
	run := func(s mail.Sender, more ...func(*mails.Config)) *mails.Service {
		one, _ := w.start(append(more, func(c *mails.Config) { c.Dial = func(mail.Server) (mail.Sender, error) { return s, nil } })...)
		return one
	}
	one := run(halted, func(c *mails.Config) { c.Store = granting{w.portal.DB} })
	w.store(func(wr store.Writer) error {
		_, err := one.Post(w.Context(), wr, "a", letter.Invite, mails.Data{Person: mails.Person{Email: "dev@example.com"}, Link: "https://x.example"})
		return err
	})
	<-halted.came
	run(sends)
	w.until("another process sends it", func() bool { return count(w.all(), letter.Done) == 1 })
	close(goes)
	time.Sleep(200 * time.Millisecond)
	if n := count(w.all(), letter.Done); n != 1 || len(sends.came) != 1 {
		t.Errorf("%d are sent, %d times: %+v", n, len(sends.came), w.all())
	}
}

// TestTemplates states that every mail can be rendered in both forms, and that the default theme
// replaces a theme that fails.
func TestTemplates(t *testing.T) {
	w := open(t)
	server := mailtest.Start(t)
	w.server(server.Address())
	broken := theme.Content{Files: theme.Files{"mailers/auth/reset_password.html.tmpl": []byte("{{CurrentUser req}}"), "mailers/welcome_dev.tmpl": []byte("<b>{{.user.First}}</b>"), "layouts/emails.tmpl": []byte("<i>{{yield}}</i>")}}
	for name, content := range map[string]theme.Content{"default": themes.Standard(), "broken": broken} {
		s, stop := w.start(func(c *mails.Config) {
			c.Content = func(context.Context, tenant.Scope) (theme.Content, error) { return content, nil }
		})
		for _, n := range letter.Table {
			w.store(func(wr store.Writer) error {
				_, err := s.Post(w.Context(), wr, name+n.Name, n.Name, mails.Data{
					Person: mails.Person{First: "Dev", Last: "Eloper", Email: "dev@example.com"}, Team: "Red", Link: "https://portal.example/x",
					Values: map[string]any{"name": "Dev", "organisationName": "Acme", "user": map[string]any{"First": "Dev", "Last": "Eloper", "Email": "dev@example.com"}, "requests": []any{map[string]any{"ID": 7, "App": "Shop"}}, "credential": map[string]any{"Name": "key", "Expires": "2026-01-02 03:04"}, "certificate": map[string]any{"Name": "till", "Expires": "2026-01-02 03:04"}},
				})
				return err
			})
		}
		for range letter.Table {
			m := server.Next(t)
			if m.Text == "" || strings.Contains(m.Text, "no value") || strings.Contains(m.Text, "{{") {
				t.Error(m)
			}
			if name == "default" {
				parts(t, m)
			}
		}
		w.until("all are done", func() bool { return count(w.all(), letter.Pending) == 0 })
		stop()
	}
	if count(w.all(), letter.Failed) != 0 || !strings.Contains(w.log.String(), "the default one does") {
		t.Errorf("%+v %s", w.all(), w.log)
	}
}

// TestNames states that a name stays in its line: registering with another person's address cannot
// be used to write a mail to that person.
func TestNames(t *testing.T) {
	w := open(t)
	server := mailtest.Start(t)
	w.server(server.Address())
	s, _ := w.start()
	const name = "Ada\r\n\r\nYour account was stolen\u2028Call us"
	w.store(func(wr store.Writer) error {
		_, err := s.Post(w.Context(), wr, "x", "submitted", mails.Data{Person: mails.Person{First: name, Email: "dev@example.com"}, Values: map[string]any{"requests": []any{map[string]any{"ID": 7, "App": name}}}})
		return err
	})
	text, _ := parts(t, server.Next(t))
	if strings.Contains(text, "\nYour") || !strings.Contains(text, "Ada    Your account was stolen Call us") {
		t.Errorf("%q", text)
	}
}

// TestExpiry states that the owner of a credential gets one mail before and one after its expiry,
// and again when the expiry changes.
func TestExpiry(t *testing.T) {
	w := open(t)
	server := mailtest.Start(t)
	w.server(server.Address())
	list := []letter.Expiry{{Credential: 1, Name: "soon", Owner: 4, Expires: time.Now().Add(time.Hour)}, {Credential: 2, Name: "over", Owner: 4, Expires: time.Now().Add(-time.Hour)},
		{Credential: 3, Name: "never", Owner: 4}, {Credential: 4, Name: "later", Owner: 4, Expires: time.Now().Add(999 * time.Hour)}, {Credential: 5, Name: "of nobody", Owner: 99, Expires: time.Now()}}
	_, stop := w.start(func(c *mails.Config) {
		c.Every = 5 * time.Millisecond
		c.Expiring = func(context.Context, store.Reader, time.Time, time.Time) ([]letter.Expiry, error) { return list, nil }
	})
	got := []string{server.Next(t).Header.Get("Subject"), server.Next(t).Header.Get("Subject")}
	slices.Sort(got)
	if fmt.Sprint(got) != "[Your Credential has expired Your Credential is about to expire]" {
		t.Error(got)
	}
	time.Sleep(100 * time.Millisecond)
	stop()
	if server.Waiting() != 0 {
		t.Error("a mail came twice")
	}
}
