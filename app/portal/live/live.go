// Package live has the operations of portal users on their own behalf: register, log in,
// choose passwords, change their profile, request an organisation, manage its users
// (docs/wire/portal-live.md). The portal's pages call them.
package live

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/visit"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Names of indexes.
const (
	byDigest = "digest"
	byUser   = "user"
)

var sessions = &store.Kind[visit.Session]{
	Name: visit.SessionKind, Noun: "session",
	ID:  func(s visit.Session) string { return s.ID },
	Org: func(s visit.Session) tenant.ID { return s.Portal },
	Indexes: []store.Index[visit.Session]{
		store.Lookup(byDigest, func(s visit.Session) string { return s.Digest }),
		store.Lookup(byUser, func(s visit.Session) string { return s.UserID.Key() }),
	},
}

var codes = &store.Kind[visit.Code]{
	Name: visit.CodeKind, Noun: "code",
	ID:  func(c visit.Code) string { return c.ID },
	Org: func(c visit.Code) tenant.ID { return c.Portal },
	Indexes: []store.Index[visit.Code]{
		store.Lookup(byDigest, func(c visit.Code) string { return c.Digest }),
		store.Lookup(byUser, func(c visit.Code) string { return c.UserID.Key() }),
	},
}

// Registrations returns the registrations of the kinds of sessions, codes and requests.
func (s *Service) Registrations() []crud.Registrar {
	return []crud.Registrar{
		crud.Facts[visit.Session]{Kind: sessions, Sample: func(at crud.Stamp) (visit.Session, error) {
			return visit.Session{ID: at.ID, Portal: at.Org, UserID: 7, Digest: at.ID, Created: at.Now(), Seen: at.Now()}, nil
		}},
		crud.Facts[visit.Code]{Kind: codes, Sample: func(at crud.Stamp) (visit.Code, error) {
			return visit.NewCode(at.ID, at.ID, visit.Reset, account.User{Base: table.Base{ID: 7, Portal: at.Org}}, at.Now()), nil
		}},
		crud.Facts[ask]{Kind: asks, Sealed: func(a *ask) *string { return &a.Email }, Sample: func(at crud.Stamp) (ask, error) {
			return ask{ID: at.ID, Portal: at.Org, At: at.Now()}, nil
		}},
		s.RequestResource(), s.InviteCodeResource(),
	}
}

// Letter is a mail with a code that only its receiver may know.
type Letter struct {
	Purpose     visit.Purpose
	ID          string // of the code
	To          string // an address
	First, Last string
	Team        string // of an invitation
	Admin       bool   // the invitation is for an admin
	Code        string
	Until       time.Time
}

// Settings configure browser sessions. The zero Settings have the defaults.
type Settings struct {
	Cookie   string // name of the cookie; "": portal-session
	Secure   bool   // cookies are sent over TLS only
	Script   bool   // scripts may read the cookie
	SameSite string // "": Strict
	Key      string // a new key invalidates the existing sessions
	Life     time.Duration
	Idle     time.Duration
	Bound    bool // sessions are valid only in the network in which they began
	NoProof  bool // writes need no CSRF token
	// Home is the start page, to which developers return from identity providers; "": "/".
	Home string
	// Queue stores a letter in the unit of work that causes it, to be sent later; false: the
	// portal sends no mails of its own. nil: it never does.
	Queue func(ctx context.Context, w store.Writer, l Letter) (bool, error)
	// Post sends a letter that Queue did not store, and may block; nil: such letters are not
	// sent.
	Post func(ctx context.Context, l Letter) error
	// Delay is the maximum random delay of an answer about a password, in addition to the
	// fixed one; 0: 200 ms, negative: answers are not delayed.
	Delay time.Duration
}

// Defaults of settings.
const (
	defaultCookie = "portal-session"
	defaultLife   = 7 * 24 * time.Hour
	defaultIdle   = time.Hour
	defaultDelay  = 200 * time.Millisecond
)

// Config is the configuration of a Service. The Tools are passed with the operations.
type Config struct {
	Settings
	People *people.Service
	Scope  tenant.Scope // of the portal; the zero Scope: there is none
	Known  []Known      // personal data in other packages
	// Depart deletes the account of a user at the user's request, with its credentials
	// elsewhere. Its errors are shown to the user.
	Depart func(ctx context.Context, id table.ID) error
}

// Service has the operations.
type Service struct {
	Config
	crud.Tools
	checker

	mu       sync.Mutex
	names    session.Attempts // wrong passwords, by account
	networks session.Attempts // the same, by network
	flights  flights
	asked    session.Attempts // mails, by address
	asking   session.Attempts // registrations and requested mails, by network
	guesses  session.Attempts // wrong current passwords of logged-in users, by user

	letters chan Letter   // letters that Queue did not store
	wake    chan struct{} // signals a requested mail
}

// Bounds for callers without a session.
const (
	wrongPerNetwork  = 100 // failed logins in the time for which an account is locked
	mailsPerAddress  = 3   // in a day
	asksPerNetwork   = 50  // in an hour
	guessesPerUser   = 10  // in an hour
	mailsWaiting     = 256
	mailsAtOnce      = 2
	rememberedNames  = 50_000
	maxStrangersBody = 64 << 10
)

// New returns a Service.
func New(c Config, t crud.Tools) *Service {
	if c.Cookie == "" {
		c.Cookie = defaultCookie
	}
	if c.SameSite == "" {
		c.SameSite = "Strict"
	}
	if c.Life <= 0 {
		c.Life = defaultLife
	}
	if c.Idle <= 0 {
		c.Idle = defaultIdle
	}
	if c.Delay == 0 {
		c.Delay = defaultDelay
	}
	dummy := sync.OnceValue(func() string {
		hash, err := c.People.Passwords.Hash("a password that no user has")
		if err != nil {
			t.Log.Error("no password can be hashed; the time of an answer to a login says whether the user exists", "error", err)
		}
		return hash
	})
	return &Service{
		Config: c, Tools: t, checker: checker{c.People.Passwords, dummy, make(chan struct{}, queued), make(chan struct{}, atOnce)},
		names: session.Attempts{Room: rememberedNames}, networks: session.Attempts{Room: rememberedNames},
		flights: flights{by: map[string]int{}, landed: make(chan struct{})},
		asked:   session.Attempts{Limit: mailsPerAddress, Window: 24 * time.Hour, Room: rememberedNames},
		asking:  session.Attempts{Limit: asksPerNetwork, Window: time.Hour, Room: rememberedNames},
		guesses: session.Attempts{Limit: guessesPerUser, Window: time.Hour, Room: rememberedNames},
		letters: make(chan Letter, mailsWaiting), wake: make(chan struct{}, 1),
	}
}

func (s *Service) rules() visit.Rules { return visit.Rules{Life: s.Life, Idle: s.Idle} }

// attributed returns a context whose units of work are attributed to the user.
func attributed(ctx context.Context, id table.ID) context.Context {
	a := store.AttributionOf(ctx, tenant.Scope{})
	a.Actor = account.Principal(id)
	return store.Attribute(ctx, a)
}

// person is the input of an operation of a logged-in user.
type person struct{ Who operation.Principal }

// of returns the current record of the calling user.
func (in person) of(ctx context.Context, r store.Reader) (account.User, error) {
	id, _ := account.OfPrincipal(in.Who.ID)
	return portal.Find(ctx, r, people.Users, id.String())
}

// Follower ends the sessions and codes of a user who is deleted, is deactivated, or has a new
// password. It deletes the codes of a user with a new address, and the requests of a deleted
// user.
func Follower() people.Follower {
	return people.Follower{Follow: func(ctx context.Context, w store.Writer, _ crud.Stamp, before, after *account.User) error {
		switch {
		case before == nil:
			return nil
		case after == nil:
			if err := drop(ctx, w, requests, before.ID); err != nil {
				return err
			}
		case before.PasswordHash == after.PasswordHash && (after.Active || !before.Active):
			if before.Email != after.Email { // another person may read the mail to the old address
				return drop(ctx, w, codes, before.ID)
			}
			return nil
		}
		return EndAll(ctx, w, before.ID)
	}}
}

// EndAll deletes all sessions of a user, and the codes in mails.
func EndAll(ctx context.Context, w store.Writer, id table.ID) error {
	if err := drop(ctx, w, sessions, id); err != nil {
		return err
	}
	return drop(ctx, w, codes, id)
}

// drop deletes the records of a kind that belong to a user.
func drop[T any](ctx context.Context, w store.Writer, k *store.Kind[T], id table.ID) error {
	gone, err := k.Values(ctx, w, store.Query{Index: byUser, Value: id.Key()})
	if err != nil {
		return err
	}
	for _, v := range gone {
		if _, err := k.Delete(ctx, w, k.ID(v), nil); err != nil {
			return err
		}
	}
	return nil
}
