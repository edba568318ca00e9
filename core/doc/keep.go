package doc

import (
	"bytes"
	"slices"
	"strings"
)

// Keep returns now with the members of old that its decoder did not know: those that are not
// in was, the encoded form of the decoded old. So an older program can edit the document of a
// newer one without losing members. All three are valid JSON. A name that differs from a known
// one only in letter case is not kept, because decoders would take it for the known one.
func Keep(old, was, now []byte) ([]byte, error) {
	if bytes.Equal(old, was) || !IsObject(old) || !IsObject(now) {
		return now, nil
	}
	nodes := make([]*Node, 0, 3)
	for _, text := range [][]byte{old, was, now} {
		n, err := ParseNode(text)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	if !keep(nodes[0], nodes[1], nodes[2]) {
		return now, nil
	}
	return nodes[2].JSON(), nil
}

// keep does Keep on trees, and reports whether it added anything to now.
func keep(old, was, now *Node) (added bool) {
	for name, v := range old.Members() {
		known, next := was.Get(name), now.Get(name)
		switch {
		case known == nil && next == nil && !slices.ContainsFunc(was.names, func(other string) bool { return strings.EqualFold(name, other) }):
			now.Set(name, v)
			added = true
		case known.Is(TypeObject) && next.Is(TypeObject):
			added = keep(v, known, next) || added
		}
	}
	return added
}
