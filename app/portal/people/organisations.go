package people

import (
	"context"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/app/portal/certificates"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/invite"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CodeDefault is the fault code for deleting the default organisation or a default team.
const CodeDefault = "portal.default"

// OrganisationResource defines organisations as a resource.
func (s *Service) OrganisationResource() portal.Resource[organisation.Organisation, ListedOrganisation, ShownOrganisation] {
	return portal.Resource[organisation.Organisation, ListedOrganisation, ShownOrganisation]{
		Kind: Organisations, Name: "portal-organisations", Path: "/organisations", Param: "organisation_id", One: "an organisation", Many: "organisations",
		List: listOrganisation, Show: showOrganisation, Sample: organisation.Organisation{Name: "Acme"},
		Events: event.OfOrganisations,
		Hooks: portal.Hooks[organisation.Organisation]{
			Before: func(_ context.Context, _ store.Writer, c *portal.Change[organisation.Organisation]) error {
				if c.Op == store.Deleted && c.Old.ID == organisation.Default {
					return fault.New(fault.Invalid, CodeDefault, "%s cannot be deleted", c.Old.Name)
				}
				return nil
			},
			After: func(ctx context.Context, w store.Writer, c *portal.Change[organisation.Organisation]) error {
				switch c.Op {
				case store.Created:
					_, err := portal.Add(ctx, w, Teams, c.At, c.New.FirstTeam())
					return err
				case store.Deleted:
					return s.dissolve(ctx, w, c.Old.ID, c.At)
				}
				return nil
			},
		},
		Rows: func(o portal.Operations[organisation.Organisation, ListedOrganisation, ShownOrganisation]) []operation.Row {
			return []operation.Row{o.ListRow(), o.CreateRow(), o.GetRow(), o.UpdateRow(), o.DeleteRow(operation.Faulting(CodeDefault))}
		},
	}
}

// dissolve deletes the teams of an organisation and moves its users to the default one.
func (s *Service) dissolve(ctx context.Context, w store.Writer, id table.ID, at crud.Stamp) error {
	users, err := usersBy(ctx, w, byOrganisation, id)
	if err != nil {
		return err
	}
	for _, u := range users {
		if err := s.edit(ctx, w, u.ID, at, func(u account.User) account.User { return u.Move(organisation.Default, organisation.Default) }); err != nil {
			return err
		}
	}
	if err := certificates.Forget(ctx, w, id); err != nil {
		return err
	}
	teams, err := store.Collect(portal.All(ctx, w, Teams, id))
	if err != nil {
		return err
	}
	for _, t := range teams {
		if err := portal.Remove(ctx, w, Teams, t.ID, at); err != nil {
			return err
		}
		if err := forgetTeam(ctx, w, t.ID, at); err != nil {
			return err
		}
	}
	return nil
}

var inviteCodes = portal.KindOf[invite.Code]()

// forgetTeam removes the audiences of a deleted team, and its invite codes, which are useless
// without it.
func forgetTeam(ctx context.Context, w store.Writer, team table.ID, at crud.Stamp) error {
	if err := catalogues.Forget(ctx, w, team, at); err != nil {
		return err
	}
	var gone []table.ID
	for c, err := range portal.All(ctx, w, inviteCodes, 0) {
		if err != nil {
			return err
		}
		if c.TeamID == team {
			gone = append(gone, c.ID)
		}
	}
	for _, id := range gone {
		if err := portal.Remove(ctx, w, inviteCodes, id, at); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) edit(ctx context.Context, w store.Writer, id table.ID, at crud.Stamp, fn func(account.User) account.User) error {
	_, err := s.Edit(ctx, w, id, at, func(u account.User) (account.User, error) { return fn(u), nil })
	return err
}

// TeamResource defines teams as a resource.
func (s *Service) TeamResource() portal.Resource[organisation.Team, ListedTeam, ShownTeam] {
	return portal.Resource[organisation.Team, ListedTeam, ShownTeam]{
		Kind: Teams, Name: "portal-teams", Path: "/organisations/{organisation_id}/teams", Param: "team_id", One: "a team", Many: "teams",
		Above: &portal.Above{Kind: account.OrganisationKind, Param: "organisation_id"},
		List: func(_ context.Context, _ store.Reader, t organisation.Team) (ListedTeam, error) {
			return teamInList(t), nil
		},
		Show:   showTeam,
		Sample: organisation.Team{Name: "Developers", OrganisationID: 1},
		Begin:  func(t *organisation.Team, parent table.ID) { t.OrganisationID = parent },
		Load: func(ctx context.Context, r store.Reader, t *organisation.Team) error {
			users, err := usersBy(ctx, r, byTeam, t.ID)
			t.Users = nil
			for _, u := range users {
				t.Users = append(t.Users, u.ID)
			}
			return err
		},
		Search: func(t organisation.Team, keyword string) bool {
			if _, number := table.ParseID(keyword); number {
				return t.ID.String() == keyword
			}
			return strings.Contains(strings.ToLower(t.Name), keyword)
		},
		Hooks: portal.Hooks[organisation.Team]{Before: beforeTeam, After: s.afterTeam},
		Rows: func(o portal.Operations[organisation.Team, ListedTeam, ShownTeam]) []operation.Row {
			return []operation.Row{o.ListRow(), o.CreateRow(portal.Unprocessable()), o.GetRow(), o.UpdateRow(), o.DeleteRow(operation.Faulting(CodeDefault))}
		},
	}
}

// beforeTeam refuses members of other organisations, and the deletion of a default team.
func beforeTeam(ctx context.Context, w store.Writer, c *portal.Change[organisation.Team]) error {
	if c.Op == store.Deleted && c.Old.Default {
		return fault.New(fault.Invalid, CodeDefault, "%s cannot be deleted", c.Old.Name)
	}
	wrong := table.Problems{}
	for _, id := range c.New.Users {
		u, err := portal.Find(ctx, w, Users, id.String())
		if err != nil {
			return err
		}
		if u.OrganisationID != c.New.OrganisationID {
			wrong.Invalid("Users")
		}
	}
	return wrong.Err()
}

// afterTeam updates the users who joined or left.
func (s *Service) afterTeam(ctx context.Context, w store.Writer, c *portal.Change[organisation.Team]) error {
	team, before := c.New.ID, c.Old.Users
	if c.Op == store.Deleted {
		team, c.New.Users = c.Old.ID, nil
		if err := forgetTeam(ctx, w, team, c.At); err != nil {
			return err
		}
		users, err := usersBy(ctx, w, byTeam, team)
		if err != nil {
			return err
		}
		for _, u := range users {
			before = append(before, u.ID)
		}
	}
	for _, id := range c.New.Users {
		if slices.Contains(before, id) {
			continue
		}
		if err := s.edit(ctx, w, id, c.At, func(u account.User) account.User { return u.Join(team) }); err != nil {
			return err
		}
	}
	for _, id := range before {
		if slices.Contains(c.New.Users, id) {
			continue
		}
		u, err := portal.Find(ctx, w, Users, id.String())
		if err != nil {
			return err
		}
		home, err := defaultTeam(ctx, w, u.OrganisationID)
		if err != nil {
			return err
		}
		if err := s.edit(ctx, w, id, c.At, func(u account.User) account.User { return u.Leave(team, home) }); err != nil {
			return err
		}
	}
	return nil
}

// defaultTeam returns the default team of an organisation, for users without another team.
func defaultTeam(ctx context.Context, r store.Reader, id table.ID) (table.ID, error) {
	for t, err := range portal.All(ctx, r, Teams, id) {
		if err != nil || t.Default {
			return t.ID, err
		}
	}
	return organisation.Default, nil
}
