package identity

import (
	"maps"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/access"
)

// The kinds of sources of permissions.
const (
	FromUser  = "user"  // the user's own map
	FromGroup = "group" // a group of the user
	FromRule  = "rule"  // a rule for all users
)

// Source is a source of permissions of a user, even if it does not count.
type Source struct {
	Kind        string     `json:"source"`
	ID          string     `json:"id,omitempty"`
	Name        string     `json:"name,omitempty"`
	Counts      bool       `json:"counts"`
	Note        string     `json:"note,omitempty"`
	Permissions access.Map `json:"user_permissions"`
}

// Sources returns the sources of u's permissions. The maps of groups replace the user's own
// map, except that an admin stays an admin. Without a group, the own map counts. An empty own
// map makes an admin only of a user whom the admin API created without permissions and who has
// never been in a group (docs/wire/permissions.md#the-permission-map).
func (u User) Sources(groups ...UserGroup) []Source {
	own := Source{Kind: FromUser, ID: u.ID, Name: u.Email, Counts: true, Permissions: u.Permissions}
	admin := Source{Kind: FromRule, Counts: true, Permissions: access.Map{string(access.IsAdmin): access.LevelAdmin}}
	if len(u.Groups()) == 0 {
		if len(u.Permissions) > 0 || u.Grouped {
			return []Source{own}
		}
		admin.Note = "an empty map makes an admin of a user whom the admin API made without permissions"
		return []Source{own, admin}
	}
	list := make([]Source, 0, len(groups)+2)
	for _, g := range groups {
		s := Source{Kind: FromGroup, ID: g.ID, Name: g.Name, Counts: g.Active, Permissions: g.Permissions}
		if !g.Active {
			s.Note = "the group is not active"
		}
		list = append(list, s)
	}
	own.Counts, own.Note = false, "what groups give takes the place of the own map"
	if list = append(list, own); u.Permissions.Admin() {
		admin.Note = "an admin stays one in a group"
		list = append(list, admin)
	}
	return list
}

// Effective returns the effective permission map of u in these groups.
func (u User) Effective(groups ...UserGroup) access.Map { return together(u.Sources(groups...)) }

// together merges the sources that count. Permissions from a rule take precedence.
func together(list []Source) access.Map {
	merged := access.Merge(counting(list)...)
	for _, s := range list {
		if s.Kind == FromRule {
			out := access.Map{}
			maps.Copy(out, merged)
			maps.Copy(out, s.Permissions)
			merged = out
		}
	}
	return merged
}

// counting returns the maps of users and groups that are merged. An inactive group gives
// nothing.
func counting(list []Source) (out []access.Map) {
	for _, s := range list {
		switch {
		case s.Kind == FromRule || s.Kind == FromUser && !s.Counts:
		case s.Counts:
			out = append(out, s.Permissions)
		default:
			out = append(out, access.Map{})
		}
	}
	return out
}

// Explained is a permission of a user with its reason.
type Explained struct {
	Permission access.Permission `json:"permission"`
	Level      access.Level      `json:"level"`
	Read       bool              `json:"may_read"`
	Write      bool              `json:"may_write"`
	From       []Origin          `json:"from"`
	Reason     string            `json:"reason"`
}

// Origin identifies a source.
type Origin struct {
	Kind string `json:"source"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// Explain returns, for every permission, the effective level for u and the sources from which
// it comes.
func (u User) Explain(groups ...UserGroup) (sources []Source, list []Explained) {
	sources = u.Sources(groups...)
	for i := range sources {
		if sources[i].Permissions == nil {
			sources[i].Permissions = access.Map{} // an object in JSON, even when it is empty
		}
	}
	var merged []Origin // the sources of the maps that counting returns, in the same order
	for _, s := range sources {
		if s.Kind == FromGroup || s.Kind == FromUser && s.Counts {
			merged = append(merged, Origin{s.Kind, s.ID, s.Name})
		}
	}
	effective := together(sources)
	decided := map[access.Permission]access.Decision{}
	for _, d := range access.Explain(counting(sources)...) {
		decided[d.Permission] = d
	}
	// The permissions of the product come in their order, then the others by name.
	known := slices.DeleteFunc(slices.Clone(access.Groups), func(p access.Permission) bool { return p == access.AnyUser })
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(decided)), func(p access.Permission) bool { return slices.Contains(known, p) })
	for _, p := range append(known, others...) {
		d := decided[p]
		e := Explained{Permission: p, Level: effective.Level(p), Read: effective.Allows(p, access.Read), Write: effective.Allows(p, access.Write), From: []Origin{}}
		for _, i := range d.From {
			e.From = append(e.From, merged[i])
		}
		e.Reason = reason(p, d, effective)
		if p == access.IsAdmin && sources[len(sources)-1].Kind == FromRule {
			e.From, e.Reason = []Origin{{Kind: FromRule}}, sources[len(sources)-1].Note
		}
		list = append(list, e)
	}
	return sources, list
}

// reason explains why a permission has its level.
func reason(p access.Permission, d access.Decision, effective access.Map) string {
	other, falls := access.FallsBack(p)
	_, own := effective[string(p)]
	switch {
	case effective.Admin() && p != access.IsAdmin && d.Level == access.LevelDeny:
		return "an admin may do everything; where rules decide, they bind an admin by this deny"
	case effective.Admin() && p != access.IsAdmin:
		return "an admin may do everything"
	case len(d.From) == 0 && falls && effective.Level(p) != access.LevelDeny || len(d.From) > 0 && falls && !own:
		return "without an entry of its own, that of " + string(other) + " counts"
	case len(d.From) == 0:
		return "no source that counts names it"
	case d.Level == access.LevelDeny:
		return "deny beats every other level"
	}
	return "the strongest level of the sources that count"
}

// In returns u as a member of a group and of more groups, without duplicates. After that, an
// empty map never makes u an admin again.
func (u User) In(group string, more []string) User {
	u.GroupID, u.GroupIDs = group, nil
	for _, id := range more {
		if id != "" && id != group && !slices.Contains(u.GroupIDs, id) {
			u.GroupIDs = append(u.GroupIDs, id)
		}
	}
	u.Grouped = u.Grouped || len(u.Groups()) > 0
	return u
}

// Without returns u without a deleted group.
func (u User) Without(group string) User {
	first := u.GroupID
	if first == group {
		first = ""
	}
	return u.In(first, slices.DeleteFunc(slices.Clone(u.GroupIDs), func(id string) bool { return id == group }))
}

// Groups returns the IDs of all groups of u.
func (u User) Groups() []string {
	if u.GroupID == "" {
		return u.GroupIDs
	}
	return append([]string{u.GroupID}, u.GroupIDs...)
}
