package people

import (
	"context"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/attribute"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// ShownDefault is a default attribute.
type ShownDefault struct {
	ID               table.ID `json:"ID"`
	Label            string   `json:"Label"`
	AddToKeyMetadata bool     `json:"AddToKeyMetadata"`
}

func shownDefault(m attribute.Model, d attribute.Default) ShownDefault {
	return ShownDefault{d.ID, d.Label, m.Adds(d)}
}

// defaults are the rows of default attributes.
type defaults struct{ crud.Tools }

type ofModel struct {
	Scope tenant.Scope
	Who   operation.Principal
	Model string `path:"extended_attribute_id" doc:"Number or CID of the model with the attributes."`
}

type (
	defaultList struct {
		ofModel
		portal.Page `params:""`
	}
	defaultNamed struct {
		ofModel
		ID string `path:"default_attribute_id" doc:"Number of a default attribute."`
	}
	defaultChange struct {
		defaultNamed
		Body table.Body[attribute.Choice] `body:""`
	}
)

func (d defaults) list(ctx context.Context, in defaultList) (out operation.Listing[ShownDefault], err error) {
	err = d.Store.View(ctx, in.Scope, func(r store.Reader) error {
		m, err := portal.Find(ctx, r, Models, in.Model)
		if err != nil {
			return err
		}
		all := []ShownDefault{}
		for _, v := range slices.Backward(attribute.Defaults) { // the highest number first, as in other lists
			if strings.Contains(strings.ToLower(v.Label), strings.ToLower(strings.TrimSpace(in.Keyword))) {
				all = append(all, shownDefault(m, v))
			}
		}
		out, err = portal.Cut(in.Page, func(from, to int) ([]ShownDefault, int, error) {
			return all[min(from, len(all)):min(to, len(all))], len(all), nil
		})
		return err
	})
	return out, err
}

func (d defaults) get(ctx context.Context, in defaultNamed) (out ShownDefault, err error) {
	err = d.Store.View(ctx, in.Scope, func(r store.Reader) error {
		m, found, err := in.find(ctx, r)
		out = shownDefault(m, found)
		return err
	})
	return out, err
}

func (in defaultNamed) find(ctx context.Context, r store.Reader) (m attribute.Model, d attribute.Default, err error) {
	if m, err = portal.Find(ctx, r, Models, in.Model); err != nil {
		return m, d, err
	}
	d, ok := attribute.FindDefault(in.ID)
	if !ok {
		err = fault.New(fault.NotFound, attribute.ModelKind+".default", "default attribute not found")
	}
	return m, d, err
}

func (d defaults) update(ctx context.Context, in defaultChange) (out ShownDefault, err error) {
	at := d.Stamp(in.Scope)
	_, err = d.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		m, found, err := in.find(ctx, w)
		if err != nil {
			return err
		}
		choice := attribute.Choice{AddToKeyMetadata: m.Adds(found)}
		if err := in.Body.Apply(&choice, false, portal.Resolver(ctx, w)); err != nil {
			return err
		}
		out = ShownDefault{found.ID, found.Label, choice.AddToKeyMetadata}
		return touch(ctx, w, in.Who, at, func(m attribute.Model) attribute.Model { return m.Switch(found, choice.AddToKeyMetadata) })
	})
	return out, err
}

// Describe returns the data of a user for the metadata of credentials: default attributes that
// admins have enabled, and values of custom attributes by identifier. A custom attribute with the
// name of a default one is ignored: users may edit it, and services behind gateways trust the role
// and the address.
func Describe(ctx context.Context, r store.Reader, u account.User) (out []credential.Entry, err error) {
	m, err := portal.Find(ctx, r, Models, attribute.Users.String())
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return nil, err
	}
	texts := map[string]string{"First": u.First, "Last": u.Last, "Email": u.Email, "Role": u.Role}
	for _, d := range attribute.Defaults {
		if !m.Adds(d) {
			continue
		}
		e := credential.Entry{Name: d.Key, Text: texts[d.Key]}
		switch d.Key {
		case "Organisation":
			o, err := portal.Glance[organisation.Organisation](ctx, r, account.OrganisationKind, u.OrganisationID)
			if err != nil {
				return nil, err
			}
			e.Text = o.Name
		case "TeamNames":
			e.Texts = make([]string, 0, len(u.Teams))
			for _, id := range u.Teams {
				t, err := portal.Glance[organisation.Team](ctx, r, account.TeamKind, id)
				if err != nil {
					return nil, err
				}
				e.Texts = append(e.Texts, t.Name)
			}
		}
		out = append(out, e)
	}
	all, err := attributes(ctx, r)
	known := out
	for _, a := range all {
		v := u.Attributes.Of(a.ID)
		if a.AddToKeyMetadata && v != "" && !slices.ContainsFunc(known, func(e credential.Entry) bool { return e.Name == a.Identifier }) {
			out = append(out, credential.Entry{Name: a.Identifier, Text: v})
		}
	}
	return out, err
}
