package identity

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"

	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Authenticate is the guard's Authenticator of the management surface. The principal is
// the user whose access key the call presents, or else the service account whose key it
// presents, as stored now.
func (s *Service) Authenticate(ctx context.Context, c *operation.Call) error {
	if c.Token == "" {
		return guard.Unauthenticated()
	}
	err := s.admit(ctx, c, func(ctx context.Context, r store.Reader) error {
		for _, digest := range s.Keys.Digests(c.Token) { // lookup by keyed digest: its timing tells an attacker nothing
			u, err := s.holder(ctx, r, digest)
			if fault.KindOf(err) == fault.NotFound {
				continue
			}
			if err != nil {
				return err
			}
			return s.recognise(ctx, r, u, c)
		}
		return guard.Unauthenticated()
	})
	if fault.KindOf(err) == fault.Unauthenticated {
		return s.authenticateAccount(ctx, c)
	}
	return err
}

// holder returns the user with an access key, or a NotFound fault. Users of deleted
// organisations do not count, because such a user may have the access key that the
// settings name for the first admin.
func (s *Service) holder(ctx context.Context, r store.Reader, digest string) (identity.User, error) {
	first, err := users.ByKey(ctx, r, byKey, digest) // every call does this lookup, and few keys belong to two users
	if err == nil {
		err = s.alive(ctx, r, first.Value.OrgID)
	}
	if fault.KindOf(err) != fault.Unauthenticated {
		return first.Value, err
	}
	u, _, err := s.living(ctx, r, byKey, digest)
	if u == nil {
		return identity.User{}, cmp.Or(err, users.Absent())
	}
	return *u, nil
}

// living returns the first user that an index lists under a value and whose
// organisation exists, or nil. gone reports whether a user of a deleted organisation
// comes before it.
func (s *Service) living(ctx context.Context, r store.Reader, index, value string) (_ *identity.User, gone bool, err error) {
	for u, err := range users.Find(ctx, r, store.Query{Index: index, Value: value}) {
		if err == nil {
			err = s.alive(ctx, r, u.Value.OrgID)
		}
		switch {
		case err == nil:
			return &u.Value, gone, nil
		case fault.KindOf(err) != fault.Unauthenticated:
			return nil, gone, err
		}
		gone = true
	}
	return nil, gone, nil
}

// Recognise makes a user the principal of a call, with the permissions that its groups
// give now. It refuses inactive users and users of deleted organisations.
func (s *Service) Recognise(ctx context.Context, r store.Reader, u identity.User, c *operation.Call) error {
	if err := s.alive(ctx, r, u.OrgID); err != nil {
		return err
	}
	return s.recognise(ctx, r, u, c)
}

// recognise is Recognise for a user whose organisation exists.
func (s *Service) recognise(ctx context.Context, r store.Reader, u identity.User, c *operation.Call) error {
	if !u.Active {
		c.Principal = operation.Principal{ID: u.ID, OrgID: u.OrgID, Email: u.Email} // the audit trail of the organisation names the user
		s.Log.Warn("inactive user refused", "user_id", u.ID, "group_id", u.GroupID)
		return guard.Unauthenticated()
	}
	p, err := principal(ctx, r, u)
	c.Principal = p
	return err
}

// CodeReadsOnly is the code of the fault when a user without organisation tries to
// write.
const CodeReadsOnly = "auth.reads_only"

// CodeNoOrganisation is the code of the fault when a user without organisation asks for
// a resource that exists only in organisations.
const CodeNoOrganisation = "auth.no_organisation"

// alive refuses users of a deleted organisation.
func (s *Service) alive(ctx context.Context, r store.Reader, org tenant.ID) error {
	if org == "" {
		return nil
	}
	_, err := organisations.Locate(ctx, r, string(org))
	if fault.KindOf(err) == fault.NotFound {
		return guard.Unauthenticated()
	}
	return err
}

// AuthenticateAdmin returns the guard's Authenticator of the admin surface. Identity
// brokers have a secret of their own, which admits them to the operations for brokers
// and to no others. An empty secret admits no caller.
func AuthenticateAdmin(adminSecret, brokerSecret string) guard.Authenticator {
	return func(_ context.Context, c *operation.Call) error {
		admin, broker := Equal(adminSecret, c.Token), Equal(brokerSecret, c.Token) // both are compared, so that the time is always the same
		who := "admin"
		switch {
		case admin:
		case broker && c.Spec.Brokers:
			who = "broker"
		default:
			return guard.Unauthenticated()
		}
		c.Principal, c.Scope = operation.Principal{ID: who, Active: true, Deputy: true}, tenant.Everyone(who)
		return nil
	}
}

// OrDeputies returns an Authenticator of the management surface that also admits
// deputies to the operations for brokers, as admins of every organisation
// (docs/wire/authentication.md#callers).
func OrDeputies(users, deputies guard.Authenticator) guard.Authenticator {
	return func(ctx context.Context, c *operation.Call) error {
		if c.Spec.Brokers && c.Token != "" && deputies(ctx, c) == nil {
			c.Principal.Permissions = access.Map{string(access.IsAdmin): access.LevelAdmin}
			return nil
		}
		return users(ctx, c)
	}
}

// Equal compares a secret with the one that a caller presents, in constant time. An
// empty secret equals nothing.
func Equal(secret, presented string) bool {
	a, b := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(presented))
	return secret != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// AuthenticateAs makes the user that find returns the principal of a call, as stored
// now.
func (s *Service) AuthenticateAs(ctx context.Context, c *operation.Call, find func(context.Context, store.Reader) (identity.User, error)) error {
	return s.admit(ctx, c, func(ctx context.Context, r store.Reader) error {
		u, err := find(ctx, r)
		if err != nil {
			return err
		}
		return s.Recognise(ctx, r, u, c)
	})
}

// admit lets recognise set the principal of a call, and sets the scope of the call to
// that of the principal.
func (s *Service) admit(ctx context.Context, c *operation.Call, recognise func(context.Context, store.Reader) error) error {
	err := s.Store.View(ctx, tenant.Everyone("authenticate"), func(r store.Reader) error { return recognise(ctx, r) })
	if err != nil {
		return err
	}
	if c.Principal.OrgID != "" {
		c.Scope, err = tenant.Of(c.Principal.OrgID)
		return err
	}
	// A user without organisation reads across organisations (docs/wire/authentication.md#callers).
	if c.Spec.Intent != access.Read && c.Spec.Permission != access.AnyUser && !operation.OwnBusiness(c) {
		return fault.New(fault.Denied, CodeReadsOnly, "access denied: a user without organisation can only read")
	}
	if c.Spec.OneOrganisation {
		return fault.New(fault.Invalid, CodeNoOrganisation, "this belongs to an organisation: send the request as one of its users")
	}
	c.Scope = tenant.Everyone("super user")
	return nil
}

// principal returns a user as a principal, with the permissions that its groups give
// now.
func principal(ctx context.Context, r store.Reader, u identity.User) (operation.Principal, error) {
	list, err := groupsOf(ctx, r, u)
	p := operation.Principal{ID: u.ID, OrgID: u.OrgID, GroupID: u.GroupID, Email: u.Email, Active: u.Active, Permissions: u.Effective(list...)}
	for _, g := range list {
		if g.ID == u.GroupID {
			p.GroupName = g.Name
		}
		if g.Active {
			p.Groups = append(p.Groups, g.ID)
		}
	}
	return p, err
}

// GroupsAmong returns those of the IDs that are groups of an organisation.
func (s *Service) GroupsAmong(ctx context.Context, r store.Reader, org tenant.ID, ids []string) (exist []string, err error) {
	list, err := groupsOf(ctx, r, identity.User{OrgID: org}.In("", ids))
	for _, g := range list {
		exist = append(exist, g.ID)
	}
	return exist, err
}

// Lent returns the permissions that groups of an organisation give together to the
// people whom a broker puts into them (docs/wire/single-sign-on.md#who-it-is).
func (s *Service) Lent(ctx context.Context, r store.Reader, org tenant.ID, ids []string) (access.Map, error) {
	list, err := groupsOf(ctx, r, identity.User{OrgID: org}.In("", ids))
	var given []access.Map
	for _, g := range list {
		if g.Active {
			given = append(given, g.Permissions)
		}
	}
	return access.Highest(given...), err
}

// groupsOf returns the groups of a user that still exist.
func groupsOf(ctx context.Context, r store.Reader, u identity.User) (list []identity.UserGroup, err error) {
	for _, id := range u.Groups() {
		g, err := groups.Locate(ctx, r, id)
		if fault.KindOf(err) == fault.NotFound || err == nil && g.Value.OrgID != u.OrgID {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, g.Value)
	}
	return list, nil
}
