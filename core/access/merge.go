package access

import (
	"maps"
	"slices"
)

// entry returns what the map says of a permission, if it says anything: also by
// another name for it, or through the group that speaks for it.
func (m Map) entry(p Permission) (Level, bool) {
	level, ok := m[string(p)]
	if name, two := synonyms[p]; two {
		if also, has := m[name]; has {
			level, ok = stronger(level, also), true
		}
	}
	if other, has := fallbacks[p]; !ok && has {
		return m.entry(other)
	}
	return level, ok
}

// names returns the permissions that maps have entries for, sorted. One that falls
// back on another is among them as soon as any map has that one: what maps give
// together must not lose it.
func names(list ...Map) []string {
	all := map[string]bool{}
	for _, m := range list {
		for name := range m {
			for p, other := range synonyms { // entries are compared under one name
				if name == other {
					name = string(p)
					break
				}
			}
			all[name] = true
		}
	}
	for p, other := range fallbacks {
		if all[string(other)] {
			all[string(p)] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Merge returns what several maps give together: of each permission the strongest
// level, unless one of them has a literal LevelDeny, which beats all others. A single
// map stays as it is written.
func Merge(list ...Map) Map {
	if len(list) == 1 {
		return list[0]
	}
	out := Map{}
	for _, d := range Explain(list...) {
		out[string(d.Permission)] = d.Level
	}
	return out
}

// Exceeding returns a permission that going from one map to another would give and
// that the giver does not have, or "". A literal LevelDeny is taken away only by
// those who may write what it denies: it may hold back what another group gives.
func Exceeding(before, after, giver Map) Permission {
	switch {
	case giver.Admin():
		return ""
	case after.Admin() && !before.Admin():
		return IsAdmin
	}
	for _, name := range names(before, after) {
		p := Permission(name)
		if p == IsAdmin || before.Admin() {
			continue
		}
		had, denied := before.entry(p)
		gets, denies := after.entry(p)
		need := strength[gets]
		if had == LevelDeny && denied && (gets != LevelDeny || !denies) {
			need = max(need, strength[LevelWrite])
		} else if need <= strength[had] {
			continue
		}
		if strength[giver.Level(p)] < need {
			return p
		}
	}
	return ""
}

// Limit returns what is left of a map for a credential that is limited to some
// permissions; without any it is not limited. An admin may write what is named, and is
// an admin only if IsAdmin is named.
func (m Map) Limit(to []string) Map {
	if len(to) == 0 {
		return m
	}
	out := Map{}
	for p := range fallbacks { // another permission must not speak for one that is not named
		out[string(p)] = LevelDeny
	}
	for _, name := range to {
		level, ok := m.entry(Permission(name))
		switch {
		case m.Admin() && name != string(IsAdmin) && level != LevelDeny:
			out[name] = LevelWrite
		case ok:
			out[name] = level
		}
	}
	return out
}
