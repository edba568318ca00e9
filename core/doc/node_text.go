package doc

import (
	"bytes"
	"io"
	"slices"
)

// Equal reports whether two values are equal: the order of members does not matter, and
// numbers are compared by value.
func (n *Node) Equal(m *Node) bool {
	if n.Type() != m.Type() || n.Len() != m.Len() {
		return false
	}
	switch n.Type() {
	case TypeArray:
		return slices.EqualFunc(n.nodes, m.nodes, (*Node).Equal)
	case TypeObject:
		for i, name := range n.names {
			if v := m.Get(name); v == nil || !n.nodes[i].Equal(v) {
				return false
			}
		}
		return true
	case TypeString:
		return bytes.Equal(n.text, m.text) || n.Text() == m.Text()
	case TypeNumber:
		return bytes.Equal(n.text, m.text) || canonicalNumber(n.text) == canonicalNumber(m.text)
	case Absent:
		return true
	}
	return bytes.Equal(n.text, m.text)
}

// AppendJSON implements Appender; a nil Node is written as null.
func (n *Node) AppendJSON(b []byte) ([]byte, error) {
	if b == nil {
		b = make([]byte, 0, n.Size())
	}
	return n.write(b, nil), nil
}

// WriteJSON writes the text of the node in pieces, so that it is never completely in memory.
func (n *Node) WriteJSON(w io.Writer) (err error) {
	flush := func(b []byte) []byte {
		if err == nil {
			_, err = w.Write(b)
		}
		return b[:0]
	}
	flush(n.write(make([]byte, 0, 2*piece), flush))
	return err
}

// piece is the approximate number of bytes that WriteJSON writes at once.
const piece = 4 << 10

// write appends the text of the node. flush, if not nil, gets each piece and returns the
// buffer for the next one.
func (n *Node) write(b []byte, flush func([]byte) []byte) []byte {
	switch n.Type() {
	case Absent:
		return append(b, "null"...)
	case TypeObject, TypeArray:
	default:
		if flush != nil && len(n.text) > piece {
			b = flush(b)
			flush(n.text)
			return b
		}
		return append(b, n.text...)
	}
	open, end := byte('{'), byte('}')
	if n.kind == TypeArray {
		open, end = '[', ']'
	}
	b = append(b, open)
	for i, v := range n.nodes {
		if i > 0 {
			b = append(b, ',')
		}
		if n.kind == TypeObject {
			if literal, ok := n.spelt[n.names[i]]; ok {
				b = append(b, literal...)
			} else {
				b = AppendString(b, n.names[i])
			}
			b = append(b, ':')
		}
		if flush != nil && len(b) >= piece {
			b = flush(b)
		}
		b = v.write(b, flush)
	}
	return append(b, end)
}

// Size returns the length of the node's text, except for escapes in names. It is used to
// allocate a buffer at once, because a growing one takes twice the memory.
func (n *Node) Size() int {
	switch n.Type() {
	case Absent:
		return len("null")
	case TypeObject, TypeArray:
	default:
		return len(n.text)
	}
	size := 1 + max(1, len(n.nodes)) // brackets and commas
	for i, v := range n.nodes {
		if size += v.Size(); n.kind == TypeObject {
			size += len(n.names[i]) + len(`"":`)
		}
	}
	return size
}

// Values returns the result of Count for the text of the node.
func (n *Node) Values() int { return 1 + n.marks() }

// marks returns the number of opening brackets and commas in the text of the node.
func (n *Node) marks() int {
	if !n.Is(TypeObject, TypeArray) {
		return 0
	}
	all := max(1, len(n.nodes))
	for _, v := range n.nodes {
		all += v.marks()
	}
	return all
}

// Deeper reports whether arrays and objects are nested deeper than levels.
func (n *Node) Deeper(levels int) bool {
	if !n.Is(TypeArray, TypeObject) {
		return false
	}
	return levels == 0 || slices.ContainsFunc(n.nodes, func(v *Node) bool { return v.Deeper(levels - 1) })
}

// JSON returns the text of the node.
func (n *Node) JSON() []byte {
	b, _ := n.AppendJSON(nil)
	return b
}

// MarshalJSON implements json.Marshaler.
func (n *Node) MarshalJSON() ([]byte, error) { return n.AppendJSON(nil) }

// UnmarshalJSON implements json.Unmarshaler.
func (n *Node) UnmarshalJSON(text []byte) error {
	v, err := ParseNode(bytes.Clone(text))
	if err == nil {
		*n = *v
	}
	return err
}
