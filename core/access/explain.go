package access

// Decision is the combined level of several maps for a permission.
type Decision struct {
	Permission Permission
	Level      Level
	From       []int // indexes of the maps that give it
}

// Explain returns the combined levels of several maps, with the maps that decide each one,
// sorted by permission. Merge uses it.
func Explain(list ...Map) []Decision {
	var out []Decision
	for _, name := range names(list...) {
		d := Decision{Permission: Permission(name)}
		for i, m := range list {
			level, ok := m.entry(d.Permission)
			if !ok {
				continue
			}
			had, says := d.Level, level
			if d.Permission == IsAdmin && len(d.From) > 0 && (Map{string(IsAdmin): level}).Admin() {
				says = LevelAdmin
			}
			switch {
			case had == LevelDeny && level != LevelDeny && len(d.From) > 0:
			case len(d.From) == 0 || level == LevelDeny && had != LevelDeny:
				d.Level, d.From = says, []int{i}
			case d.weight(says) > d.weight(had):
				d.Level, d.From = says, []int{i}
			case says == had || d.weight(says) == d.weight(had):
				d.From = append(d.From, i)
				if d.Permission == IsAdmin && says == LevelAdmin {
					d.Level = says
				}
			}
		}
		out = append(out, d)
	}
	return out
}

// weight is the rank of a level. For IsAdmin, two levels make an admin.
func (d *Decision) weight(l Level) int {
	if d.Permission == IsAdmin && (Map{string(IsAdmin): l}).Admin() {
		return strength[LevelAdmin]
	}
	return strength[l]
}

// FallsBack returns the permission that applies to p when a map has no entry for p.
func FallsBack(p Permission) (Permission, bool) {
	other, ok := fallbacks[p]
	return other, ok
}
