package oas

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// block is an object of the extension as the table knows it, for removing what
// has become empty and adding what is always written.
type block struct {
	members map[string]*block // nil for a member that is no block
	order   []string
	items   *block // of a list or a map of objects
	kind    kind
	must    bool
	mapped  bool  // something in it has a classic twin
	empty   empty // what is shown without content
}

// newBlock makes the shape that rows describe of the object at a path.
func newBlock(path string, parts ...[]row) *block {
	b := &block{}
	b.addAll(parts...)
	b.mark(path)
	return b
}

// mark notes what empty members show.
func (b *block) mark(path string) {
	b.empty = empties[path]
	for name, m := range b.members {
		m.mark(within(path, name))
	}
	if b.items != nil {
		b.items.mark(items(path))
	}
}

func (b *block) addAll(parts ...[]row) {
	for _, r := range slices.Concat(parts...) {
		b.add(r)
	}
}

// add notes a row.
func (b *block) add(r row) {
	head, rest, isList := cutItems(r.ext)
	twin := r.rule != docOnly && r.rule != docKeep
	b.mapped = b.mapped || twin
	for name := range strings.SplitSeq(head, ".") {
		b = b.member(name)
		b.mapped = b.mapped || twin
	}
	if !isList {
		b.kind, b.must = r.kind, bool(r.written)
		return
	}
	b.kind = list
	if b.items == nil {
		b.items = &block{}
	}
	r.ext = rest
	b.items.add(r)
}

func (b *block) member(name string) *block {
	if b.members == nil {
		b.members = map[string]*block{}
	}
	if b.members[name] == nil {
		b.members[name] = &block{}
		b.order = append(b.order, name)
	}
	return b.members[name]
}

// cutItems divides a path at its first list or map of objects.
func cutItems(path string) (head, rest string, ok bool) {
	for i := range len(path) {
		if strings.HasPrefix(path[i:], "[]") || strings.HasPrefix(path[i:], ".*") {
			return path[:i], strings.TrimLeft(path[i:], "[].*"), true
		}
	}
	return path, "", false
}

// at returns the block at a path of the table.
func (b *block) at(path string) *block {
	for name := range strings.SplitSeq(path, ".") {
		b = b.members[name]
	}
	return b
}

// settle removes what is empty, completes the blocks that are not, and reports whether
// nothing is left. Blocks that live in the document only stay; unknown members count as
// content.
func (b *block) settle(n *doc.Node) (nothing bool) {
	nothing = true
	for _, name := range n.Names() {
		m, v := b.members[name], n.Get(name)
		switch {
		case m == nil:
			nothing = false
		case m.members == nil || !v.Is(doc.TypeObject):
			nothing = m.settleValue(n, name, v) && nothing
		case !m.mapped:
			m.tidy(v)
			nothing = nothing && m.nothing(v)
		case !m.settle(v):
			nothing = false
		case m.empty != kept:
			n.Delete(name)
		}
	}
	if !nothing {
		b.complete(n)
	}
	return nothing
}

// settleValue is settle for a member that is no block, or should be one and is not.
func (b *block) settleValue(n *doc.Node, name string, v *doc.Node) (nothing bool) {
	if b.items != nil {
		b.tidyItems(v)
	}
	nothing = isEmpty(v, b.kind) && b.empty != content
	switch {
	case nothing && (!b.must && b.empty == absent || v.Is(doc.TypeNull) && b.empty != null):
		n.Delete(name) // what is written also when empty comes back with the rest
	case b.kind == duration && v.Is(doc.TypeString):
		assign(n, read(v, duration), name)
	}
	return nothing
}

// nothing reports whether all members of a block are empty.
func (b *block) nothing(n *doc.Node) bool {
	for name, v := range n.Members() {
		switch m := b.members[name]; {
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

// complete adds the members that are written also when empty.
func (b *block) complete(n *doc.Node) {
	for _, name := range b.order {
		m := b.members[name]
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
		case m.must:
			n.Set(name, read(nil, m.kind))
		}
	}
}

// tidy writes a block that stays, whatever it says, as the table has it: empty members
// are left out unless they are always written, durations are canonical.
func (b *block) tidy(n *doc.Node) {
	for _, name := range n.Names() {
		switch m, v := b.members[name], n.Get(name); {
		case m == nil:
		case m.members != nil && v.Is(doc.TypeObject):
			m.tidy(v)
		default:
			m.settleValue(n, name, v)
		}
	}
	b.complete(n)
}

// tidyItems tidies the objects in a list or map.
func (b *block) tidyItems(n *doc.Node) {
	for _, item := range n.Items() {
		if item.Is(doc.TypeObject) {
			b.items.tidy(item)
		}
	}
	for _, item := range n.Members() {
		if item.Is(doc.TypeObject) {
			b.items.tidy(item)
		}
	}
}
