package shape

import "github.com/gatehouse-io/gatehouse/core/doc"

// Zero returns the complete form of an unset value as a gateway writes it: lists and maps are
// null, members that are marked with ? are absent, all others are there.
func (t Type) Zero() *doc.Node {
	if t.optional {
		return doc.NewNull()
	}
	switch t.kind {
	case kindString, kindObjectID:
		return doc.NewString("")
	case kindBool:
		return doc.NewBool(false)
	case kindInt, kindUint, kindFloat:
		return doc.NewInt(0)
	case kindTime:
		return doc.NewString("0001-01-01T00:00:00Z")
	case kindDuration:
		return doc.NewString("0s")
	case kindRef:
		return t.elem.Zero()
	case kindObject:
		n := doc.NewObject()
		for _, m := range t.members {
			if !m.omitted {
				n.Set(m.name, m.of.Zero())
			}
		}
		return n
	}
	return doc.NewNull()
}
