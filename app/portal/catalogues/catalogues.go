// Package catalogues has the operations on catalogues and their audiences
// (docs/wire/portal-catalogues.md).
package catalogues

import (
	"context"
	"slices"
	"strconv"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Kind is the kind of catalogues.
var Kind = portal.KindOf[catalogue.Catalogue]()

// Found stores the initial catalogues of a portal.
func Found(ctx context.Context, w store.Writer, at crud.Stamp) error {
	for _, c := range catalogue.First() {
		if _, err := portal.Add(ctx, w, Kind, at, c); err != nil {
			return err
		}
	}
	return nil
}

// resource is the resource of catalogues, with the kinds that they contain.
type resource struct{ all []Offers }

// Resource defines catalogues as a resource; all are the kinds that they contain.
func Resource(all ...Offers) portal.Resource[catalogue.Catalogue, Listed, Shown] {
	s := resource{all}
	return portal.Resource[catalogue.Catalogue, Listed, Shown]{
		Kind: Kind, Name: "portal-catalogues", Path: "/catalogues", Param: "catalogue_id", One: "a catalogue", Many: "catalogues",
		List:   func(_ context.Context, _ store.Reader, c catalogue.Catalogue) (Listed, error) { return listed(c), nil },
		Show:   s.show,
		Sample: catalogue.Catalogue{Name: "Partners", NameWithSlug: "partners", VisibilityStatus: catalogue.Private},
		Begin:  func(c *catalogue.Catalogue, _ table.ID) { c.VisibilityStatus = catalogue.Private },
		Load:   s.load,
		Hooks:  portal.Hooks[catalogue.Catalogue]{Before: before, After: s.after},
		Rows: func(o portal.Operations[catalogue.Catalogue, Listed, Shown]) []operation.Row {
			return []operation.Row{
				o.ListRow(), o.CreateRow(operation.Notes("The member `OrgCatalogues` (or `OrgCatalogs`) is a list of audiences: `{\"OrganisationID\": 1, \"TeamID\": 1}`.")),
				o.GetRow(), o.UpdateRow(), o.DeleteRow(),
			}
		},
	}
}

// held returns the list in which a catalogue names its records of a kind.
func held(c *catalogue.Catalogue, kind string) *[]table.ID {
	if kind == catalogue.PlanKind {
		return &c.Plans
	}
	return &c.Products
}

func (s resource) load(ctx context.Context, r store.Reader, c *catalogue.Catalogue) error {
	for _, o := range s.all {
		list, err := o.list(ctx, r, c.ID)
		if err != nil {
			return err
		}
		ids := make([]table.ID, 0, len(list))
		for _, v := range list {
			ids = append(ids, v.id)
		}
		*held(c, o.kind()) = ids
	}
	return nil
}

// before sets the slug if the client has not, and closes a new catalogue whose audiences have
// no identifiers.
func before(ctx context.Context, w store.Writer, c *portal.Change[catalogue.Catalogue]) error {
	if c.Op == store.Created {
		c.New.Closed = namesOnly(c.Sent)
	}
	if c.Op == store.Deleted || c.New.NameWithSlug != "" {
		return nil
	}
	base := c.New.Slug()
	for n := 1; n <= tries; n++ {
		if c.New.NameWithSlug = base; n > 1 {
			c.New.NameWithSlug += "-" + strconv.Itoa(n)
		}
		other, err := Kind.ByKey(ctx, w, "slug", store.Indexed(c.New.NameWithSlug))
		switch {
		case fault.KindOf(err) == fault.NotFound, err == nil && other.Value.ID == c.Old.ID:
			return nil
		case err != nil:
			return err
		}
	}
	c.New.NameWithSlug = base + "-" + c.At.ID // many catalogues may have the same name
	return nil
}

// tries is how many numbers are tried as suffix of a taken name.
const tries = 100

func (s resource) after(ctx context.Context, w store.Writer, c *portal.Change[catalogue.Catalogue]) error {
	if c.Op == store.Deleted {
		for _, o := range s.all {
			if err := o.drop(ctx, w, c.Old.ID); err != nil {
				return err
			}
		}
		audiences, err := AudiencesOf(ctx, w, c.Old.ID)
		if err != nil {
			return err
		}
		for _, a := range audiences {
			if err := portal.Remove(ctx, w, Audiences, a.ID, c.At); err != nil {
				return err
			}
		}
		return nil
	}
	for _, o := range s.all {
		if err := o.put(ctx, w, c.At, c.New.ID, *held(&c.Old, o.kind()), *held(&c.New, o.kind())); err != nil {
			return err
		}
	}
	if c.Op == store.Updated {
		return nil
	}
	return invite(ctx, w, c)
}

// namesOnly reports whether a client lists audiences by name only, as answers do: such a
// catalogue is meant for some people, and must not be visible to all.
func namesOnly(sent portal.Sent) bool {
	some := false
	for _, name := range names {
		list, _ := sent.Get(name).([]any)
		some = some || len(list) > 0
		if slices.ContainsFunc(list, func(v any) bool { members, _ := v.(map[string]any); return says(members) }) {
			return false
		}
	}
	return some
}

// names are the names of the member that lists audiences.
var names = []string{"OrgCatalogues", "OrgCatalogs"}

// invite stores the audiences that a client sends with a new catalogue. Objects without an
// organisation are copied from answers, and ignored.
func invite(ctx context.Context, w store.Writer, c *portal.Change[catalogue.Catalogue]) error {
	for _, name := range names {
		sent, ok := c.Sent.Get(name).([]any)
		if c.Sent.Get(name) != nil && !ok || len(sent) > table.MaxList {
			return table.Problems{"OrgCatalogues is invalid"}.Err()
		}
		var teams []table.ID
		for _, v := range sent {
			a, said, err := audience(ctx, w, c.New.ID, v)
			if err != nil {
				return err
			}
			if !said || slices.Contains(teams, a.TeamID) {
				continue
			}
			teams = append(teams, a.TeamID)
			if _, err := portal.Add(ctx, w, Audiences, c.At, a); err != nil {
				return err
			}
		}
		if len(teams) > 0 {
			break
		}
	}
	return nil
}
