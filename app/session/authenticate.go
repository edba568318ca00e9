package session

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/guard"
	users "github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CodeUnproven is the code of the fault for a call that a page of another site may have
// caused.
const CodeUnproven = "auth.csrf"

// Authenticate is the guard's Authenticator of the management surface. The principal is
// the user whose access key the call presents or, without an access key, the user of
// the browser's session.
func (s *Service) Authenticate(ctx context.Context, c *operation.Call) error {
	if c.Token != "" || c.Session == "" {
		return s.users.Authenticate(ctx, c)
	}
	var more access.Map
	var used *session.Session
	lent := false
	err := s.users.AuthenticateAs(ctx, c, func(ctx context.Context, r store.Reader) (u identity.User, err error) {
		found, err := s.holding(ctx, r, c)
		used = found
		switch {
		case err != nil:
			return u, err
		case found.Guest:
			lent = true
			u, more, err = s.guest(ctx, r, found)
		default:
			u, lent, err = s.user(ctx, r, found, c)
		}
		if err != nil || !lent {
			return u, err
		}
		given, err := s.users.Lent(ctx, r, u.OrgID, u.Groups())
		more = given.Strongest(more)
		return u, err
	})
	if err == nil && more != nil {
		c.Principal.Permissions = c.Principal.Permissions.Strongest(more)
	}
	if c.Principal.Lent = lent; err == nil {
		s.uses.Note(used.ID, use{used.ID, used.OrgID, s.users.Now()})
	}
	return err
}

// holding returns the session of a call, if it is valid. A call that changes something
// must prove that it comes from our own pages, because browsers send cookies with
// requests of any page.
func (s *Service) holding(ctx context.Context, r store.Reader, c *operation.Call) (*session.Session, error) {
	found, err := s.byToken(ctx, r, c.Session)
	if err != nil {
		return nil, err
	}
	if found == nil || found.Over(s.users.Now()) {
		return nil, guard.Unauthenticated()
	}
	if c.Spec.ChangesState() && !session.Proven(c.Proof, s.proofs(c.Session)) {
		return nil, fault.New(fault.Denied, CodeUnproven, "access denied: send the value of the cookie csrf_token in the header X-CSRF-Token")
	}
	return found, nil
}

// user returns the user of a session. lent reports whether its permissions come from
// the broker.
func (s *Service) user(ctx context.Context, r store.Reader, found *session.Session, c *operation.Call) (_ identity.User, lent bool, err error) {
	u, err := users.Records.Locate(ctx, r, found.UserID)
	if fault.KindOf(err) == fault.NotFound || err == nil && u.Value.OrgID != found.OrgID {
		return identity.User{}, false, guard.Unauthenticated()
	}
	if err != nil {
		return u.Value, false, err
	}
	if found.Person == nil {
		// A user whose password must be changed can do nothing else before. This does
		// not hold for access keys, because programs use them.
		must, err := s.users.MustChange(ctx, r, u.Value)
		changes := c.Spec.EvenExpired // the operation changes the password
		for _, value := range c.Path {
			changes = changes && value == u.Value.ID
		}
		if err == nil && must && !changes {
			err = fault.New(fault.Denied, CodeExpired, "access denied: change your password first")
		}
		return u.Value, false, err
	}
	// The groups that the broker names replace the user's own permissions. An admin
	// keeps its own, and so does a user for whom no named group exists.
	exist, err := s.users.GroupsAmong(ctx, r, u.Value.OrgID, found.Person.Groups)
	if err != nil || len(exist) == 0 {
		return u.Value, false, err
	}
	if err := s.users.Recognise(ctx, r, u.Value, c); err != nil || c.Principal.Permissions.Admin() {
		return u.Value, false, err
	}
	u.Value.Permissions = access.Map{}
	return in(u.Value, exist), true, nil
}

// byToken returns the session of a token, or nil. It looks up a keyed digest, so that
// the timing tells an attacker nothing.
func (s *Service) byToken(ctx context.Context, r store.Reader, token string) (*session.Session, error) {
	for _, digest := range s.digests(token) {
		v, err := sessions.ByKey(ctx, r, byDigest, digest)
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		return &v.Value, err
	}
	return nil, nil
}

// CodeExpired is the code of the fault for a user who must change the password first.
const CodeExpired = "auth.password"
