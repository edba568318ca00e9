package people

import (
	"context"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/attribute"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// The kinds of custom attributes. Values are stored with their users.
var (
	Models     = portal.KindOf[attribute.Model]()
	Attributes = portal.KindOf[attribute.Attribute]()
)

// CodeManyAttributes is the fault code for exceeding the number of attributes.
const CodeManyAttributes = "portal_attribute.many"

// ListedModel is an object type with attributes, in lists.
type ListedModel struct {
	ID            table.ID `json:"ID"`
	ModelName     string   `json:"ModelName"`
	LastUpdatedBy string   `json:"LastUpdatedBy"`
	UpdatedAt     string   `json:"UpdatedAt"`
}

// ShownModel is the full representation of an object type with attributes.
type ShownModel struct {
	ListedModel
	CustomAttributes  []ShownAttribute `json:"CustomAttributes"`
	DefaultAttributes []ShownDefault   `json:"DefaultAttributes"`
}

// ShownAttribute is a custom attribute.
type ShownAttribute struct {
	ID                table.ID `json:"ID"`
	Name              string   `json:"Name"`
	Identifier        string   `json:"Identifier"`
	Description       string   `json:"Description"`
	Type              int64    `json:"Type"`
	Behaviour         int64    `json:"Behaviour"`
	DropdownValues    string   `json:"DropdownValues"`
	ValidationRegExp  string   `json:"ValidationRegExp"`
	AddToKeyMetadata  bool     `json:"AddToKeyMetadata"`
	Required          bool     `json:"Required"`
	ShowOnSignUp      bool     `json:"ShowOnSignUp"`
	WriteOnceReadMany bool     `json:"WriteOnceReadMany"`
}

func listModel(ctx context.Context, r store.Reader, m attribute.Model) (ListedModel, error) {
	out := ListedModel{ID: m.ID, ModelName: m.ModelName, UpdatedAt: table.Stamp(m.UpdatedAt)}
	if m.UpdatedBy == 0 {
		return out, nil
	}
	u, err := portal.Glance[account.User](ctx, r, account.Kind, m.UpdatedBy)
	if u.Email != "" {
		out.LastUpdatedBy = strings.TrimSpace(u.First+" "+u.Last) + " - " + u.Email
	}
	return out, err
}

func showModel(ctx context.Context, r store.Reader, m attribute.Model) (out ShownModel, err error) {
	out = ShownModel{CustomAttributes: []ShownAttribute{}}
	if out.ListedModel, err = listModel(ctx, r, m); err != nil {
		return out, err
	}
	all, err := attributes(ctx, r)
	for _, a := range all {
		shown, _ := showAttribute(ctx, r, a) // showAttribute reads nothing
		out.CustomAttributes = append(out.CustomAttributes, shown)
	}
	for _, d := range attribute.Defaults {
		out.DefaultAttributes = append(out.DefaultAttributes, shownDefault(m, d))
	}
	return out, err
}

func showAttribute(_ context.Context, _ store.Reader, a attribute.Attribute) (ShownAttribute, error) {
	return ShownAttribute{a.ID, a.Name, a.Identifier, a.Description, a.Type, a.Behaviour, string(a.DropdownValues), a.ValidationRegExp, a.AddToKeyMetadata, a.Required, a.ShowOnSignUp, a.WriteOnceReadMany}, nil
}

// attributes returns the custom attributes of users, in order of number.
func attributes(ctx context.Context, r store.Reader) ([]attribute.Attribute, error) {
	return store.Collect(portal.All(ctx, r, Attributes, attribute.Users))
}

// modelParam is the placeholder of a model in paths.
const modelParam = "extended_attribute_id"

// ModelResource defines models as a resource; bootstrap creates the only one.
func (s *Service) ModelResource() portal.Resource[attribute.Model, ListedModel, ShownModel] {
	return portal.Resource[attribute.Model, ListedModel, ShownModel]{
		Kind: Models, Name: "portal-extended-attributes", Path: "/extended_attributes", Param: modelParam, One: "a model with custom attributes", Many: "custom attributes",
		List: listModel, Show: showModel, Sample: attribute.First(),
		Rows: func(o portal.Operations[attribute.Model, ListedModel, ShownModel]) []operation.Row {
			const path = "/{" + modelParam + "}/default-attributes"
			one := shownDefault(attribute.Model{}, attribute.Defaults[0])
			d := defaults{o.Tools}
			return []operation.Row{
				o.ListRow(), o.GetRow(),
				operation.GET("list-defaults", path, "List the default attributes", d.list, operation.Example(nil, operation.Listing[ShownDefault]{Items: []ShownDefault{one}, Total: len(attribute.Defaults), Page: 1, PerPage: portal.DefaultPerPage})),
				operation.GET("get-default", path+"/{default_attribute_id}", "Fetch a default attribute", d.get, operation.Example(nil, one)),
				operation.PUT("update-default", path+"/{default_attribute_id}", "Set whether credentials have a default attribute in their metadata", d.update,
					portal.Unprocessable(), operation.Faulting(table.CodeInvalid), operation.Example(map[string]any{"AddToKeyMetadata": true}, one)),
			}
		},
	}
}

// AttributeResource defines custom attributes as a resource.
func (s *Service) AttributeResource() portal.Resource[attribute.Attribute, ShownAttribute, ShownAttribute] {
	return portal.Resource[attribute.Attribute, ShownAttribute, ShownAttribute]{
		Kind: Attributes, Name: "portal-custom-attributes", Path: "/extended_attributes/{" + modelParam + "}/custom-attributes", Param: "custom_attribute_id", One: "a custom attribute", Many: "custom attributes",
		Above: &portal.Above{Kind: attribute.ModelKind, Param: modelParam},
		List:  showAttribute, Show: showAttribute,
		Sample: attribute.Attribute{ModelID: attribute.Users, Name: "Department", Identifier: "department", Type: attribute.String, Behaviour: attribute.Edit},
		Begin:  func(a *attribute.Attribute, parent table.ID) { a.ModelID, a.Behaviour = parent, attribute.Edit },
		Hooks: portal.Hooks[attribute.Attribute]{After: afterAttribute, Before: portal.AtMost[attribute.Attribute](attribute.Kind, attribute.Most,
			fault.New(fault.Invalid, CodeManyAttributes, "there are too many custom attributes (the maximum is %d)", attribute.Most))},
		Rows: func(o portal.Operations[attribute.Attribute, ShownAttribute, ShownAttribute]) []operation.Row {
			return []operation.Row{o.ListRow(), o.CreateRow(portal.Unprocessable(), operation.Faulting(table.CodeInvalid, CodeManyAttributes)), o.GetRow(), o.UpdateRow(Personal()), o.DeleteRow(Personal())}
		},
	}
}

// afterAttribute records who has changed the attributes. Values are deleted with their
// attribute, and renamed with it.
func afterAttribute(ctx context.Context, w store.Writer, c *portal.Change[attribute.Attribute]) error {
	if err := touch(ctx, w, c.Who, c.At, func(m attribute.Model) attribute.Model { return m }); err != nil {
		return err
	}
	fn := func(v attribute.Values) attribute.Values { return v.Put(c.Old, "") }
	switch {
	case c.Op == store.Created || c.Op == store.Updated && c.Old.Identifier == c.New.Identifier:
		return nil
	case c.Op == store.Updated:
		fn = func(v attribute.Values) attribute.Values { return v.Renamed(c.New) }
	}
	users, err := usersBy(ctx, w, byAttribute, c.Old.ID)
	if err != nil {
		return err
	}
	for _, u := range users {
		if _, err := portal.Edit(ctx, w, Users, u.ID, c.At, func(u account.User) (account.User, error) {
			u.Attributes = fn(u.Attributes)
			return u, nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// touch changes the model of users on behalf of an admin.
func touch(ctx context.Context, w store.Writer, who operation.Principal, at crud.Stamp, fn func(attribute.Model) attribute.Model) error {
	_, err := portal.Edit(ctx, w, Models, attribute.Users, at, func(m attribute.Model) (attribute.Model, error) {
		m.UpdatedBy, _ = account.OfPrincipal(who.ID)
		return fn(m), nil
	})
	return err
}
