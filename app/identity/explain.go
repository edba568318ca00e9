package identity

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Explanation says what a user may do, and why.
type Explanation struct {
	UserID      string               `json:"user_id"`
	Active      bool                 `json:"active" doc:"false: the user has no permissions at all."`
	Admin       bool                 `json:"admin"`
	RulesDecide bool                 `json:"rules_decide" doc:"true: Rego rules decide instead of these permissions. The rules get the permissions as input."`
	Sources     []identity.Source    `json:"sources" doc:"Sources of the user's permissions, including sources that do not count at present."`
	Permissions []identity.Explained `json:"permissions"`
}

// explain returns the explanation of a user's permissions.
func (s *Service) explain(ctx context.Context, r store.Reader, u identity.User) (Explanation, error) {
	list, err := groupsOf(ctx, r, u)
	out := Explanation{UserID: u.ID, Active: u.Active, Admin: u.Effective(list...).Admin(), RulesDecide: s.RulesDecide}
	out.Sources, out.Permissions = u.Explain(list...)
	return out, err
}

// Permissions explains what a user may do at this moment.
func (s Users) Permissions(ctx context.Context, in memberIn) (out Explanation, err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		u, err := users.Get(ctx, r, in.ID)
		if err != nil {
			return err
		}
		out, err = s.explain(ctx, r, u.Value)
		return err
	})
	return out, err
}

// Permissions explains what a service account may do at this moment, apart from the
// limits of its keys.
func (s ServiceAccounts) Permissions(ctx context.Context, in accountIn) (out Explanation, err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := accounts.Get(ctx, r, in.ID)
		if err != nil {
			return err
		}
		out, err = s.explain(ctx, r, a.Value.User())
		return err
	})
	return out, err
}

// exampleExplanation is a response for the API description.
func exampleExplanation() Explanation {
	u := identity.User{ID: exampleUser.ID, OrgID: exampleOrg, Email: exampleUser.Email, Active: true}.In("5f1a0c5d8e3b2a1f00000003", nil)
	out := Explanation{UserID: u.ID, Active: true}
	out.Sources, out.Permissions = u.Explain(identity.UserGroup{ID: u.GroupID, OrgID: u.OrgID, Name: "API designers", Active: true, Permissions: access.Map{"apis": access.LevelWrite}})
	out.Permissions = out.Permissions[:1]
	return out
}
