package account

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Home is where a user belongs: an organisation that there is, and its default team.
type Home struct{ Organisation, Team table.ID }

// Settle puts a user who is stored where people of the role belong. Admins belong to no
// organisation; developers are in a team of theirs. belongs says of which organisation a
// team is. before is the user as stored until now: teams of the organisation that the
// user leaves are dropped, and any other foreign team is refused.
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
