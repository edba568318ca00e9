// Package mail sends mail by SMTP (RFC 5321).
package mail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/gatehouse-io/gatehouse/ports/mail"
)

// Config says which server sends mail, and the sender address.
type Config struct {
	Address  string // host:port of the server
	Username string // "": without login
	Password string
	From     string // address of the sender
	FromName string
	Timeout  time.Duration // of one mail; 0: 15 s
}

// implicitTLS is the port where a connection begins with TLS (RFC 8314, 3.3).
const implicitTLS = 465

// SMTP sends mail through one server. On port 465 it speaks TLS from the beginning. On other
// ports it switches to TLS if the server supports that. Without TLS it sends no password,
// except to a server on the same machine.
type SMTP struct {
	cfg    Config
	host   string
	secure bool // TLS from the beginning
	server []gomail.Option
}

var _ mail.Sender = (*SMTP)(nil)

// New returns an SMTP sender. It does not connect yet.
func New(cfg Config) (*SMTP, error) {
	cfg.Timeout = cmp.Or(max(cfg.Timeout, 0), 15*time.Second)
	host, text, err := net.SplitHostPort(cfg.Address)
	port, failed := strconv.Atoi(text)
	if err != nil || failed != nil || host == "" || port < 1 || port > 65535 {
		return nil, errors.New("the address of the mail server must be host:port")
	}
	s := &SMTP{cfg: cfg, host: host, secure: port == implicitTLS, server: []gomail.Option{gomail.WithPort(port), gomail.WithTimeout(cfg.Timeout)}}
	ip, login := net.ParseIP(host), gomail.SMTPAuthAutoDiscover
	near := host == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case s.secure:
		s.server = append(s.server, gomail.WithSSL())
	case cfg.Username == "" || near:
		login = gomail.SMTPAuthPlain // the client sends PLAIN without TLS to this machine only
		s.server = append(s.server, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		s.server = append(s.server, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if cfg.Username != "" {
		s.server = append(s.server, gomail.WithSMTPAuth(login), gomail.WithUsername(cfg.Username), gomail.WithPassword(cfg.Password))
	}
	if _, err := s.write(mail.Message{To: cfg.From}); err != nil {
		return nil, errors.New("the sender of mail must be an address")
	}
	return s, nil
}

// Dial returns a sender for a server that is chosen while the service runs.
func Dial(at mail.Server) (mail.Sender, error) {
	return New(Config{Address: at.Address, Username: at.Username, Password: at.Password, From: at.From})
}

// Send implements mail.Sender.
func (s *SMTP) Send(ctx context.Context, m mail.Message) error {
	message, err := s.write(m)
	if err != nil {
		return errors.New("mail: the recipient is no address")
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	server := s.server
	if !s.secure { // with TLS from the beginning the client connects itself, and the timeout ends it
		// The client looks at a context only while it connects, and a server that says nothing would
		// hold up the end of the service.
		server = append(slices.Clip(server), gomail.WithDialContextFunc(func(dial context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(dial, network, address)
			if err == nil {
				context.AfterFunc(ctx, func() { _ = conn.Close() })
			}
			return conn, err
		}))
	}
	client, err := gomail.NewClient(s.host, server...)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	err = client.DialAndSendWithContext(ctx, message)
	if err == nil || message.IsDelivered() {
		return nil // a goodbye that fails takes nothing back: an error would send the mail again
	}
	// What servers quote, such as the recipient, stays out of what is said.
	if refused, ok := errors.AsType[*gomail.SendError](err); ok {
		out := fmt.Errorf("mail: the server refuses the mail: %s (%d %s)", refused.Reason, refused.ErrorCode(), refused.EnhancedStatusCode())
		switch {
		case refused.Reason == gomail.ErrConnCheck: // before the mail was sent
			return fmt.Errorf("%w: %w", mail.ErrAway, out)
		case refused.ErrorCode()/100 == 4: // RFC 5321, 4.2.1: temporary failure
			return fmt.Errorf("%w: %w", mail.ErrLater, out)
		}
		return out
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("mail: %w: %w", mail.ErrAway, op)
	}
	return fmt.Errorf("mail: %w: the conversation with the server failed; check its address, its certificate, the user and the password", mail.ErrAway)
}

func (s *SMTP) write(m mail.Message) (*gomail.Msg, error) {
	out := gomail.NewMsg()
	if err := out.FromFormat(s.cfg.FromName, s.cfg.From); err != nil {
		return nil, err
	}
	if err := out.To(m.To); err != nil {
		return nil, err
	}
	out.Subject(m.Subject)
	out.SetDate()
	out.SetMessageID()
	switch {
	case m.HTML == "":
		out.SetBodyString(gomail.TypeTextPlain, m.Text)
	case m.Text == "":
		out.SetBodyString(gomail.TypeTextHTML, m.HTML)
	default:
		out.SetBodyString(gomail.TypeTextPlain, m.Text)
		out.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	return out, nil
}
