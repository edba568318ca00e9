package organisation_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

// TestTables: the fields of organisations and teams, and which names are unique.
func TestTables(t *testing.T) {
	tabletest.Sound[organisation.Organisation](t, `{"Name":"Acme"}`)
	tabletest.Sound[organisation.Team](t, `{"Name":"Night shift","Users":[1,2]}`)
	tabletest.Bodies(t, organisation.Team{Name: "A", Default: true, OrganisationID: 3}, false, map[string]string{
		`{"Name":"B","Default":false,"OrganisationID":4}`: `{"Name":"B","Default":true,"OrganisationID":3}`,
		`{"Name":" "}`:     "Name can't be blank",
		`{"Users":[3,11]}`: "Users is invalid",
	})
	of := organisation.Team{OrganisationID: 3}
	if of.Table().Parent(of) != 3 {
		t.Error("a team is not below its organisation")
	}
}

// TestFirstTeam: the name and place of the team that each organisation begins with.
func TestFirstTeam(t *testing.T) {
	var o organisation.Organisation
	o.ID, o.Name = 7, "Acme"
	if team := o.FirstTeam(); team.Name != "Acme All users" || !team.Default || team.OrganisationID != 7 {
		t.Errorf("%+v", team)
	}
}
