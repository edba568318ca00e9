package people

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/attribute"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// UserValue is a user's value of an attribute. It is identified by the number of the
// attribute, so that a missing value can be set.
type UserValue struct {
	ID              table.ID          `json:"ID"`
	Value           string            `json:"Value"`
	CustomAttribute AttributeOfAValue `json:"CustomAttribute"`
}

// AttributeOfAValue is an attribute in the representation of values.
type AttributeOfAValue struct {
	Name              string `json:"Name"`
	Identifier        string `json:"Identifier"`
	Type              string `json:"Type"`
	Behaviour         string `json:"Behaviour"`
	AddToKeyMetadata  bool   `json:"AddToKeyMetadata"`
	Required          bool   `json:"Required"`
	ShowOnSignUp      bool   `json:"ShowOnSignUp"`
	WriteOnceReadMany bool   `json:"WriteOnceReadMany"`
}

func userValue(a attribute.Attribute, value string) UserValue {
	return UserValue{a.ID, value, AttributeOfAValue{a.Name, a.Identifier, a.TypeWord(), a.BehaviourWord(), a.AddToKeyMetadata, a.Required, a.ShowOnSignUp, a.WriteOnceReadMany}}
}

// values are the operations on the values of a user.
type values struct {
	crud.Tools
	people *Service
}

type ofUser struct {
	Scope tenant.Scope
	User  string `path:"user_id" doc:"Number or CID of a user."`
}

type (
	valueList struct {
		ofUser
		portal.Page `params:""`
	}
	valueNamed struct {
		ofUser
		ID string `path:"custom_attribute_id" doc:"Number of the custom attribute."`
	}
	valueChange struct {
		valueNamed
		Body table.Body[attribute.Entry] `body:""`
	}
)

func (v values) list(ctx context.Context, in valueList) (out operation.Listing[UserValue], err error) {
	err = v.Store.View(ctx, in.Scope, func(r store.Reader) error {
		u, err := portal.Find(ctx, r, Users, in.User)
		if err != nil {
			return err
		}
		all, err := attributes(ctx, r)
		if err != nil {
			return err
		}
		out = portal.Excerpt(all, in.Page, func(a attribute.Attribute) UserValue { return userValue(a, u.Attributes.Of(a.ID)) })
		return nil
	})
	return out, err
}

// find returns the user and the attribute in a path.
func (in valueNamed) find(ctx context.Context, r store.Reader) (u account.User, a attribute.Attribute, err error) {
	if u, err = portal.Find(ctx, r, Users, in.User); err == nil {
		a, err = portal.Find(ctx, r, Attributes, in.ID)
	}
	return u, a, err
}

func (v values) get(ctx context.Context, in valueNamed) (out UserValue, err error) {
	err = v.Store.View(ctx, in.Scope, func(r store.Reader) error {
		u, a, err := in.find(ctx, r)
		if err == nil {
			out = userValue(a, u.Attributes.Of(a.ID))
		}
		return err
	})
	return out, err
}

func (v values) update(ctx context.Context, in valueChange) (out UserValue, err error) {
	entry := attribute.Entry{}
	if err := in.Body.Apply(&entry, false, nil); err != nil {
		return out, err
	}
	return v.put(ctx, in.valueNamed, func(old string) (string, error) {
		if !in.Body.Has("Value") {
			return old, nil
		}
		return entry.Value, nil
	})
}

func (v values) remove(ctx context.Context, in valueNamed) (portal.Status, error) {
	_, err := v.put(ctx, in, func(old string) (string, error) {
		if old == "" {
			return "", fault.New(fault.NotFound, attribute.Kind+".value", "value not found")
		}
		return "", nil
	})
	return portal.Status{Status: "ok"}, err
}

func (v values) put(ctx context.Context, in valueNamed, value func(old string) (string, error)) (out UserValue, err error) {
	at := v.Stamp(in.Scope)
	_, err = v.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		u, a, err := in.find(ctx, w)
		if err != nil {
			return err
		}
		text, err := value(u.Attributes.Of(a.ID))
		if err != nil {
			return err
		}
		wrong := table.Problems{}
		changed := u.Attributes.Change(a, text, &wrong)
		if err := wrong.Err(); err != nil {
			return err
		}
		out = userValue(a, changed.Of(a.ID))
		_, err = v.people.Edit(ctx, w, u.ID, at, func(u account.User) (account.User, error) {
			u.Attributes = changed
			return u, nil
		})
		return err
	})
	return out, err
}
