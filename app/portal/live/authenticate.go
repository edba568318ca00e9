package live

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/visit"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of the faults of calls with a session.
const (
	CodeUnproven = "portal_live.csrf"
	CodeExpired  = "portal_live.password"
	CodeHidden   = "portal_live.hidden"
)

// Authenticate is the guard's Authenticator of calls with a browser session: it sets the
// principal to the session's user, from the current record.
func (s *Service) Authenticate(ctx context.Context, c *operation.Call) error {
	u, found, err := s.holder(ctx, operation.Browser{Token: c.Session, Agent: c.Header["User-Agent"]}, operation.Origin{Remote: c.Remote, Peer: c.Peer})
	switch {
	case err != nil:
		return err
	case c.Spec.ChangesState() && !s.NoProof && !session.Proven(c.Proof, s.proofs(c.Session)):
		return fault.New(fault.Invalid, CodeUnproven, "CSRF token is missing or wrong: send CSRFToken in the header X-CSRF-Token")
	case u.ResetPassword && !c.Spec.EvenExpired:
		return fault.New(fault.Denied, CodeExpired, "choose another password first")
	case !u.Admin() && !c.Spec.EvenExpired:
		if err := s.Store.View(ctx, s.Scope, func(r store.Reader) error {
			rules, err := general.Load(ctx, r)
			if err != nil {
				return err
			}
			return shut(rules)
		}); err != nil {
			return err
		}
	}
	c.Scope = s.Scope
	c.Principal = operation.Principal{ID: account.Principal(u.ID), OrgID: s.Scope.Org(), Active: true} // the audit trail must not contain the email address
	return s.touch(ctx, found)
}

// shut refuses developers, and people who would become developers, while only admins may see
// the portal.
func shut(rules setting.Settings) error {
	if catalogue.Portal(rules.PortalVisibility) == catalogue.PortalHidden {
		return fault.New(fault.Denied, CodeHidden, "This Portal is disabled")
	}
	return nil
}

// holder returns the user of a browser's session, or an Unauthenticated fault.
func (s *Service) holder(ctx context.Context, b operation.Browser, from operation.Origin) (u account.User, found visit.Session, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		if found, err = s.byToken(ctx, r, b.Token); err != nil {
			return err
		}
		u, err = portal.Find(ctx, r, people.Users, found.UserID.String())
		if fault.KindOf(err) == fault.NotFound {
			return guard.Unauthenticated()
		}
		return err
	})
	if err == nil && (found.Over(s.rules(), s.Now()) || !slices.Contains(s.agents(b.Agent, from), found.Agent) || !u.Can(account.LogIn)) {
		err = guard.Unauthenticated()
	}
	return u, found, err
}

// Visit returns the user for public operations, and the data of the browser's session; nil:
// there is no valid session.
func (s *Service) Visit(ctx context.Context, b operation.Browser, from operation.Origin) (*account.User, Opened, error) {
	if b.Token == "" {
		return nil, Opened{}, nil
	}
	u, found, err := s.holder(ctx, b, from)
	if err == nil {
		err = s.touch(ctx, found)
	}
	if fault.KindOf(err) == fault.Unauthenticated {
		return nil, Opened{}, nil
	}
	return &u, s.opened(u, found, b.Token), err
}

// Administers reports whether a user is an admin of the portal.
func (s *Service) Administers(ctx context.Context, id table.ID) (is bool, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		u, err := portal.Find(ctx, r, people.Users, id.String())
		is = u.Admin()
		return err
	})
	return is, err
}

// byToken returns the session of a token, or an Unauthenticated fault. The lookup is by keyed
// digest, so that its timing reveals nothing.
func (s *Service) byToken(ctx context.Context, r store.Reader, token string) (visit.Session, error) {
	if token != "" {
		for _, digest := range s.digests(token) {
			v, err := sessions.ByKey(ctx, r, byDigest, digest)
			if fault.KindOf(err) != fault.NotFound {
				return v.Value, err
			}
		}
	}
	return visit.Session{}, guard.Unauthenticated()
}

// touch updates, now and then, when a session was last used.
func (s *Service) touch(ctx context.Context, found visit.Session) error {
	now := s.Now()
	if !found.Stale(s.rules(), now) {
		return nil
	}
	defer load.Away(ctx)() // the writer may be busy: another visitor can have the turn meanwhile
	_, err := s.Store.Update(attributed(ctx, found.UserID), s.Scope, func(w store.Writer) error {
		_, err := sessions.Edit(ctx, w, found.ID, nil, func(v visit.Session) (visit.Session, error) {
			v.Seen = now
			return v, nil
		})
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		return guard.Unauthenticated()
	}
	return err
}

// pruneEvery is how often expired sessions and codes are deleted.
const pruneEvery = time.Minute

// Run sends the requested mails, and deletes expired sessions and codes, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	if s.Scope.IsZero() {
		return nil
	}
	var posts sync.WaitGroup
	defer posts.Wait()
	for range mailsAtOnce {
		posts.Go(func() { s.post(ctx) })
	}
	return crud.Every(ctx, pruneEvery, func() {
		if err := s.Prune(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("old sessions of the portal could not be forgotten; trying again later", "error", err)
		}
	})
}

// Prune deletes expired sessions and codes.
func (s *Service) Prune(ctx context.Context) error {
	ctx, now := store.Attribute(ctx, store.Attribution{Actor: "sessions", Operation: "portal-live.prune"}), s.Now()
	if _, err := crud.Forget(ctx, s.Store, s.Scope, sessions, func(v visit.Session) bool { return v.Over(s.rules(), now) }); err != nil {
		return err
	}
	_, err := crud.Forget(ctx, s.Store, s.Scope, codes, func(v visit.Code) bool { return v.Over(now) })
	return err
}
