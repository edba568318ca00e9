package identity

import "slices"

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
