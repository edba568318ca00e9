package catalogues

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Listed is a catalogue in lists.
type Listed struct {
	ID               table.ID `json:"ID"`
	CID              string   `json:"CID"`
	Name             string   `json:"Name"`
	NameWithSlug     string   `json:"NameWithSlug"`
	VisibilityStatus string   `json:"VisibilityStatus,omitempty"`
}

// Shown is the full representation of a catalogue. Products and plans are names.
type Shown struct {
	Listed
	Products      []string `json:"Products"`
	Plans         []string `json:"Plans"`
	OrgCatalogues []Viewer `json:"OrgCatalogues"`
	CreatedAt     string   `json:"CreatedAt"`
	UpdatedAt     string   `json:"UpdatedAt"`
}

// Viewer is an audience in a catalogue: names only.
type Viewer struct {
	Catalogue    string   `json:"Catalogue"`
	ID           table.ID `json:"ID"`
	Name         string   `json:"Name"` // of the team
	Organisation string   `json:"Organisation"`
}

func listed(c catalogue.Catalogue) Listed {
	return Listed{c.ID, c.CID, c.Name, c.NameWithSlug, c.VisibilityStatus}
}

func (s resource) show(ctx context.Context, r store.Reader, c catalogue.Catalogue) (Shown, error) {
	out := Shown{Listed: listed(c), Products: []string{}, Plans: []string{}, OrgCatalogues: []Viewer{}, CreatedAt: table.Stamp(c.CreatedAt), UpdatedAt: table.Stamp(c.UpdatedAt)}
	for _, o := range s.all {
		names := &out.Products
		if o.kind() == catalogue.PlanKind {
			names = &out.Plans
		}
		list, err := o.list(ctx, r, c.ID)
		if err != nil {
			return out, err
		}
		for _, v := range list {
			*names = append(*names, v.name)
		}
	}
	audiences, err := AudiencesOf(ctx, r, c.ID)
	if err != nil {
		return out, err
	}
	for _, a := range audiences {
		team, err := portal.Glance[struct{ Name string }](ctx, r, account.TeamKind, a.TeamID)
		if err != nil {
			return out, err
		}
		of, err := portal.Glance[struct{ Name string }](ctx, r, account.OrganisationKind, a.OrganisationID)
		if err != nil {
			return out, err
		}
		out.OrgCatalogues = append(out.OrgCatalogues, Viewer{c.Name, a.ID, team.Name, of.Name})
	}
	return out, nil
}

// AudiencesOf returns the audiences of a catalogue in order of number.
func AudiencesOf(ctx context.Context, r store.Reader, id table.ID) ([]catalogue.Audience, error) {
	return store.Collect(portal.All(ctx, r, Audiences, id))
}

// says reports whether an audience in a request has identifiers.
func says(members map[string]any) bool {
	return members["OrganisationID"] != nil || members["TeamID"] != nil
}

// audience decodes an audience that a client has sent with its catalogue; said is false
// if it has no identifiers.
func audience(ctx context.Context, r store.Reader, catalogueID table.ID, sent any) (a catalogue.Audience, said bool, err error) {
	members, ok := sent.(map[string]any)
	if !ok {
		return a, false, table.Problems{"OrgCatalogues is invalid"}.Err()
	}
	if !says(members) {
		return a, false, nil
	}
	text, err := json.Marshal(members)
	if err != nil {
		return a, false, err
	}
	var body table.Body[catalogue.Audience]
	if err := json.Unmarshal(text, &body); err != nil {
		return a, false, err
	}
	a.CatalogueID = catalogueID
	if err := body.Apply(&a, true, portal.Resolver(ctx, r)); err != nil {
		return a, false, err
	}
	a, err = ofTeam(ctx, r, a)
	return a, true, err
}
