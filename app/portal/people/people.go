// Package people holds what there is to the users of the portal, their organisations
// and teams.
package people

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Names of indexes of users.
const (
	byToken        = "token"
	byOrganisation = "organisation"
	byTeam         = "team"
)

// How people are stored.
var (
	Users = portal.KindOf(
		store.Lookup(byOrganisation, func(u account.User) string { return idKey(u.OrganisationID) }),
		store.Index[account.User]{Name: byTeam, Values: func(u account.User) (out []string) {
			for _, t := range u.Teams {
				out = append(out, t.Key())
			}
			return out
		}},
	)
	Organisations = portal.KindOf[organisation.Organisation]()
	Teams         = portal.KindOf[organisation.Team]()
)

func idKey(id table.ID) string {
	if id == 0 {
		return ""
	}
	return id.Key()
}

// Registrations are what there is to people. Users have no operations
// of their own: bootstrap makes the first.
func Registrations() []crud.Registrar {
	return []crud.Registrar{OrganisationResource, TeamResource, crud.Facts[account.User]{Kind: Users, Events: portal.Events(event.OfUsers), Sample: func(at crud.Stamp) (account.User, error) {
		return portal.Sampled(account.User{Email: "ada@example.com", First: "Ada", Role: account.SuperAdmin, Provider: "password", Active: true, Token: "token"}, at), nil
	}}}
}

// ByToken returns the user whom a token names, or a NotFound fault.
func ByToken(ctx context.Context, r store.Reader, token string) (account.User, error) {
	v, err := Users.ByKey(ctx, r, byToken, store.Indexed(token))
	return v.Value, err
}

// Found stores the first organisation and its team.
func Found(ctx context.Context, w store.Writer, at crud.Stamp) error {
	o, err := portal.Add(ctx, w, Organisations, at, organisation.Organisation{Name: organisation.DefaultName})
	if err != nil {
		return err
	}
	_, err = portal.Add(ctx, w, Teams, at, o.FirstTeam())
	return err
}
