package identity

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

var groups = &store.Kind[identity.UserGroup]{
	Name: identity.GroupKind, Noun: "user group",
	ID:  func(g identity.UserGroup) string { return g.ID },
	Org: func(g identity.UserGroup) tenant.ID { return g.OrgID },
}

// Codes of faults about groups that come from the store.
const (
	groupMissing = identity.GroupKind + ".not_found"
	trouble      = "internal"
)

var groupResource = crud.Resource[identity.UserGroup, identity.GroupDraft]{
	Facts: crud.Facts[identity.UserGroup]{Kind: groups, Name: func(g identity.UserGroup) string { return g.Name }},
	Group: operation.Group{
		Surface: operation.Management, Name: "usergroups", Path: "/api/usergroups", Tag: "User groups", Permission: access.UserGroups,
		Style: operation.Style{Word: "OK", ListKey: "groups", Faults: map[string]operation.Answer{
			operation.CodeEmptyBody: {Status: 500, Text: "Failed to read response body, body empty."},
			operation.CodeMalformed: {Status: 403, Text: "Request body malformed."},
		}},
	},
	Words: crud.Words{One: "a user group", Many: "user groups", Created: "User group created", Updated: "User group updated", Deleted: "User group deleted",
		Param: "groupId", ParamDoc: "Identifier of the user group."},
	New: func(at crud.Stamp, d identity.GroupDraft) (identity.UserGroup, error) {
		return identity.NewGroup(at.ID, at.Org, d)
	},
	Replace: func(g identity.UserGroup, d identity.GroupDraft, _ system.Clock) (identity.UserGroup, error) {
		return g.Replace(d)
	},
	Draft: map[string]any{"name": "API designers", "description": "Those who write APIs", "active": true, "user_permissions": map[string]string{"apis": "write", "policies": "read"}},
	Faults: []string{identity.CodeGroupName, identity.CodeGroupText, identity.CodeGroupDays, identity.CodeGroupPermissions, identity.CodeGroupEmpty, identity.GroupKind + ".too_many",
		codeGrant, codeLastAdmin},
	Receipt: func(op store.Op, g identity.UserGroup) (any, string) {
		if op == store.Created {
			return g.ID, ""
		}
		return nil, ""
	},
}

// GroupRegistration returns the registration of the kind of user groups.
func GroupRegistration() crud.Registration {
	r := groupResource.Registration()
	r.Operations = nil // UserGroups lists them together with its own operations
	return r
}

// UserGroups has the operations of users on user groups.
type UserGroups struct {
	*Service
	Tools crud.Tools
}

// Operations lists the operations of users on user groups.
func (s UserGroups) Operations() []operation.Operation {
	r := groupResource
	r.After = s.after
	o := r.With(s.Tools)
	absent := func(status int, text string) operation.Option {
		return operation.Answers(map[string]operation.Answer{groupMissing: {Status: status, Text: text}})
	}
	return r.Group.Rows(
		o.List(operation.Answers(map[string]operation.Answer{trouble: {Text: "Failed to unmarshal keys data from Tyk API."}})),
		o.Insert(operation.Notes("At least one permission is required. Callers who are not admins can grant only permissions that they have. ResetPassword is ignored.")),
		o.Get(absent(404, "Could not retrieve user group detail.")),
		o.Edit(absent(400, "Group ID does not exist"), operation.Notes("Absent members become empty, except active and ResetPassword, which keep their value. The new permissions apply to the group's members at once.")),
		o.Delete(absent(404, "Could not retrieve user detail."), operation.Faulting(groupMissing, codeLastAdmin),
			operation.Notes("Users in the group lose it, and their own user_permissions apply again. An empty map grants nothing.")),
	)
}

// after compares the stored group with what the caller may give, and removes the
// members from a group that is deleted.
func (s UserGroups) after(ctx context.Context, w store.Writer, c *crud.Change[identity.UserGroup, identity.GroupDraft]) error {
	if c.Op != store.Created {
		if err := lifted(ctx, w, c); err != nil {
			return err
		}
	}
	if c.Op == store.Deleted {
		// All members leave the group.
		people, programs, err := membersOf(ctx, w, c.Old.ID)
		if err != nil {
			return err
		}
		for _, a := range programs {
			if _, err := accounts.Edit(ctx, w, a.ID, nil, func(a identity.ServiceAccount) (identity.ServiceAccount, error) {
				a.GroupIDs = a.User().Without(c.Old.ID).GroupIDs
				return a, nil
			}); err != nil {
				return err
			}
		}
		for _, u := range people {
			if _, err := users.Edit(ctx, w, u.ID, nil, func(u identity.User) (identity.User, error) { return u.Without(c.Old.ID), nil }); err != nil {
				return err
			}
		}
	} else if err := granting(c.Who, revived(c.Old.Active, c.New.Active, c.Old.Permissions), c.New.Permissions); err != nil {
		return err
	}
	if c.Old.Gives().Admin() && !c.New.Gives().Admin() {
		return s.keepAdmin(ctx, w, c.Old.OrgID)
	}
	return nil
}

// lifted refuses a change by which members gain permissions that the caller does not
// have: a group that is deleted or switched off no longer denies anything, and no
// longer overrides the permission maps of its members.
func lifted(ctx context.Context, w store.Writer, c *crud.Change[identity.UserGroup, identity.GroupDraft]) error {
	if c.Who.Permissions.Admin() {
		return nil
	}
	people, programs, err := membersOf(ctx, w, c.Old.ID)
	if err != nil {
		return err
	}
	members := people
	for _, a := range programs {
		members = append(members, a.User())
	}
	for _, u := range members {
		if !u.Active {
			continue // a caller who activates a member needs the permissions of the member
		}
		list, err := groupsOf(ctx, w, u)
		if err != nil {
			return err
		}
		others := slices.DeleteFunc(slices.Clone(list), func(g identity.UserGroup) bool { return g.ID == c.Old.ID })
		now := u
		if c.Op == store.Deleted {
			now = u.Without(c.Old.ID)
		}
		if err := granting(c.Who, u.Effective(append(others, c.Old)...), now.Effective(list...)); err != nil {
			return err
		}
	}
	return nil
}

// membersOf returns the users and the service accounts in a group.
func membersOf(ctx context.Context, w store.Writer, group string) (people []identity.User, programs []identity.ServiceAccount, err error) {
	for rec, err := range w.Referrers(ctx, integrity.Target{Kind: identity.GroupKind, ID: group}) {
		if err != nil {
			return nil, nil, err
		}
		switch rec.Kind {
		case users.Name:
			u, err := users.Decode(rec)
			if err != nil {
				return nil, nil, err
			}
			people = append(people, u)
		case accounts.Name:
			a, err := accounts.Decode(rec)
			if err != nil {
				return nil, nil, err
			}
			programs = append(programs, a)
		}
	}
	return people, programs, nil
}

// Codes of the faults for permissions that callers may not give or take away.
const (
	codeGrant     = "auth.grant"
	codeLastAdmin = "auth.last_admin"
)

// granting refuses permissions that the giver does not have.
func granting(who operation.Principal, before, after access.Map) error {
	if p := access.Exceeding(before, after, who.Permissions); p != "" {
		return fault.New(fault.Denied, codeGrant, "access denied: you cannot give the permission %s, because you do not have it at this level", p).At("user_permissions." + string(p))
	}
	return nil
}

// revived returns the permissions before a write that count for granting: an inactive
// account had none.
func revived(was, is bool, had access.Map) access.Map {
	if !was && is {
		return nil
	}
	return had
}

// keepAdmin refuses a unit of work after which an organisation has no active admin. It
// is called when the unit of work removes an admin.
func (s *Service) keepAdmin(ctx context.Context, r store.Reader, org tenant.ID) error {
	for u, err := range users.Find(ctx, r, store.Query{}) {
		if err != nil {
			return err
		}
		if u.Value.OrgID != org || !u.Value.Active {
			continue
		}
		list, err := groupsOf(ctx, r, u.Value)
		if err != nil {
			return err
		}
		if u.Value.Effective(list...).Admin() {
			return nil
		}
	}
	return fault.New(fault.Denied, codeLastAdmin, "access denied: the organisation needs an active admin; make another user an admin first")
}
