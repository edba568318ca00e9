// Package mailtest has a mail server for tests: it accepts every mail and keeps it.
package mailtest

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/textproto"
	"strings"
	"testing"
	"time"
)

// Server is a mail server on a loopback address.
type Server struct {
	// Refuse is the server's reply to a recipient, such as "550 5.1.1 unknown"; "": it accepts
	// all. Set it before the first mail.
	Refuse string
	// Goodbye replaces the reply "221 2.0.0 bye" to QUIT. Leaves closes the connection after a
	// mail. Set both before the first mail.
	Goodbye string
	Leaves  bool
	// Instead replaces the server's replies to commands, by verb; "" closes the connection. The
	// verb Greeting stands for the first line of the server. Set it before the first mail.
	Instead map[string]string

	listener net.Listener
	mails    chan Mail
}

// Greeting is the key in Server.Instead for the first line of a server.
const Greeting = "GREETING"

// Mail is a mail that arrived.
type Mail struct {
	From, To string // of the envelope
	Login    string // what the client sent with AUTH, "" without
	Header   mail.Header
	Text     string // lines end in "\n"
}

// Start runs a server until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{listener: l, mails: make(chan Mail, 1000)}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}

// Address returns host:port of the server.
func (s *Server) Address() string { return s.listener.Addr().String() }

// patience is how long Next waits: on a busy machine a sender may lose its lease or a
// connection, and tries again after its first pause.
const patience = 2 * time.Minute

// Next returns the next mail, or fails the test when none arrives.
func (s *Server) Next(t testing.TB) Mail {
	t.Helper()
	select {
	case m := <-s.mails:
		return m
	case <-time.After(patience):
		t.Fatal("no mail has come")
		return Mail{}
	}
}

// Waiting returns how many mails have arrived that Next has not returned.
func (s *Server) Waiting() int { return len(s.mails) }

// serve handles one connection.
func (s *Server) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	c := textproto.NewReader(bufio.NewReader(conn))
	say := func(text string) { _, _ = fmt.Fprint(conn, text+"\r\n") }
	if text, ok := s.Instead[Greeting]; ok {
		say(text)
		return
	}
	say("220 mailtest")
	var m Mail
	for {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(line, " ")
		if text, ok := s.Instead[strings.ToUpper(verb)]; ok {
			if text == "" {
				return
			}
			say(text)
			continue
		}
		switch strings.ToUpper(verb) {
		case "EHLO":
			say("250-mailtest\r\n250-8BITMIME\r\n250 AUTH PLAIN")
		case "AUTH":
			m.Login = rest
			say("235 2.7.0 welcome")
		case "MAIL":
			m.From = between(rest)
			say("250 2.1.0 sender")
		case "RCPT":
			if m.To = between(rest); s.Refuse != "" {
				say(s.Refuse)
				continue
			}
			say("250 2.1.5 recipient")
		case "DATA":
			say("354 go on")
			if s.take(c, m) != nil {
				return
			}
			say("250 2.0.0 taken")
			if s.Leaves {
				return
			}
		case "QUIT":
			say(cmp.Or(s.Goodbye, "221 2.0.0 bye"))
			return
		default:
			say("250 2.0.0 fine")
		}
	}
}

func (s *Server) take(c *textproto.Reader, m Mail) error {
	lines, err := c.ReadDotLines()
	if err != nil {
		return err
	}
	read, err := mail.ReadMessage(strings.NewReader(strings.Join(lines, "\n") + "\n"))
	if err != nil {
		return err
	}
	body := read.Body
	if strings.EqualFold(read.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	m.Header, m.Text = read.Header, strings.ReplaceAll(string(text), "\r\n", "\n")
	s.mails <- m
	return nil
}

// between returns the text in angle brackets.
func between(text string) string {
	_, text, _ = strings.Cut(text, "<")
	text, _, _ = strings.Cut(text, ">")
	return text
}
