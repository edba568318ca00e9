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
