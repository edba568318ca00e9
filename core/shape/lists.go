package shape

import "github.com/gatehouse-io/gatehouse/core/doc"

// FillLists replaces lists that are null by empty lists, in place, and adds the lists that are
// missing in objects. Members that the zero form leaves out stay missing.
func (t Type) FillLists(n *doc.Node) { t.fill(n) }

func (t *Type) fill(n *doc.Node) {
	switch t.kind {
	case kindRef:
		t.elem.fill(n)
	case kindList:
		for _, v := range n.Items() {
			t.elem.fill(v)
		}
	case kindMap:
		for name, v := range n.Members() {
			t.elem.fillMember(n, name, v)
		}
	case kindObject:
		if !n.Is(doc.TypeObject) {
			return
		}
		for i := range t.members {
			m := &t.members[i]
			if v := n.Get(m.name); v != nil || m.of.kind == kindList && !m.omitted {
				m.of.fillMember(n, m.name, v)
			}
		}
	}
}

// fillMember fills one member of an object. v is nil if the member is missing.
func (t *Type) fillMember(n *doc.Node, name string, v *doc.Node) {
	if t.kind == kindList && v.Is(doc.Absent, doc.TypeNull) {
		n.Set(name, doc.NewArray())
		return
	}
	t.fill(v)
}

// Lists names the members of an object that are lists.
func (t Type) Lists() (names []string) {
	for _, m := range t.members {
		if m.of.kind == kindList {
			names = append(names, m.name)
		}
	}
	return names
}
