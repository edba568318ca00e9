// Package people has the operations on the users of the portal, their organisations and
// teams (docs/wire/portal-people.md).
package people

import (
	"context"
	"iter"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/attribute"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Names of indexes of users.
const (
	byToken        = "token"
	byEmail        = "email"
	byRole         = "role"
	byOrganisation = "organisation"
	byTeam         = "team"
	byAttribute    = "attribute"
)

// The kinds of users, organisations and teams.
var (
	Users = portal.KindOf(
		store.Lookup(byRole, func(u account.User) string { return u.Role }),
		store.Lookup(byOrganisation, func(u account.User) string {
			if u.OrganisationID == 0 {
				return ""
			}
			return u.OrganisationID.Key()
		}),
		store.Index[account.User]{Name: byTeam, Values: func(u account.User) (out []string) {
			for _, t := range u.Teams {
				out = append(out, t.Key())
			}
			return out
		}},
		store.Index[account.User]{Name: byAttribute, Values: func(u account.User) (out []string) {
			for _, v := range u.Attributes {
				out = append(out, v.AttributeID.Key())
			}
			return out
		}},
	)
	Organisations = portal.KindOf[organisation.Organisation]()
	Teams         = portal.KindOf[organisation.Team]()
)

// Follower reacts to changes of users. Each function may be nil.
type Follower struct {
	// Leave revokes what a user has elsewhere before the user is deleted, outside of any
	// unit of work. It may be called again for the same user. With force it continues after
	// refusals.
	Leave func(ctx context.Context, in tenant.Scope, u account.User, force bool) error
	// Follow runs in the unit of work that stores a change of a user. before is nil when the
	// user is created, after when the user is deleted: then a fault with CodeMore causes
	// another call of Leave.
	Follow func(ctx context.Context, w store.Writer, at crud.Stamp, before, after *account.User) error
	// HandOver transfers belongings of a user who leaves an organisation to another user of
	// it, in the unit of work of the move and before it.
	HandOver func(ctx context.Context, w store.Writer, at crud.Stamp, from, to table.ID) error
}

// Config is the configuration of a Service.
type Config struct {
	Keys      secret.Keys
	Passwords secret.Passwords
	// Signing returns the key that signs the tokens of admins; "": there is none yet.
	Signing   func(ctx context.Context, r store.Reader) (string, error)
	Followers []Follower // in order
	// Dismiss deletes a user whom an administrator deletes, with all that the user has at
	// others; nil: Leave of each follower, and then the account. When something is gone and
	// the others do not answer any more, the rest goes later.
	Dismiss func(ctx context.Context, id table.ID) error
}

// Service has the operations on people.
type Service struct{ Config }

// Registrations returns the registrations of the kinds and resources of people.
func (s *Service) Registrations() []crud.Registrar {
	return []crud.Registrar{s.OrganisationResource(), s.TeamResource(), s.UserResource(), s.ModelResource(), s.AttributeResource()}
}

// ByToken returns the user of a token, or a NotFound fault.
func ByToken(ctx context.Context, r store.Reader, token string) (account.User, error) {
	v, err := Users.ByKey(ctx, r, byToken, store.Indexed(token))
	return v.Value, err
}

// ByEmail returns the user with an address, or a NotFound fault.
func ByEmail(ctx context.Context, r store.Reader, email string) (account.User, error) {
	v, err := Users.ByKey(ctx, r, byEmail, store.Indexed(account.Address(email)))
	return v.Value, err
}

// BySSOKey returns the user with a key at an identity provider, or a NotFound fault.
func BySSOKey(ctx context.Context, r store.Reader, key string) (account.User, error) {
	v, err := Users.ByKey(ctx, r, "sso", store.Indexed(key))
	return v.Value, err
}

// Edit changes a user in a unit of work, and runs the followers.
func (s *Service) Edit(ctx context.Context, w store.Writer, id table.ID, at crud.Stamp, fn func(account.User) (account.User, error)) (account.User, error) {
	var before account.User
	after, err := portal.Edit(ctx, w, Users, id, at, func(u account.User) (account.User, error) {
		before = u
		return fn(u)
	})
	if err == nil {
		err = s.follow(ctx, w, at, &before, &after)
	}
	return after, err
}

func (s *Service) follow(ctx context.Context, w store.Writer, at crud.Stamp, before, after *account.User) error {
	for _, f := range s.Followers {
		if f.Follow == nil {
			continue
		}
		if err := f.Follow(ctx, w, at, before, after); err != nil {
			return err
		}
	}
	return nil
}

// NewToken returns a random text by which the API token identifies its user.
func NewToken(keys secret.Keys) string { return keys.Digests(keys.NewKey())[0] }

// Found stores the first organisation, its team, and the model of users.
func Found(ctx context.Context, w store.Writer, at crud.Stamp) error {
	o, err := portal.Add(ctx, w, Organisations, at, organisation.Organisation{Name: organisation.DefaultName})
	if err != nil {
		return err
	}
	if _, err = portal.Add(ctx, w, Teams, at, o.FirstTeam()); err != nil {
		return err
	}
	_, err = portal.Add(ctx, w, Models, at, attribute.First())
	return err
}

// Admins yields the active admins.
func Admins(ctx context.Context, r store.Reader) iter.Seq2[account.User, error] {
	return func(yield func(account.User, error) bool) {
		for _, role := range []string{account.SuperAdmin, account.ProviderAdmin} {
			for u, err := range Users.Find(ctx, r, store.Query{Index: byRole, Value: role}) {
				if err == nil && !u.Value.Active {
					continue
				}
				if !yield(u.Value, err) || err != nil {
					return
				}
			}
		}
	}
}
