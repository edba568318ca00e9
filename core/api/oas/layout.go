package oas

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// layout describes an object of the extension, derived from the table. It is used to remove
// empty members and to add those that are always written.
type layout struct {
	members map[string]*layout // nil for a member that is not an object
	order   []string
	items   *layout // of a list or a map of objects
	kind    kind
	empty   empty // what is written when it has no content
	needed  bool  // required by the schema
	mapped  bool  // some member has a classic counterpart
}

// addAll adds rows, and returns l.
func (l *layout) addAll(parts ...[]row) *layout {
	for _, r := range slices.Concat(parts...) {
		l.add(r)
	}
	return l
}

// add adds a row.
func (l *layout) add(r row) {
	head, rest, isList := cutItems(r.ext)
	twin := r.rule != block && r.rule != docOnly && r.rule != docKeep
	l.mapped = l.mapped || twin
	for name := range strings.SplitSeq(head, ".") {
		next := l.members[name]
		if next == nil {
			next = &layout{}
			if l.members == nil {
				l.members = map[string]*layout{}
			}
			l.members[name], l.order = next, append(l.order, name)
		}
		l = next
		l.mapped = l.mapped || twin
	}
	if !isList {
		l.kind, l.empty = r.typ.kind(), r.empty
		_, l.needed = r.typ.required()
		return
	}
	if l.items == nil {
		l.items = &layout{}
	}
	r.ext = rest
	l.items.add(r)
}

// cutItems splits a path at its first list or map of objects.
func cutItems(path string) (head, rest string, ok bool) {
	for i := range len(path) {
		if strings.HasPrefix(path[i:], "[]") || strings.HasPrefix(path[i:], ".*") {
			return path[:i], strings.TrimLeft(path[i:], "[].*"), true
		}
	}
	return path, "", false
}

// compact removes empty members, completes the blocks that are not empty, and reports whether
// nothing is left. Blocks that only the document has stay; unknown members count as content.
func (l *layout) compact(n *doc.Node) (nothing bool) {
	nothing = true
	for _, name := range n.Names() {
		m, v := l.members[name], n.Get(name)
		switch {
		case m == nil:
			nothing = false
		case m.members == nil || !v.Is(doc.TypeObject):
			nothing = m.compactValue(n, name, v) && nothing
		case !m.mapped:
			m.tidy(v)
			nothing = nothing && m.nothing(v)
		case !m.compact(v):
			nothing = false
		case m.empty != kept:
			n.Delete(name)
		}
	}
	if !nothing {
		l.complete(n)
	}
	return nothing
}

// compactValue is compact for a member that is not a block, or is not an object although it
// should be.
func (l *layout) compactValue(n *doc.Node, name string, v *doc.Node) (nothing bool) {
	if l.items != nil {
		for _, item := range v.Items() {
			if item.Is(doc.TypeObject) {
				l.items.tidy(item)
			}
		}
		for _, item := range v.Members() {
			if item.Is(doc.TypeObject) {
				l.items.tidy(item)
			}
		}
	}
	nothing = isEmpty(v, l.kind) && l.empty != content
	switch {
	case nothing && (l.empty == may || v.Is(doc.TypeNull) && l.empty != null):
		n.Delete(name) // if it is always written, complete adds it again
	case l.kind == duration && v.Is(doc.TypeString):
		assign(n, read(v, duration), name)
	}
	return nothing
}

// nothing reports whether all members of a block are empty.
func (l *layout) nothing(n *doc.Node) bool {
	for name, v := range n.Members() {
		switch m := l.members[name]; {
		case m == nil:
			return false
		case m.members != nil && v.Is(doc.TypeObject):
			if !m.nothing(v) {
				return false
			}
		case !isEmpty(v, m.kind) || m.empty == content:
			return false
		}
	}
	return true
}

// complete adds the members that are written even when empty.
func (l *layout) complete(n *doc.Node) {
	for _, name := range l.order {
		m := l.members[name]
		switch {
		case n.Get(name) != nil:
		case m.empty == null:
			n.Set(name, doc.NewNull())
		case m.empty == emptyList:
			n.Set(name, doc.NewArray())
		case m.empty == zeroBlock:
			block := doc.NewObject()
			m.complete(block)
			n.Set(name, block)
		case m.empty == must:
			n.Set(name, read(nil, m.kind))
		}
	}
}

// tidy normalises a block that stays in any case: empty members are removed unless they are
// always written, and durations are canonical.
func (l *layout) tidy(n *doc.Node) {
	for _, name := range n.Names() {
		switch m, v := l.members[name], n.Get(name); {
		case m == nil:
		case m.members != nil && v.Is(doc.TypeObject):
			m.tidy(v)
		default:
			m.compactValue(n, name, v)
		}
	}
	l.complete(n)
}

// dropNulls removes null members that the table knows. Required lists and maps become empty
// instead.
func (l *layout) dropNulls(n *doc.Node) {
	for _, name := range n.Names() {
		m, v := l.members[name], n.Get(name)
		switch {
		case m == nil:
		case v.Is(doc.TypeNull) && m.needed && m.kind == list:
			n.Set(name, doc.NewArray())
		case v.Is(doc.TypeNull) && m.needed && m.kind == anyMap:
			n.Set(name, doc.NewObject())
		case v.Is(doc.TypeNull):
			n.Delete(name)
		case m.items != nil:
			for _, item := range v.Items() {
				m.items.dropNulls(item)
			}
			for _, item := range v.Members() {
				m.items.dropNulls(item)
			}
		default:
			m.dropNulls(v)
		}
	}
}
