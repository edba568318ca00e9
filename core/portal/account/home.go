package account

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Home is an existing organisation with its default team.
type Home struct{ Organisation, Team table.ID }

// Settle returns the user in the organisation and teams of the role. Admins belong to no
// organisation; developers are in teams of their organisation. belongs returns the
// organisation of a team. before is the stored user: teams of the organisation that the user
// leaves are dropped. Any other foreign team is refused with false.
func (u User) Settle(before User, home Home, belongs func(table.ID) table.ID) (User, bool) {
	if u.Admin() {
		u.OrganisationID, u.Teams = 0, nil
		return u, true
	}
	moves := before.ID != 0 && before.OrganisationID != home.Organisation
	u.OrganisationID = home.Organisation
	var teams []table.ID
	for _, t := range u.Teams {
		switch of := belongs(t); {
		case of == home.Organisation:
			teams = append(teams, t)
		case !moves || of != before.OrganisationID:
			return u, false
		}
	}
	if len(teams) == 0 || moves && !slices.Contains(teams, home.Team) {
		teams = append(teams, home.Team)
	}
	u.Teams = teams
	return u, true
}
