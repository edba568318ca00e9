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
	mapped  bool // something in it has a classic twin
	stays   bool // also when empty
	shown   bool // as null when empty, as long as the block around it is there
	either  bool // a boolean whose absence says something else than false
}

// newBlock makes the shape that rows describe.
func newBlock(parts ...[]row) *block {
	b := &block{}
	b.addAll(parts...)
	return b
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
		b.kind, b.must, b.either = r.kind, bool(r.written), slices.Contains(eitherWay, r.ext)
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

// settle removes the blocks that are empty, completes the others, and reports
// whether nothing is left (contract oas-extension.md 1.4). Blocks that live in
// the document only stay; unknown members count as content.
func (b *block) settle(n *doc.Node) (nothing bool) {
	nothing = true
	for _, name := range n.Names() {
		m, v := b.members[name], n.Get(name)
		switch {
		case m == nil:
			nothing = false
		case m.items != nil:
			m.tidyItems(v)
			nothing = nothing && v.Len() == 0
		case m.members == nil || !v.Is(doc.TypeObject):
			nothing = nothing && isEmpty(v, m.kind) && !m.either
		case !m.mapped:
			m.tidy(v)
			nothing = nothing && m.empty(v)
		case !m.settle(v):
			nothing = false
		case !m.stays:
			n.Delete(name)
		}
	}
	if !nothing {
		b.complete(n)
	}
	return nothing
}

// empty reports whether all members of a block count as nothing.
func (b *block) empty(n *doc.Node) bool {
	for name, v := range n.Members() {
		switch m := b.members[name]; {
		case m == nil:
			return false
		case m.members != nil && v.Is(doc.TypeObject):
			if !m.empty(v) {
				return false
			}
		case !isEmpty(v, m.kind) || m.either:
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
		case m.shown:
			n.Set(name, doc.NewNull())
		case m.must:
			n.Set(name, read(nil, m.kind))
		}
	}
}

// tidy writes a block that lives in the document only as the table says: empty
// members are left out unless they are always written, durations are canonical
// (contract oas-extension.md 1.2, 1.3).
func (b *block) tidy(n *doc.Node) {
	for _, name := range n.Names() {
		switch m, v := b.members[name], n.Get(name); {
		case m == nil:
		case m.items != nil:
			m.tidyItems(v)
		case m.members != nil && v.Is(doc.TypeObject):
			m.tidy(v)
		case m.members == nil && !m.must && !m.either && isEmpty(v, m.kind):
			n.Delete(name)
		case m.kind == duration && v.Is(doc.TypeString):
			assign(n, read(v, duration), name)
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
