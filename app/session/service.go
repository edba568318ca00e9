// Package session holds the use cases of browsers: logging in and out, and calls with a
// cookie instead of an access key (docs/wire/sessions.md).
package session

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/identity"
	domain "github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/login"
	"github.com/gatehouse-io/gatehouse/ports/mail"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Indexes of sessions.
const (
	byDigest = "digest"
	byUser   = "user_id"
)

var sessions = &store.Kind[session.Session]{
	Name: session.Kind, Noun: "session",
	ID:  func(s session.Session) string { return s.ID },
	Org: func(s session.Session) tenant.ID { return s.OrgID },
	Indexes: []store.Index[session.Session]{
		store.Lookup(byDigest, func(s session.Session) string { return s.Digest }),
		store.Lookup(byUser, func(s session.Session) string { return s.UserID }),
	},
}

var nonces = &store.Kind[session.Nonce]{
	Name: session.NonceKind, Noun: "nonce",
	ID:      func(n session.Nonce) string { return n.ID },
	Org:     func(n session.Nonce) tenant.ID { return n.OrgID },
	Indexes: []store.Index[session.Nonce]{store.Lookup(byDigest, func(n session.Nonce) string { return n.Digest })},
}

// NonceRegistration returns the registration of the kind of nonces.
func NonceRegistration() crud.Registration {
	return crud.Facts[session.Nonce]{Kind: nonces, Sample: func(at crud.Stamp) (session.Nonce, error) {
		return session.Nonce{ID: at.ID, OrgID: at.Org, Digest: at.ID, Person: session.Person{Section: session.Dashboard}, Expires: at.Now().Add(session.NonceLife)}, nil
	}}.Registration()
}

var resets = &store.Kind[session.Reset]{
	Name: session.ResetKind, Noun: "reset",
	ID:  func(r session.Reset) string { return r.ID },
	Org: func(r session.Reset) tenant.ID { return r.OrgID },
	Indexes: []store.Index[session.Reset]{
		store.Lookup(byDigest, func(r session.Reset) string { return r.Digest }),
	},
}

// ResetRegistration returns the registration of the kind of password resets.
func ResetRegistration() crud.Registration {
	return crud.Facts[session.Reset]{Kind: resets, Sample: func(at crud.Stamp) (session.Reset, error) {
		return session.NewReset(at.ID, at.ID, domain.User{ID: at.ID, OrgID: at.Org, Email: "ada@example.com"}, at.Now()), nil
	}}.Registration()
}

// Registration returns the registration of the kind of sessions.
func Registration() crud.Registration {
	return crud.Facts[session.Session]{Kind: sessions, Sample: func(at crud.Stamp) (session.Session, error) {
		return session.Session{ID: at.ID, OrgID: at.Org, UserID: at.ID, Digest: at.ID, Created: at.Now(), Expires: at.Now().Add(time.Hour)}, nil
	}}.Registration()
}

// Config configures sessions and logins; the zero Config has the defaults.
type Config struct {
	Life   time.Duration // of a session; 0: an hour
	One    bool          // a login ends the other sessions of the user
	Secure bool          // cookies are sent over TLS only

	PerName    int           // wrong passwords for one name in a window; 0: no limit
	PerAddress int           // wrong passwords from one address in a window; 0: no limit
	Window     time.Duration // 0: 15 minutes
	Hidden     bool          // the response to a login that must wait is that to wrong credentials
	Direct     bool          // the client address is that of the connection, whatever proxies say

	Grants   session.Grants // permissions of people whom an identity broker has authenticated
	LoginURL string         // URL of the login page; "": there is none
	ErrorURL string         // URL for people whom single sign-on refuses; "": they get an error

	Provider login.Provider // calls the identity providers of profiles; nil: only external brokers do

	Mail      mail.Sender // sends mails about forgotten passwords; nil: there are none
	Mails     int         // that a network may request while one code is valid; 0: 20
	PublicURL string      // URL of this service for browsers, in mails and callbacks; no slash at the end

	Delay time.Duration // maximum of the random delay of responses to logins; 0: 200 ms, negative: no delay at all
}

// Bounds of all logins together.
const (
	atOnce      = 2      // passwords that are checked concurrently: each takes a processor, and memory
	queued      = 64     // logins in progress: those being checked, and those that wait
	maxHomes    = 4      // organisations in which one password is checked
	maxNames    = 50_000 // more than can be tried in a window of a quarter of an hour, because each attempt costs a slow hash
	maxPassword = 1024
)

// Service holds the use cases of browsers.
type Service struct {
	users *identity.Service
	cfg   Config
	dummy func() string // the hash of a password that no user has
	queue chan struct{} // one element for each login in progress
	slots chan struct{} // one element for each password that is being checked

	uses crud.Uses[use]

	mu        sync.Mutex
	names     session.Attempts
	addresses session.Attempts
	mailed    session.Attempts // requests for mails, by mail address
	asking    session.Attempts // requests for mails, by network

	requests chan request // for mails
}

// New returns the service for users, with a configuration.
func New(users *identity.Service, cfg Config) *Service {
	if cfg.Life <= 0 {
		cfg.Life = time.Hour
	}
	if cfg.Window <= 0 {
		cfg.Window = 15 * time.Minute
	}
	if cfg.Mails <= 0 {
		cfg.Mails = mailsPerNetwork
	}
	if cfg.Delay == 0 {
		cfg.Delay = 200 * time.Millisecond
	}
	return &Service{
		users: users, cfg: cfg, queue: make(chan struct{}, queued), slots: make(chan struct{}, atOnce),
		names:     session.Attempts{Limit: cfg.PerName, Window: cfg.Window, Room: maxNames},
		addresses: session.Attempts{Limit: cfg.PerAddress, Window: cfg.Window, Room: maxNames},
		mailed:    session.Attempts{Limit: mailsPerName, Window: session.ResetLife, Room: maxNames},
		asking:    session.Attempts{Limit: cfg.Mails, Window: session.ResetLife, Room: maxNames},
		requests:  make(chan request, mailsWaiting),
		dummy: sync.OnceValue(func() string {
			hash, err := users.Passwords.Hash("a password that no user has")
			if err != nil {
				users.Log.Error("no password can be hashed; the time of an answer to a login says whether the user exists", "error", err)
			}
			return hash
		}),
	}
}

// least is the minimum duration of a response to a login. It is longer than checking a
// password against a hash of any kind: older kinds, which the next login replaces, take
// other times than the dummy hash for addresses without a user.
const least = time.Second

// pause delays a response so that its time says nothing about the result: until least
// has passed, and then for a random time.
func (s *Service) pause(ctx context.Context, began time.Time) {
	if s.cfg.Delay <= 0 {
		return
	}
	t := time.NewTimer(session.Remaining(time.Since(began), least) + rand.N(s.cfg.Delay))
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// cookie returns a cookie with the attributes that the settings require.
func (s *Service) cookie(name, value string, life time.Duration) operation.Cookie {
	c := operation.Cookie{Name: name, Value: value, Life: life, Script: name == operation.ProofCookie, Secure: s.cfg.Secure}
	if name == operation.DeviceCookie {
		c.Path = "/login"
	}
	return c
}
