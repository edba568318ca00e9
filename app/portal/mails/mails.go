// Package mails sends the mails of the portal: made of events and of what use cases post,
// kept in the store, and sent outside of requests by one process of the cluster at a time
// (docs/wire/portal-mails.md).
package mails

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strconv"
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

// Operation is the attribution of commits that keep the mails, of which audit trails tell
// nothing.
const Operation = "portal mails"

// Indexes of mails.
const (
	byState = "state"
	byDue   = "due" // of pending ones
)

// How mails and marks are stored.
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

// Registrations are what there is to mails.
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

// Expiring yields the credentials and certificates that end between two times.
type Expiring func(ctx context.Context, r store.Reader, from, to time.Time) ([]letter.Expiry, error)

// Settings says how mails are sent.
type Settings struct {
	Dial   mail.Dial     // nil: there are no mails
	Engine render.Engine // runs the templates of mails
	// URL is the address of the portal, for links; "": mails have none but those that use
	// cases make.
	URL string
	// Every is how often somebody looks for credentials and certificates that expire; 0: never.
	Every time.Duration
	// Poll is how often somebody looks for mails that are due; 0: every two seconds.
	Poll time.Duration
}

// Config is what the service is made of.
type Config struct {
	crud.Tools
	Settings
	Keys    secret.Keys
	Scope   tenant.Scope // of the portal; the zero Scope: there is none
	Holder  string
	TTL     time.Duration
	Content func(context.Context, tenant.Scope) (theme.Content, error) // the current theme
	// Standard is the theme that is always there: its mails stand in for those that the
	// current theme does not have.
	Standard func() theme.Content
	// Expiring knows the credentials and certificates; nil: there are none.
	Expiring Expiring
}

// Service makes and sends mails.
type Service struct {
	Config
	turn      *lease.Lease
	steady    system.Clock // by which things end and mails are old: nothing takes back a mail
	unwritten *attempted   // the last attempt, until the store has taken it; for the goroutine that sends
}

// New returns the service.
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

// Sends reports whether the service sends mails, once the settings of the portal say how.
func (s *Service) Sends() bool { return s.turn != nil }

// Run sends mails while this process holds the lease, until ctx ends or Quit is called.
func (s *Service) Run(ctx context.Context) error {
	return s.turn.Run(ctx, s.hold)
}

// Quit ends sending for good, so that another process goes on.
func (s *Service) Quit(ctx context.Context) error {
	return s.turn.Quit(ctx)
}

// Data is what a mail says, as templates are given it.
type Data struct {
	Values map[string]any `json:"values,omitempty"` // what the templates look at
	Person Person         `json:"person"`           // whom the mail is about
	Team   string         `json:"team,omitempty"`
	Admin  bool           `json:"admin,omitempty"` // the person is, or becomes, an administrator
	Link   string         `json:"link,omitempty"`  // that opens something
}

// Person is a user as templates see one.
type Person struct{ First, Last, Email string }

// String returns the name: templates also print a user as it is.
func (p Person) String() string { return strings.TrimSpace(p.First + " " + p.Last) }

// DisplayName is the name, as templates of pages call it.
func (p Person) DisplayName() string { return p.String() }

// values are what templates read about the person.
func (p Person) values() map[string]any {
	return map[string]any{"First": p.First, "Last": p.Last, "Email": p.Email, "DisplayName": p.String()}
}

// Team is the name of a team. Templates print it, or ask for Name.
type Team string

// Name returns the name.
func (t Team) Name() string { return string(t) }

// Post stores a mail about a person, to be sent soon, in the unit of work that causes it.
// Nothing is stored while the portal sends no mails, which is false, or when there is that
// mail already: cause names the reason, and is not used again.
func (s *Service) Post(ctx context.Context, w store.Writer, cause, notice string, d Data) (bool, error) {
	g, err := general.Load(ctx, w)
	if err != nil || !s.sends(g) {
		return false, absentIsFine(err)
	}
	n, known := letter.Find(notice)
	if !known {
		return false, errors.New("mails: there is no notice " + notice)
	}
	return true, s.keep(ctx, w, cause, n, d.Person.Email, d)
}

// sends reports whether the settings say where mails go and from whom they are.
func (s *Service) sends(g setting.Settings) bool {
	return s.Sends() && strings.TrimSpace(g.SMTPHost) != "" && strings.TrimSpace(g.EmailFrom) != ""
}

// keep stores a mail, once.
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

// server is where mails go.
func (s *Service) server(g setting.Settings) (mail.Sender, error) {
	at := mail.Server{Address: net.JoinHostPort(strings.TrimSpace(g.SMTPHost), strconv.FormatInt(g.SMTPPort, 10)), Username: g.SMTPUser, From: strings.TrimSpace(g.EmailFrom)}
	if g.SMTPPassword != "" {
		var err error
		if at.Password, _, err = s.Keys.Open(g.SMTPPassword); err != nil {
			return nil, err
		}
	}
	return s.Dial(at)
}

func absentIsFine(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// All returns the mails of a portal, for those who look after it.
func All(ctx context.Context, r store.Reader) ([]letter.Mail, error) {
	return kind.Values(ctx, r, store.Query{})
}

// Forget removes a mail, if it is there.
func Forget(ctx context.Context, w store.Writer, id string) error {
	_, err := kind.Delete(ctx, w, id, nil)
	return absentIsFine(err)
}
