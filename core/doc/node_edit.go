package doc

import (
	"maps"
	"slices"
)

// Set adds or replaces a member of an object.
func (n *Node) Set(name string, v *Node) {
	if i := n.find(name); i >= 0 {
		n.nodes[i] = v
		return
	}
	n.names, n.nodes = append(n.names, name), append(n.nodes, v)
	if n.index != nil {
		n.index[name] = len(n.names) - 1
		return
	}
	n.reindex()
}

// reindex builds the index of an object with enough members. Only methods that change an
// object call it, because readers may share one.
func (n *Node) reindex() {
	if n.index = nil; len(n.names) < indexMembers {
		return
	}
	n.index = make(map[string]int, len(n.names))
	for i, name := range n.names {
		n.index[name] = i
	}
}

// Put sets a nested member. Missing parents, and those that are not objects, become objects.
func (n *Node) Put(v *Node, path ...string) {
	last := len(path) - 1
	for _, name := range path[:last] {
		next := n.Get(name)
		if !next.Is(TypeObject) {
			next = NewObject()
			n.Set(name, next)
		}
		n = next
	}
	n.Set(path[last], v)
}

// Delete removes a member, possibly a nested one, and reports whether it existed.
func (n *Node) Delete(path ...string) bool {
	last := len(path) - 1
	n = n.Get(path[:last]...)
	i := n.find(path[last])
	if i < 0 {
		return false
	}
	n.names, n.nodes = slices.Delete(n.names, i, i+1), slices.Delete(n.nodes, i, i+1)
	n.reindex()
	return true
}

// Append adds items to an array.
func (n *Node) Append(items ...*Node) { n.nodes = append(n.nodes, items...) }

// SetItems replaces the items of an array.
func (n *Node) SetItems(items []*Node) { n.nodes = items }

// Clone returns an independent copy.
func (n *Node) Clone() *Node {
	if n == nil {
		return nil
	}
	c := &Node{kind: n.kind, text: n.text, names: slices.Clone(n.names), spelt: maps.Clone(n.spelt)}
	if n.nodes != nil {
		c.nodes = make([]*Node, len(n.nodes))
	}
	for i, v := range n.nodes {
		c.nodes[i] = v.Clone()
	}
	c.reindex()
	return c
}

// Without returns a copy without the members, at any depth, for which drop returns true. drop
// is called for a member after its own members have been filtered.
func (n *Node) Without(drop func(*Node) bool) *Node {
	switch n.Type() {
	case TypeArray:
		out := NewArray()
		for _, item := range n.Items() {
			out.Append(item.Without(drop))
		}
		return out
	case TypeObject:
		out := NewObject()
		for name, v := range n.Members() {
			if v = v.Without(drop); !drop(v) {
				out.Set(name, v)
			}
		}
		return out
	}
	return n.Clone()
}

// IsNull reports whether a node is null.
func (n *Node) IsNull() bool { return n.Is(TypeNull) }
