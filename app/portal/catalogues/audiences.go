package catalogues

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Audiences is the kind of audiences.
var Audiences = portal.KindOf[catalogue.Audience]()

// ListedAudience is an audience in lists.
type ListedAudience struct {
	ID             table.ID `json:"ID"`
	OrganisationID table.ID `json:"OrganisationID"`
	TeamID         table.ID `json:"TeamID"`
}

// ShownAudience is the full representation of an audience.
type ShownAudience struct {
	ListedAudience
	CreatedAt string `json:"CreatedAt"`
	UpdatedAt string `json:"UpdatedAt"`
}

func listedAudience(a catalogue.Audience) ListedAudience {
	return ListedAudience{a.ID, a.OrganisationID, a.TeamID}
}

// AudienceResource defines audiences as a resource.
var AudienceResource = portal.Resource[catalogue.Audience, ListedAudience, ShownAudience]{
	Kind: Audiences, Name: "portal-audiences", Path: "/catalogues/{catalogue_id}/audiences", Param: "audience_id", One: "an audience", Many: "audiences",
	Above: &portal.Above{Kind: catalogue.Kind, Param: "catalogue_id"},
	List: func(_ context.Context, _ store.Reader, a catalogue.Audience) (ListedAudience, error) {
		return listedAudience(a), nil
	},
	Show: func(_ context.Context, _ store.Reader, a catalogue.Audience) (ShownAudience, error) {
		return ShownAudience{listedAudience(a), table.Stamp(a.CreatedAt), table.Stamp(a.UpdatedAt)}, nil
	},
	Sample: catalogue.Audience{CatalogueID: 2, OrganisationID: 1, TeamID: 1},
	Begin:  func(a *catalogue.Audience, parent table.ID) { a.CatalogueID = parent },
	Hooks: portal.Hooks[catalogue.Audience]{Before: func(ctx context.Context, w store.Writer, c *portal.Change[catalogue.Audience]) (err error) {
		if c.Op != store.Deleted {
			c.New, err = ofTeam(ctx, w, c.New)
		}
		return err
	}, After: reopened},
	Rows: func(o portal.Operations[catalogue.Audience, ListedAudience, ShownAudience]) []operation.Row {
		return []operation.Row{o.ListRow(), o.CreateRow(portal.Unprocessable()), o.GetRow(), o.DeleteRow()}
	},
}

// ofTeam returns an audience with the organisation of its team. Clients need not name the
// organisation; if they do, the team must belong to it.
func ofTeam(ctx context.Context, r store.Reader, a catalogue.Audience) (catalogue.Audience, error) {
	team, err := portal.Glance[organisation.Team](ctx, r, account.TeamKind, a.TeamID)
	if err != nil {
		return a, err
	}
	if a.OrganisationID != 0 && a.OrganisationID != team.OrganisationID {
		return a, table.Problems{"TeamID is invalid"}.Err()
	}
	a.OrganisationID = team.OrganisationID
	return a, nil
}

// reopened records that the audiences of a catalogue determine again who sees it.
func reopened(ctx context.Context, w store.Writer, c *portal.Change[catalogue.Audience]) error {
	if c.Op != store.Created {
		return nil
	}
	return closed(ctx, w, c.New.CatalogueID, c.At, false)
}

// closed sets whether a catalogue without audiences stays closed.
func closed(ctx context.Context, w store.Writer, id table.ID, at crud.Stamp, yes bool) error {
	old, err := Kind.Get(ctx, w, id.Key())
	if err != nil || old.Value.Closed == yes {
		return err
	}
	_, err = portal.Edit(ctx, w, Kind, id, at, func(c catalogue.Catalogue) (catalogue.Catalogue, error) {
		c.Closed = yes
		return c, nil
	})
	return err
}

// Forget removes the audiences of a deleted team. Their catalogues do not become visible to
// everyone by that.
func Forget(ctx context.Context, w store.Writer, team table.ID, at crud.Stamp) error {
	var gone []catalogue.Audience
	for a, err := range portal.All(ctx, w, Audiences, 0) {
		if err != nil {
			return err
		}
		if a.TeamID == team {
			gone = append(gone, a)
		}
	}
	for _, a := range gone {
		if err := portal.Remove(ctx, w, Audiences, a.ID, at); err != nil {
			return err
		}
		if err := closed(ctx, w, a.CatalogueID, at, true); err != nil {
			return err
		}
	}
	return nil
}
