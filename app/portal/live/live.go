// Package live holds what people can do for themselves on the portal: register, log in,
// choose passwords, change their profile, ask for an organisation, look after its users
// (docs/wire/portal-live.md). Pages stand on it.
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

// Registrations are what there is to sessions, codes and requests.
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

// Letter is a mail with a code that its receiver alone may know.
type Letter struct {
	Purpose     visit.Purpose
	ID          string // of the code
	To          string // an address
	First, Last string
	Team        string // into which somebody is invited
	Admin       bool   // somebody is invited to administer
	Code        string
	Until       time.Time
}

// Settings say how browsers are treated. The zero Settings have the defaults.
type Settings struct {
	Cookie   string // name of the cookie; "": portal-session
	Secure   bool   // cookies go over TLS only
	Script   bool   // scripts may read the cookie
	SameSite string // "": Strict
	Key      string // with another one, the sessions there are hold no more
	Life     time.Duration
	Idle     time.Duration
	Bound    bool // sessions hold for the network in which they began
	NoProof  bool // calls that change something need no proof that they come from our own pages
	// Home is the start page, to which developers get from identity providers; "": "/".
	Home string
	// Queue stores a letter in the unit of work that causes it, to be sent from the store;
	// false: the portal sends no mails of its own. nil: it never does.
	Queue func(ctx context.Context, w store.Writer, l Letter) (bool, error)
	// Post sends a letter that Queue did not take, which takes as long as it takes; nil:
	// such a letter is not sent.
	Post func(ctx context.Context, l Letter) error
	// Delay is how long an answer about a password waits at most besides what all take; 0:
	// 200 ms, less: no answer waits.
	Delay time.Duration
}

// Defaults of settings.
const (
	defaultCookie = "portal-session"
	defaultLife   = 7 * 24 * time.Hour
	defaultIdle   = time.Hour
	defaultDelay  = 200 * time.Millisecond
)

// Config is what the use cases are made of. Tools are given when the operations are made.
type Config struct {
	Settings
	People *people.Service
	Scope  tenant.Scope // of the portal; the zero Scope: there is none
	Known  []Known      // what others know of a person
	// Depart deletes the account of somebody who wants to go, with all that it has at others.
	// Its errors are for the person.
	Depart func(ctx context.Context, id table.ID) error
}

// Service are the use cases.
type Service struct {
	Config
	crud.Tools
	checker

	mu       sync.Mutex
	names    session.Attempts // wrong passwords, by account
	networks session.Attempts // the same, by network
	flights  flights
	asked    session.Attempts // mails, by address
	asking   session.Attempts // registrations and mails asked for, by network
	guesses  session.Attempts // wrong present passwords of people who have a session, by user

	letters chan Letter   // that Queue did not take
	wake    chan struct{} // somebody has asked for a mail
}

// Bounds of what strangers may ask for.
const (
	wrongPerNetwork  = 100 // passwords in the time that an account is locked
	mailsPerAddress  = 3   // in a day
	asksPerNetwork   = 50  // in an hour
	guessesPerUser   = 10  // in an hour
	mailsWaiting     = 256
	mailsAtOnce      = 2
	rememberedNames  = 50_000
	maxStrangersBody = 64 << 10
)

// New returns the use cases.
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

// attributed returns a context whose units of work are the user's own.
func attributed(ctx context.Context, id table.ID) context.Context {
	a := store.AttributionOf(ctx, tenant.Scope{})
	a.Actor = account.Principal(id)
	return store.Attribute(ctx, a)
}

// person is the input of an operation of somebody who has logged in.
type person struct{ Who operation.Principal }

// of returns the user who calls, as stored at this moment.
func (in person) of(ctx context.Context, r store.Reader) (account.User, error) {
	id, _ := account.OfPrincipal(in.Who.ID)
	return portal.Find(ctx, r, people.Users, id.String())
}

// Follower ends the sessions and the codes of a user who goes, is deactivated, or has
// another password, the codes of one who has another address, and forgets the requests of
// one who goes.
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
			if before.Email != after.Email { // others may read what was mailed to the old one
				return drop(ctx, w, codes, before.ID)
			}
			return nil
		}
		return EndAll(ctx, w, before.ID)
	}}
}

// EndAll ends all sessions of a user, and the codes that mails have.
func EndAll(ctx context.Context, w store.Writer, id table.ID) error {
	if err := drop(ctx, w, sessions, id); err != nil {
		return err
	}
	return drop(ctx, w, codes, id)
}

// drop deletes what a user has of a kind.
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
