package mail_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/mail"
	"github.com/gatehouse-io/gatehouse/adapters/mail/mailtest"
	port "github.com/gatehouse-io/gatehouse/ports/mail"
)

func open(t *testing.T, cfg mail.Config) *mail.SMTP {
	t.Helper()
	s, err := mail.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const letter = "An address:\n\nhttps://gatehouse.example/password/reset?code=ABC=DEF&x=" + "long-long-long-long-long-long-long-long-long-long\n.\nÜber\n"

func TestSend(t *testing.T) {
	server := mailtest.Start(t)
	s := open(t, mail.Config{Address: server.Address(), From: "gatehouse@example.com", FromName: "Gatehouse Ü", Username: "me", Password: "hunter2"})
	if err := s.Send(t.Context(), port.Message{To: "ada@example.com", Subject: "Choose another password", Text: letter}); err != nil {
		t.Fatal(err)
	}
	m := server.Next(t)
	if m.From != "gatehouse@example.com" || m.To != "ada@example.com" || m.Text != letter || m.Header.Get("Subject") != "Choose another password" || m.Login == "" ||
		m.Header.Get("Date") == "" || m.Header.Get("Message-Id") == "" || !strings.Contains(m.Header.Get("From"), "<gatehouse@example.com>") {
		t.Errorf("%+v", m)
	}
}

// Errors, which are logged, do not quote the server.
func TestRefusedMail(t *testing.T) {
	server := mailtest.Start(t)
	server.Refuse = "550 5.1.1 <ada@example.com> is unknown here"
	s := open(t, mail.Config{Address: server.Address(), From: "gatehouse@example.com"})
	err := s.Send(t.Context(), port.Message{To: "ada@example.com", Subject: "s", Text: "secret"})
	if err == nil || strings.Contains(err.Error(), "ada@") || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "550") {
		t.Error(err)
	}
}

// TestFailures: errors before the server gets a mail, and temporary answers, are not refusals
// of the mail.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		verb, text string
		want       error // nil: a permanent refusal
	}{
		{mailtest.Greeting, "421 4.3.2 busy", port.ErrAway}, {mailtest.Greeting, "554 5.3.2 maintenance", port.ErrAway}, {mailtest.Greeting, "", port.ErrAway},
		{"AUTH", "535 5.7.8 the password has changed", port.ErrAway}, {"AUTH", "454 4.7.0 later", port.ErrAway}, {"AUTH", "", port.ErrAway},
		{"NOOP", "421 4.3.2 closing", port.ErrAway}, {"NOOP", "", port.ErrAway},
		{"MAIL", "451 4.3.0 later", port.ErrLater}, {"RCPT", "450 4.2.0 greylisted", port.ErrLater}, {"RCPT", "421 4.3.2 closing", port.ErrLater}, {"DATA", "452 4.3.1 the disk is full", port.ErrLater},
		{"MAIL", "553 5.1.8 from whom", nil}, {"RCPT", "550 5.1.1 unknown", nil}, {"DATA", "554 5.6.0 no", nil}, {"RCPT", "", nil},
	} {
		server := mailtest.Start(t)
		server.Instead = map[string]string{c.verb: c.text}
		s := open(t, mail.Config{Address: server.Address(), From: "gatehouse@example.com", Username: "me", Password: "hunter2"})
		err := s.Send(t.Context(), port.Message{To: "ada@example.com", Subject: "s", Text: "t"})
		if err == nil || errors.Is(err, port.ErrAway) != errors.Is(c.want, port.ErrAway) || errors.Is(err, port.ErrLater) != errors.Is(c.want, port.ErrLater) {
			t.Errorf("%s %q: %v", c.verb, c.text, err)
		}
	}
}

// A mail that the server has accepted counts as sent, however the connection ends: an error
// would make callers send it again.
func TestTakenMail(t *testing.T) {
	for name, set := range map[string]func(*mailtest.Server){
		"a malformed goodbye":    func(s *mailtest.Server) { s.Goodbye = "bye" },
		"a goodbye that refuses": func(s *mailtest.Server) { s.Goodbye = "421 4.3.2 closing" },
		"a server that leaves":   func(s *mailtest.Server) { s.Leaves = true },
	} {
		t.Run(name, func(t *testing.T) {
			server := mailtest.Start(t)
			set(server)
			s := open(t, mail.Config{Address: server.Address(), From: "gatehouse@example.com"})
			if err := s.Send(t.Context(), port.Message{To: "ada@example.com", Subject: "s", Text: "t"}); err != nil || server.Waiting() != 1 {
				t.Errorf("%d mails, %v", server.Waiting(), err)
			}
		})
	}
}

// A recipient is one address: it cannot smuggle in another header or recipient.
func TestRecipients(t *testing.T) {
	server := mailtest.Start(t)
	s := open(t, mail.Config{Address: server.Address(), From: "gatehouse@example.com"})
	for _, to := range []string{"", "ada", "ada@example.com\r\nBcc: eve@example.com", "ada@example.com, eve@example.com", "ada@example.com\r\n"} {
		if err := s.Send(t.Context(), port.Message{To: to, Subject: "s", Text: "t"}); err == nil || strings.Contains(err.Error(), "eve") {
			t.Errorf("%q: %v", to, err)
		}
	}
	if server.Waiting() != 0 {
		t.Error("mails came")
	}
}

// A password is not sent to another machine without TLS, and a silent server does not block
// the caller.
func TestServersThatFail(t *testing.T) {
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	s := open(t, mail.Config{Address: silent.Addr().String(), From: "gatehouse@example.com", Timeout: 50 * time.Millisecond})
	if err := s.Send(context.Background(), port.Message{To: "ada@example.com"}); err == nil {
		t.Error("a silent server takes mail")
	}
}

// TestCutShort: a connection ends with its caller's context, whatever the server does.
func TestCutShort(t *testing.T) {
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	s := open(t, mail.Config{Address: silent.Addr().String(), From: "gatehouse@example.com", Timeout: time.Hour})
	failed := make(chan error)
	go func() { failed <- s.Send(ctx, port.Message{To: "ada@example.com"}) }()
	conn, err := silent.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	cancel()
	select {
	case err := <-failed:
		if err == nil {
			t.Error("a silent server takes mail")
		}
	case <-time.After(time.Minute):
		t.Error("the sender waits on")
	}
}

func TestNew(t *testing.T) {
	for name, cfg := range map[string]mail.Config{
		"no address":    {From: "a@b.example"},
		"no port":       {Address: "mail.example", From: "a@b.example"},
		"no host":       {Address: ":25", From: "a@b.example"},
		"a wrong port":  {Address: "mail.example:70000", From: "a@b.example"},
		"a wrong from":  {Address: "mail.example:25", From: "nobody"},
		"without from":  {Address: "mail.example:25"},
		"two addresses": {Address: "mail.example:25", From: "a@b.example, c@d.example"},
	} {
		if _, err := mail.New(cfg); err == nil {
			t.Error(name)
		}
	}
}

// A mail with text and HTML has them as alternatives, and an unavailable server is
// distinguished.
func TestAlternatives(t *testing.T) {
	server := mailtest.Start(t)
	s, err := mail.Dial(port.Server{Address: server.Address(), From: "gatehouse@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, html, kind string }{{"a", "<b>", "multipart/alternative"}, {"", "<b>", "text/html"}, {"a", "", "text/plain"}} {
		if err := s.Send(t.Context(), port.Message{To: "ada@example.com", Subject: "s", Text: c.text, HTML: c.html}); err != nil {
			t.Fatal(err)
		}
		if m := server.Next(t); !strings.HasPrefix(m.Header.Get("Content-Type"), c.kind) {
			t.Errorf("%+v", m)
		}
	}
	closed, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	if s, err = mail.Dial(port.Server{Address: closed.Addr().String(), From: "gatehouse@example.com"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), port.Message{To: "ada@example.com"}); !errors.Is(err, port.ErrAway) {
		t.Error(err)
	}
}
