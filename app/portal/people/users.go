package people

import (
	"context"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/attribute"
	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of faults of users.
const (
	CodeCaller = "portal_user.caller"
	CodeLast   = "portal_user.last"
	CodeMore   = "portal_user.more" // there are credentials that Leave has not revoked
)

type change = portal.Change[account.User]

// UserResource defines users as a resource.
func (s *Service) UserResource() portal.Resource[account.User, ListedUser, ShownUser] {
	return portal.Resource[account.User, ListedUser, ShownUser]{
		Kind: Users, Name: "portal-users", Path: "/users", Param: "user_id", One: "a user", Many: "users",
		List: func(_ context.Context, _ store.Reader, u account.User) (ListedUser, error) { return Listed(u), nil },
		Show: s.showUser,
		Sample: account.User{Email: "ada@example.com", First: "Ada", Last: "Lovelace", Role: account.Member, OrganisationID: 1, Teams: []table.ID{1}, Provider: account.OwnPassword,
			Active: true, Token: "token"},
		Begin:  func(u *account.User, _ table.ID) { u.Role, u.Provider = account.Member, account.OwnPassword },
		Events: event.OfUsers,
		Hooks:  portal.Hooks[account.User]{Validate: validateUser, Check: checkUser, Turn: s.turnUser, Prepare: s.prepareUser, Before: s.beforeUser, After: s.afterUser},
		Rows: func(o portal.Operations[account.User, ListedUser, ShownUser]) []operation.Row {
			hidden, v := Personal(), values{o.Tools, s}
			const path = "/{user_id}/custom-attributes"
			one := userValue(attribute.Attribute{Base: table.Base{ID: 3}, Name: "Department", Identifier: "department", Type: attribute.String, Behaviour: attribute.Edit}, "Engines")
			return []operation.Row{
				o.ListRow(), o.CreateRow(hidden), o.GetRow(hidden), o.UpdateRow(hidden, operation.Faulting(table.CodeInvalid, CodeLast)),
				o.ForcedDeleteRow(hidden, operation.Faulting(CodeCaller, CodeLast, CodeMore)),
				operation.GET("list-attributes", path, "List the custom attributes of a user", v.list, operation.Example(nil, operation.Listing[UserValue]{Items: []UserValue{one}, Total: 1, Page: 1, PerPage: portal.DefaultPerPage})),
				operation.GET("get-attribute", path+"/{custom_attribute_id}", "Fetch a custom attribute of a user", v.get, operation.Example(nil, one)),
				operation.PUT("update-attribute", path+"/{custom_attribute_id}", "Change the value of a custom attribute of a user", v.update, Personal("Value"), portal.Unprocessable(),
					operation.Faulting(table.CodeInvalid), operation.Example(map[string]any{"Value": "Engines"}, one)),
				operation.DELETE("delete-attribute", path+"/{custom_attribute_id}", "Remove the value of a custom attribute from a user", v.remove, Personal(),
					operation.Faulting(table.CodeInvalid), operation.Example(nil, portal.Status{Status: "ok"})),
			}
		},
	}
}

// checkUser refuses changes that would leave the portal in an invalid state.
func checkUser(ctx context.Context, r store.Reader, c *change) error {
	if by, ok := account.OfPrincipal(c.Who.ID); c.Op == store.Deleted && ok && by == c.Old.ID {
		return ownAccount()
	}
	if c.Op == store.Created || c.Op != store.Deleted && ruling(c.New) {
		return nil
	}
	return stays(ctx, r, c.Old)
}

func ownAccount() error {
	return fault.New(fault.Invalid, CodeCaller, "An admin cannot delete the own account: another admin can")
}

// stays refuses to let the last active super-admin go.
func stays(ctx context.Context, r store.Reader, old account.User) error {
	if !ruling(old) {
		return nil
	}
	for u, err := range Users.Find(ctx, r, store.Query{Index: byRole, Value: account.SuperAdmin}) {
		if err != nil {
			return err
		}
		if u.Value.ID != old.ID && u.Value.Active {
			return nil
		}
	}
	return fault.New(fault.Invalid, CodeLast, "The portal needs an active super-admin: make another one first")
}

// validateUser finds weak passwords, and missing attributes.
func validateUser(ctx context.Context, r store.Reader, c *change) (wrong table.Problems, err error) {
	if c.Op == store.Updated && c.Sent.Has("First") && strings.TrimSpace(c.New.First) == "" && c.Old.First != "" {
		wrong.Blank("First")
	}
	if c.New.Password != "" {
		lacks, err := Lacking(ctx, r, c.New.Password)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, lacks...)
	}
	if c.Op == store.Created {
		_, err = Begin(ctx, r, c.New.Given, &wrong)
	}
	return wrong, err
}

// Lacking returns the rules that a password violates, one text for each.
func Lacking(ctx context.Context, r store.Reader, password string) (wrong []string, err error) {
	settings, err := general.Load(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, lacks := range settings.Passwords().LacksAll(password) {
		wrong = append(wrong, "Password must have "+lacks)
	}
	return wrong, nil
}

// Begin returns the values of custom attributes of a new user, and adds problems to
// wrong.
func Begin(ctx context.Context, r store.Reader, given attribute.Given, wrong *table.Problems) (attribute.Values, error) {
	all, err := attributes(ctx, r)
	return attribute.Begin(all, given, wrong), err
}

// Invite is Begin for an invited user: required values may follow later.
func Invite(ctx context.Context, r store.Reader, given attribute.Given, wrong *table.Problems) (attribute.Values, error) {
	all, err := attributes(ctx, r)
	return attribute.Invite(all, given, wrong), err
}

// Join returns the attribute values of a user who completes the registration, merged with
// the values by an admin.
func Join(ctx context.Context, r store.Reader, have attribute.Values, given attribute.Given, wrong *table.Problems) (attribute.Values, error) {
	all, err := attributes(ctx, r)
	return attribute.Join(all, have, given, wrong), err
}

func ruling(u account.User) bool { return u.Role == account.SuperAdmin && u.Active }

// Farewells is how many times Leave is called before a deletion is refused: Leave runs
// outside of any unit of work, so the user may get new credentials meanwhile.
const Farewells = 3

// turnUser leaves the deletion of a user to Dismiss, which finishes what it begins. A forced
// deletion happens at once, even if another system refuses.
func (s *Service) turnUser(ctx context.Context, c *change, write func(context.Context) error) (err error) {
	if c.Op == store.Deleted && !c.Force && s.Dismiss != nil {
		return s.Dismiss(ctx, c.Old.ID)
	}
	for range Farewells {
		if err = write(ctx); fault.CodeOf(err) != CodeMore {
			break
		}
	}
	return err
}

// prepared is the data for a write of a user that is computed before the unit of work.
type prepared struct{ hash, token string }

// prepareUser hashes a password, which takes long, makes a token, and calls Leave for a
// user who is deleted.
func (s *Service) prepareUser(ctx context.Context, c *change) (err error) {
	p := prepared{}
	switch c.Op {
	case store.Deleted:
		for _, f := range s.Followers {
			if f.Leave == nil {
				continue
			}
			if err := f.Leave(ctx, c.Scope, c.Old, c.Force); err != nil {
				return err
			}
		}
	case store.Created:
		p.token = NewToken(s.Keys)
	}
	if c.New.Password != "" && c.Op != store.Deleted {
		p.hash, err = s.Passwords.Hash(c.New.Password)
	}
	c.Memo = p
	return err
}

func (s *Service) beforeUser(ctx context.Context, w store.Writer, c *change) error {
	if c.Op == store.Deleted {
		return nil
	}
	p, _ := c.Memo.(prepared)
	if c.Op == store.Created {
		var err error
		if c.New.Attributes, err = Begin(ctx, w, c.New.Given, &table.Problems{}); err != nil {
			return err
		}
		c.New.Token, c.New.TokenAt = p.token, c.At.Now()
	}
	if p.hash != "" {
		c.New.PasswordHash, c.New.Unproven = p.hash, false
	}
	c.New.Email = strings.TrimSpace(c.New.Email)
	var err error
	c.New, err = settled(ctx, w, c.Old, c.New)
	return err
}

// settled puts a user into the organisation and teams of the user's role.
func settled(ctx context.Context, r store.Reader, before, u account.User) (account.User, error) {
	home := account.Home{Organisation: u.OrganisationID}
	if home.Organisation == 0 {
		home.Organisation = organisation.Default
	}
	var err error
	if home.Team, err = defaultTeam(ctx, r, home.Organisation); err != nil {
		return u, err
	}
	settled, ok := u.Settle(before, home, func(id table.ID) table.ID {
		t, failed := portal.Glance[organisation.Team](ctx, r, account.TeamKind, id)
		if err == nil {
			err = failed
		}
		return t.OrganisationID
	})
	if err == nil && !ok {
		err = table.Problems{"Teams is invalid"}.Err()
	}
	return settled, err
}

func (s *Service) afterUser(ctx context.Context, w store.Writer, c *change) error {
	switch c.Op {
	case store.Created:
		return s.follow(ctx, w, c.At, nil, &c.New)
	case store.Deleted:
		return s.follow(ctx, w, c.At, &c.Old, nil)
	}
	return s.follow(ctx, w, c.At, &c.Old, &c.New)
}
