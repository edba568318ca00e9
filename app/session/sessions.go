package session

import (
	"context"
	"crypto/rand"
	"net/netip"
	"slices"
	"time"

	users "github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// deviceLife is for how long a browser counts as known.
const deviceLife = 365 * 24 * time.Hour

// Opened is the part of the response to a login about the session.
type Opened struct {
	UserID  string    `json:"user_id"`
	OrgID   tenant.ID `json:"org_id"`
	Expires time.Time `json:"expires_at"`
	// MustChange says that the session can do nothing but change the password.
	MustChange bool `json:"password_expired"`
}

// begin returns a new session and its token. The token is always new: a token that the
// browser had before is not used.
func (s *Service) begin(org tenant.ID, userID string, from comes) (opened session.Session, token string) {
	token, now := rand.Text(), s.users.Now()
	address := "" // without its port
	remote := s.remote(from.Origin)
	addr, err := netip.ParseAddr(remote)
	if at, failed := netip.ParseAddrPort(remote); failed == nil {
		addr, err = at.Addr(), nil
	}
	if err == nil {
		address = addr.Unmap().WithZone("").String()
	}
	return session.Session{
		ID: s.users.NewID(), OrgID: org, UserID: userID, Digest: s.digests(token)[0],
		Created: now, Expires: now.Add(s.cfg.Life), Address: address, Agent: session.Agent(from.Agent),
	}, token
}

// comes is the origin of a browser that logs in, by which its owner recognises the
// session.
type comes struct {
	Origin operation.Origin
	Agent  string `header:"User-Agent" doc:"Name of the browser. Users recognise the session by it in their list of sessions."`
}

// open begins a session for a user whose password was right. It replaces a hash of an
// older kind, because the password is available now.
func (s *Service) open(ctx context.Context, u identity.User, password string, from comes) (operation.Landing, error) {
	hash := u.Credentials.PasswordHash
	if !s.users.Passwords.Current(hash) {
		var err error
		if hash, err = s.users.Passwords.Hash(password); err != nil {
			return operation.Landing{}, err
		}
	}
	opened, token := s.begin(u.OrgID, u.ID, from)
	must := false
	_, err := s.users.Store.Update(attributed(ctx, u), users.Home(u), func(w store.Writer) error {
		_, err := users.Records.Edit(ctx, w, u.ID, nil, func(v identity.User) (identity.User, error) {
			if v.Credentials.PasswordHash != u.Credentials.PasswordHash || !v.Active {
				return v, wrong // the user has changed since the check
			}
			v.LastLogin, v.Credentials.PasswordHash = opened.Created, hash
			return v, nil
		})
		if err != nil {
			return err
		}
		if must, err = s.users.MustChange(ctx, w, u); err != nil {
			return err
		}
		return s.keep(ctx, w, opened)
	})
	if err != nil {
		return operation.Landing{}, err
	}
	out := s.entered(opened, token)
	out.Meta = Opened{u.ID, u.OrgID, opened.Expires, must}
	out.Who.Email = u.Email
	nonce := rand.Text() // by which the browser is recognised from now on
	device := nonce + "." + s.users.Keys.Digests(deviceText(u.Email, nonce))[0]
	out.Cookies = append(out.Cookies, s.cookie(operation.DeviceCookie, device, deviceLife))
	return out, nil
}

// keep stores a session and ends those that it replaces.
func (s *Service) keep(ctx context.Context, w store.Writer, opened session.Session) error {
	all, err := sessionsOf(ctx, w, opened.UserID)
	if err != nil {
		return err
	}
	if err := end(ctx, w, session.Excess(all, opened.Created, s.cfg.One)); err != nil {
		return err
	}
	return sessions.Insert(ctx, w, opened)
}

// entered returns the response to a login that succeeded.
func (s *Service) entered(opened session.Session, token string) operation.Landing {
	return operation.Landing{
		Who:     operation.Principal{ID: opened.UserID, OrgID: opened.OrgID},
		Receipt: operation.Receipt{Message: "Logged in", Meta: Opened{opened.UserID, opened.OrgID, opened.Expires, false}},
		Cookies: []operation.Cookie{
			s.cookie(operation.SessionCookie, token, s.cfg.Life),
			s.cookie(operation.ProofCookie, s.proofs(token)[0], s.cfg.Life),
		},
	}
}

// digests returns the digests under which a token may be stored.
func (s *Service) digests(token string) []string { return s.users.Keys.Digests("session\x00" + token) }

// proofs returns the values that prove that calls of a session come from our pages.
// Only the server can compute them from the token, so no other site can set them.
func (s *Service) proofs(token string) []string { return s.users.Keys.Digests("csrf\x00" + token) }

// sessionsOf returns all sessions of a user, including expired ones.
func sessionsOf(ctx context.Context, r store.Reader, userID string) ([]session.Session, error) {
	return sessions.Values(ctx, r, store.Query{Index: byUser, Value: userID})
}

// end ends sessions. They remain until they are pruned, because a scope of everyone can
// change records, but not delete them.
func end(ctx context.Context, w store.Writer, list []session.Session) error {
	for _, v := range list {
		_, err := sessions.Edit(ctx, w, v.ID, nil, func(v session.Session) (session.Session, error) { return v.Ended(), nil })
		if err != nil {
			return err
		}
	}
	return nil
}

// EndAll ends all sessions of a user, in the unit of work that deactivates the user or
// changes its password.
func EndAll(ctx context.Context, w store.Writer, userID string) error {
	all, err := sessionsOf(ctx, w, userID)
	if err != nil {
		return err
	}
	// Expired sessions are ended too, because the clock may be wrong now.
	return end(ctx, w, slices.DeleteFunc(all, func(v session.Session) bool { return v.Expires.IsZero() }))
}

type logoutIn struct {
	Token string `cookie:"authorisation" doc:"Token of the session."`
}

// Logout ends the session of a browser, if it has one, and clears its cookies.
func (s *Service) Logout(ctx context.Context, in logoutIn) (operation.Landing, error) {
	out := operation.Landing{Receipt: operation.Receipt{Message: "Logged out"}, Cookies: []operation.Cookie{
		s.cookie(operation.SessionCookie, "", 0), s.cookie(operation.ProofCookie, "", 0),
	}}
	if in.Token == "" {
		return out, nil
	}
	var found *session.Session
	err := s.users.Store.View(ctx, tenant.Everyone("log out"), func(r store.Reader) (err error) {
		found, err = s.byToken(ctx, r, in.Token)
		return err
	})
	if err != nil || found == nil || found.Over(s.users.Now()) {
		return out, err
	}
	u := identity.User{ID: found.UserID, OrgID: found.OrgID}
	_, err = s.users.Store.Update(attributed(ctx, u), users.Home(u), func(w store.Writer) error {
		return end(ctx, w, []session.Session{*found})
	})
	out.Who = operation.Principal{ID: u.ID, OrgID: u.OrgID}
	return out, err
}
