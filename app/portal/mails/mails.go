// Package mails sends the mails of the portal. Mails are made from events and by use cases,
// queued in the store, and sent in the background by one process of the cluster at a time
// (docs/wire/portal-mails.md).
package mails

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/lease"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/mail"
	"github.com/gatehouse-io/gatehouse/ports/render"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Operation is the attribution of commits about mails. Audit logs do not contain them.
const Operation = "portal mails"

// Indexes of mails.
const (
	byState = "state"
	byDue   = "due" // of pending ones
)

// The kinds of mails and marks.
var (
	kind = &store.Kind[letter.Mail]{
		Name: letter.Kind, Noun: "mail",
		ID:  func(m letter.Mail) string { return m.ID },
		Org: func(m letter.Mail) tenant.ID { return m.Portal },
		Indexes: []store.Index[letter.Mail]{
			store.Lookup(byState, func(m letter.Mail) string { return string(m.State) }),
			store.Sorted(byDue, func(m letter.Mail) string {
				if m.State != letter.Pending {
					return ""
				}
				return m.Next.UTC().Format("20060102150405.000") + m.ID
			}),
		},
	}
	marks = &store.Kind[letter.Mark]{
		Name: letter.MarkKind, Noun: "mark of a mail",
		ID:  func(m letter.Mark) string { return m.ID },
		Org: func(m letter.Mark) tenant.ID { return m.Portal },
	}
)

// Registrations returns the registrations of the kinds of mails and marks.
func Registrations() []crud.Registrar {
	return []crud.Registrar{
		crud.Facts[letter.Mail]{Kind: kind, Sealed: func(m *letter.Mail) *string { return &m.Data }, Sample: func(at crud.Stamp) (letter.Mail, error) {
			m := letter.New(at.Org, at.ID, letter.Table[0], "ada@example.com", at.Now())
			m.ID = at.ID
			return m, nil
		}}.Registration(),
		crud.Facts[letter.Mark]{Kind: marks, Sample: func(at crud.Stamp) (letter.Mark, error) {
			return letter.Mark{ID: at.ID, Portal: at.Org, Expires: at.Now()}, nil
		}}.Registration(),
	}
}

// Expiring returns the credentials and certificates that expire between two times.
type Expiring func(ctx context.Context, r store.Reader, from, to time.Time) ([]letter.Expiry, error)

// Settings configure how mails are sent.
type Settings struct {
	Dial   mail.Dial     // nil: no mails are sent
	Engine render.Engine // renders the templates of mails
	// URL is the address of the portal, for links; "": only use cases put links into mails.
	URL string
	// Every is how often expiring credentials and certificates are searched; 0: never.
	Every time.Duration
	// Poll is how often due mails are searched; 0: every two seconds.
	Poll time.Duration
}

// Config is the configuration of a Service.
type Config struct {
	crud.Tools
	Settings
	Keys    secret.Keys
	Scope   tenant.Scope // of the portal; the zero Scope: there is none
	Holder  string
	TTL     time.Duration
	Content func(context.Context, tenant.Scope) (theme.Content, error) // the current theme
	// Standard returns the built-in theme, whose mail templates are used if the current theme
	// lacks them.
	Standard func() theme.Content
	// Expiring finds credentials and certificates; nil: there are none.
	Expiring Expiring
}

// Service makes and sends mails.
type Service struct {
	Config
	turn      *lease.Lease
	steady    system.Clock // for expiry and the age of mails: a sent mail cannot be taken back
	unwritten *attempted   // the last attempt until it is stored; used by the sending goroutine only
}

// New returns a Service.
func New(c Config) (*Service, error) {
	s := &Service{Config: c}
	if c.Scope.IsZero() || c.Dial == nil {
		return s, nil
	}
	leases, ok := c.Store.(store.Leases)
	if !ok {
		return nil, errors.New("mails need a store with leases")
	}
	s.turn = lease.New(lease.Config{Leases: leases, Name: Operation + " " + string(c.Scope.Org()), Holder: c.Holder, Logger: c.Log, TTL: c.TTL})
	s.steady = system.Steady(c.Now)
	return s, nil
}

// Sends reports whether the service can send mails, provided that the portal's settings name a
// server.
func (s *Service) Sends() bool { return s.turn != nil }

// Run sends mails while this process holds the lease, until ctx ends or Quit is called.
func (s *Service) Run(ctx context.Context) error {
	return s.turn.Run(ctx, s.hold)
}

// Quit stops sending for good, so that another process takes over.
func (s *Service) Quit(ctx context.Context) error {
	return s.turn.Quit(ctx)
}

// Data is the data of a mail for its templates.
type Data struct {
	Values map[string]any `json:"values,omitempty"` // values for the templates
	Person Person         `json:"person"`           // the person whom the mail is about
	Team   string         `json:"team,omitempty"`
	Admin  bool           `json:"admin,omitempty"` // the person is an administrator, or becomes one
	Link   string         `json:"link,omitempty"`  // a link with a secret
}

// Person is a user in templates.
type Person struct{ First, Last, Email string }

// String returns the name: some templates print a user directly.
func (p Person) String() string { return strings.TrimSpace(p.First + " " + p.Last) }

// DisplayName returns the name, as in templates of pages.
func (p Person) DisplayName() string { return p.String() }

// values returns the person's data for templates.
func (p Person) values() map[string]any {
	return map[string]any{"First": p.First, "Last": p.Last, "Email": p.Email, "DisplayName": p.String()}
}

// Team is the name of a team. Templates print it, or use Name.
type Team string

// Name returns the name.
func (t Team) Name() string { return string(t) }

// Post stores a mail about a person in the unit of work that causes it; it is sent soon. It
// returns false and stores nothing while the portal sends no mails. It also stores nothing if a
// mail with the same cause exists: each cause is used once.
func (s *Service) Post(ctx context.Context, w store.Writer, cause, notice string, d Data) (bool, error) {
	g, err := general.Load(ctx, w)
	if err != nil || !s.sends(g) {
		return false, fault.AbsentFine(err)
	}
	n, known := letter.Find(notice)
	if !known {
		return false, errors.New("mails: there is no notice " + notice)
	}
	return true, s.keep(ctx, w, cause, n, d.Person.Email, d)
}

// sends reports whether the settings have a mail server and a sender address.
func (s *Service) sends(g setting.Settings) bool {
	return s.Sends() && strings.TrimSpace(g.SMTPHost) != "" && strings.TrimSpace(g.EmailFrom) != ""
}

// keep stores a mail, unless it exists.
func (s *Service) keep(ctx context.Context, w store.Writer, cause string, n letter.Notice, to string, d Data) error {
	m := letter.New(s.Scope.Org(), cause, n, to, s.Now())
	if _, err := kind.Get(ctx, w, m.ID); fault.KindOf(err) != fault.NotFound {
		return err
	}
	waiting, err := w.Count(ctx, store.Query{Kind: letter.Kind, Index: byState, Value: string(letter.Pending)})
	if err != nil {
		return err
	}
	if waiting >= letter.MaxPending {
		s.Log.Warn("too many mails wait; a mail is not sent", "notice", n.Name)
		return nil
	}
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if m.Data, err = s.Keys.Seal(string(text)); err != nil {
		return err
	}
	return kind.Insert(ctx, w, m)
}

// All returns the mails of a portal, for administration.
func All(ctx context.Context, r store.Reader) ([]letter.Mail, error) {
	return kind.Values(ctx, r, store.Query{})
}

// Forget deletes a mail, if it exists.
func Forget(ctx context.Context, w store.Writer, id string) error {
	_, err := kind.Delete(ctx, w, id, nil)
	return fault.AbsentFine(err)
}
