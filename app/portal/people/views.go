package people

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// ListedUser is a user in lists, without password and token.
type ListedUser struct {
	ID             table.ID `json:"ID"`
	CID            string   `json:"CID"`
	Active         bool     `json:"Active"`
	Email          string   `json:"Email"`
	First          string   `json:"First"`
	Last           string   `json:"Last"`
	OrganisationID table.ID `json:"OrganisationID"`
	Role           string   `json:"Role"`
	Provider       string   `json:"Provider"`
}

// ShownUser is the full representation of a user. Teams are null for admins, who have
// none.
type ShownUser struct {
	ListedUser
	Organisation      string        `json:"Organisation"`
	Teams             *[]TeamOfUser `json:"Teams"`
	ResetPassword     bool          `json:"ResetPassword"`
	JWTToken          string        `json:"JWTToken"`
	APITokenCreatedAt string        `json:"APITokenCreatedAt"`
	CreatedAt         string        `json:"CreatedAt"`
	UpdatedAt         string        `json:"UpdatedAt"`
}

// TeamOfUser is a team in the representation of its member, without other members.
type TeamOfUser struct {
	ListedTeam
	CreatedAt string `json:"CreatedAt"`
	UpdatedAt string `json:"UpdatedAt"`
}

func (s *Service) showUser(ctx context.Context, r store.Reader, u account.User) (out ShownUser, err error) {
	out = ShownUser{ListedUser: Listed(u), ResetPassword: u.ResetPassword, CreatedAt: table.Stamp(u.CreatedAt), UpdatedAt: table.Stamp(u.UpdatedAt)}
	if u.Token != "" {
		key, err := s.Signing(ctx, r)
		if err != nil {
			return out, err
		}
		out.JWTToken, out.APITokenCreatedAt = account.Sign(key, u.Token), u.TokenAt.Format(time.DateOnly)
	}
	if u.OrganisationID == 0 {
		return out, nil
	}
	o, err := portal.Glance[organisation.Organisation](ctx, r, account.OrganisationKind, u.OrganisationID)
	if err != nil {
		return out, err
	}
	teams := make([]TeamOfUser, 0, len(u.Teams))
	for _, id := range u.Teams {
		t, err := portal.Glance[organisation.Team](ctx, r, account.TeamKind, id)
		if err != nil {
			return out, err
		}
		teams = append(teams, TeamOfUser{teamInList(t), table.Stamp(t.CreatedAt), table.Stamp(t.UpdatedAt)})
	}
	out.Organisation, out.Teams = o.Name, &teams
	return out, nil
}

// ListedOrganisation is an organisation in lists.
type ListedOrganisation struct {
	ID   table.ID `json:"ID"`
	CID  string   `json:"CID"`
	Name string   `json:"Name"`
}

// ShownOrganisation is the full representation of an organisation.
type ShownOrganisation struct {
	ListedOrganisation
	CreatedAt string       `json:"CreatedAt"`
	UpdatedAt string       `json:"UpdatedAt"`
	Teams     []ListedTeam `json:"Teams"`
	Users     []ListedUser `json:"Users"`
}

// ListedTeam is a team in lists.
type ListedTeam struct {
	ID      table.ID `json:"ID"`
	CID     string   `json:"CID"`
	Default bool     `json:"Default"`
	Name    string   `json:"Name"`
}

// ShownTeam is the full representation of a team. Users are labels.
type ShownTeam struct {
	ListedTeam
	CreatedAt string   `json:"CreatedAt"`
	UpdatedAt string   `json:"UpdatedAt"`
	Users     []string `json:"Users"`
}

func listOrganisation(_ context.Context, _ store.Reader, o organisation.Organisation) (ListedOrganisation, error) {
	return ListedOrganisation{o.ID, o.CID, o.Name}, nil
}

func showOrganisation(ctx context.Context, r store.Reader, o organisation.Organisation) (out ShownOrganisation, err error) {
	listed, _ := listOrganisation(ctx, r, o)
	out = ShownOrganisation{listed, table.Stamp(o.CreatedAt), table.Stamp(o.UpdatedAt), []ListedTeam{}, []ListedUser{}}
	for t, err := range portal.All(ctx, r, Teams, o.ID) {
		if err != nil {
			return out, err
		}
		out.Teams = append(out.Teams, teamInList(t))
	}
	users, err := usersBy(ctx, r, byOrganisation, o.ID)
	for _, u := range users {
		out.Users = append(out.Users, Listed(u))
	}
	return out, err
}

func teamInList(t organisation.Team) ListedTeam { return ListedTeam{t.ID, t.CID, t.Default, t.Name} }

func showTeam(ctx context.Context, r store.Reader, t organisation.Team) (ShownTeam, error) {
	users, err := usersBy(ctx, r, byTeam, t.ID)
	out := ShownTeam{teamInList(t), table.Stamp(t.CreatedAt), table.Stamp(t.UpdatedAt), []string{}}
	for _, u := range users {
		out.Users = append(out.Users, "User#"+u.ID.String())
	}
	return out, err
}

// usersBy returns the users with a value in an index, in order of number.
func usersBy(ctx context.Context, r store.Reader, index string, id table.ID) ([]account.User, error) {
	return Users.Values(ctx, r, store.Query{Index: index, Value: id.Key()})
}
