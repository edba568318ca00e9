package identity

import (
	"maps"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/access"
)

// In returns u as a member of a group and of more groups, without repetitions. Who has
// been in a group is never again an admin by an empty map.
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

// Without returns u when a group is gone.
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

// Effective returns the permission map that decides, given the groups of u. What
// groups give takes the place of the user's own map, except that an admin stays one.
// Without a group the own map decides; an empty one makes an admin only of a user whom
// the admin API made without permissions and who has never been in a group
// (docs/wire/permissions.md#the-permission-map).
func (u User) Effective(groups ...UserGroup) access.Map {
	if len(u.Groups()) == 0 {
		if len(u.Permissions) == 0 && !u.Grouped {
			return access.Map{string(access.IsAdmin): access.LevelAdmin}
		}
		return u.Permissions
	}
	gives := make([]access.Map, len(groups))
	for i, g := range groups {
		gives[i] = g.Gives()
	}
	merged := access.Merge(gives...)
	if u.Permissions.Admin() {
		merged = maps.Clone(merged)
		merged[string(access.IsAdmin)] = access.LevelAdmin
	}
	return merged
}
