package shape

import "strings"

// Place is the path of a value in documents of a type: the names of members from the outside
// in. AnyName stands for any name, Item for any item of a list.
type Place []string

// The steps of a Place that are not names.
const (
	AnyName = "{}"
	Item    = "[]"
)

// String writes a place such as "access_rights.{}.versions[]".
func (p Place) String() string {
	return strings.ReplaceAll(strings.Join(p, "."), "."+Item, Item)
}

// Walk visits the type and all types in it, the outer type first. A type that contains itself
// is visited only once on each path.
func (t Type) Walk(visit func(at Place, of Type)) { walk(&t, nil, nil, visit) }

func walk(t *Type, at Place, inside []*Type, visit func(Place, Type)) {
	if t.kind == kindRef {
		for _, outer := range inside {
			if outer == t.elem {
				return
			}
		}
		walk(t.elem, at, append(inside[:len(inside):len(inside)], t.elem), visit)
		return
	}
	visit(at, *t)
	for i := range t.either {
		walk(&t.either[i], at, inside, func(below Place, of Type) {
			if len(below) > len(at) {
				visit(below, of)
			}
		})
	}
	below := func(name string, of *Type) { walk(of, append(at[:len(at):len(at)], name), inside, visit) }
	for i := range t.members {
		below(t.members[i].name, &t.members[i].of)
	}
	switch {
	case t.elem == nil:
	case t.kind == kindList:
		below(Item, t.elem)
	default:
		below(AnyName, t.elem)
	}
}

// Free reports whether a value may be any JSON.
func (t Type) Free() bool { return t.kind == kindAny || t.kind == kindRaw }

// Alternatives returns the alternative types of a value of Either; nil for other types.
func (t Type) Alternatives() []Type { return t.either }

// Known returns the names of the members of an object.
func (t Type) Known() []string {
	names := make([]string, 0, len(t.members))
	for _, m := range t.members {
		names = append(names, m.name)
	}
	return names
}
