package live

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Member is a user as members of the same team see it.
type Member struct {
	ID             table.ID   `json:"ID"`
	Email          string     `json:"Email"`
	First          string     `json:"First"`
	Last           string     `json:"Last"`
	Role           string     `json:"Role"`
	Active         bool       `json:"Active"`
	Teams          []table.ID `json:"Teams"`
	OrganisationID table.ID   `json:"OrganisationID"`
	Provider       string     `json:"Provider" doc:"How the user logs in: password, or the name of an identity provider."`
	CreatedAt      string     `json:"CreatedAt"`
}

func member(u account.User) Member {
	return Member{u.ID, u.Email, u.First, u.Last, u.Role, u.Active, append([]table.ID{}, u.Teams...), u.OrganisationID, u.Provider, table.Stamp(u.CreatedAt)}
}

type memberList struct {
	person
	portal.Page `params:""`
}

type memberNamed struct {
	person
	ID string `path:"user_id" doc:"Number or CID of a user."`
}

// Members lists the people visible to the caller.
func (s *Service) Members(ctx context.Context, in memberList) (out operation.Listing[Member], err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		u, err := in.of(ctx, r)
		if err != nil {
			return err
		}
		all := []account.User{u}
		if u.Together() {
			if all, err = people.Of(ctx, r, u.OrganisationID); err != nil {
				return err
			}
			all = slices.DeleteFunc(all, func(other account.User) bool { return !u.Sees(other) })
		}
		out = portal.Excerpt(all, in.Page, member)
		return nil
	})
	return out, err
}

// Member returns one of these people.
func (s *Service) Member(ctx context.Context, in memberNamed) (out Member, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		_, found, err := in.find(ctx, r)
		out = member(found)
		return err
	})
	return out, err
}

// find returns the caller and the user in the path. Users who are not visible to the caller are
// not found.
func (in memberNamed) find(ctx context.Context, r store.Reader) (u, found account.User, err error) {
	if u, err = in.of(ctx, r); err != nil {
		return u, found, err
	}
	if found, err = portal.Find(ctx, r, people.Users, in.ID); err == nil && !u.Sees(found) {
		err = people.Users.Absent()
	}
	if err != nil {
		found = account.User{}
	}
	return u, found, err
}

// governed returns the user in the path if the caller may change it.
func (in memberNamed) governed(ctx context.Context, r store.Reader) (u, found account.User, err error) {
	if u, found, err = in.find(ctx, r); err == nil && !u.Governs(found) {
		err = denied
	}
	return u, found, err
}

var denied error = fault.New(fault.Denied, CodeMember, "access denied")

// CodeMember is the fault code for a caller who may see a user, but not change it.
const CodeMember = "portal_live.member"

type memberChange struct {
	memberNamed
	Body table.Body[account.Colleague] `body:""`
}

// ChangeMember changes a user of the organisation.
func (s *Service) ChangeMember(ctx context.Context, in memberChange) (out Member, err error) {
	at := s.Stamp(s.Scope)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		_, found, err := in.governed(ctx, w)
		if err != nil {
			return err
		}
		c := account.Colleague{First: found.First, Last: found.Last, Role: found.Role, Teams: found.Teams}
		if err := in.Body.Apply(&c, false, portal.Resolver(ctx, w)); err != nil {
			return err
		}
		// The last active admin keeps the role: no one else in the organisation could assign it.
		if found.Role == account.ConsumerAdmin && c.Role != account.ConsumerAdmin {
			all, err := people.Of(ctx, w, found.OrganisationID)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(all, func(u account.User) bool { return u.ID != found.ID && u.Role == account.ConsumerAdmin && u.Active }) {
				return fault.New(fault.Invalid, CodeLast, "Role stays: the organisation needs an admin. Make somebody else one first")
			}
		}
		found, err = s.People.Move(ctx, w, at, found.ID, found.OrganisationID, func(u account.User) account.User {
			u.First, u.Last, u.Role, u.Teams = c.First, c.Last, c.Role, c.Teams
			return u
		})
		out = member(found)
		return err
	})
	return out, err
}

// CodeLast is the fault code for removing the last admin of an organisation.
const CodeLast = "portal_live.last"

// RemoveMember moves a user to the default organisation. Before that, the followers of users
// transfer what stays with the organisation to the caller.
func (s *Service) RemoveMember(ctx context.Context, in memberNamed) (portal.Status, error) {
	at := s.Stamp(s.Scope)
	_, err := s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		u, found, err := in.governed(ctx, w)
		if err != nil {
			return err
		}
		if u.ID == found.ID {
			return denied
		}
		if err := s.People.HandOver(ctx, w, at, found.ID, u.ID); err != nil {
			return err
		}
		_, err = s.People.Move(ctx, w, at, found.ID, organisation.Default, func(u account.User) account.User {
			u.Role, u.Teams = account.Member, nil
			return u
		})
		return err
	})
	return portal.Status{Status: "ok"}, err
}

// InviteMember invites a person into the organisation of the caller. A person invited by another
// organisation stays there, and the caller is not told.
func (s *Service) InviteMember(ctx context.Context, in invitation) (people.ListedUser, error) {
	if err := s.allow(&s.asking, "invitations\x00"+in.Who.ID); err != nil {
		return people.ListedUser{}, err
	}
	return s.invite(ctx, in, func(ctx context.Context, r store.Reader, fresh *account.User) error {
		u, err := person{in.Who}.of(ctx, r)
		if err != nil {
			return err
		}
		// Only admins may set the other members.
		*fresh = account.User{Email: fresh.Email, First: fresh.First, Last: fresh.Last, Role: fresh.Role, Teams: fresh.Teams, OrganisationID: u.OrganisationID,
			Provider: account.OwnPassword, InvitedAt: fresh.InvitedAt, Token: fresh.Token, TokenAt: fresh.TokenAt}
		if !u.Governs(*fresh) || fresh.Admin() {
			return denied
		}
		old, err := people.ByEmail(ctx, r, fresh.Email)
		switch {
		case fault.KindOf(err) == fault.NotFound:
			return nil
		case err == nil && !u.Governs(old):
			return taken
		}
		return err
	})
}
