package access

import "maps"

// Strongest returns m with the entries of another map where those give more.
func (m Map) Strongest(other Map) Map {
	out := maps.Clone(m)
	if out == nil {
		out = Map{}
	}
	for name, level := range other {
		had, ok := out[name]
		switch {
		case name == string(IsAdmin):
			if other.Admin() {
				out[name] = level
			}
		case !ok:
			out[name] = level
		default:
			out[name] = stronger(had, level)
		}
	}
	return out
}

// Highest returns what several maps give together where the highest level of each permission
// counts: a LevelDeny is no more than the lowest. A single map stays as it is written.
func Highest(list ...Map) Map {
	if len(list) == 1 {
		return list[0]
	}
	out := Map{}
	for _, name := range names(list...) {
		for _, m := range list {
			if level, ok := m.entry(Permission(name)); ok {
				out[name] = stronger(out[name], level)
			}
			if name == string(IsAdmin) && m.Admin() {
				out[name] = LevelAdmin
			}
		}
	}
	return out
}
