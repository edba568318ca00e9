package doc

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"
)

// Equal reports whether two values are the same: members in any order, numbers
// by value.
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
		return n.Text() == m.Text()
	case TypeNumber:
		return sameNumber(n.text, m.text)
	case Absent:
		return true
	}
	return bytes.Equal(n.text, m.text)
}

// sameNumber compares by value. Spellings with a huge exponent count as the same
// number only when they are the same text.
func sameNumber(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if x, err := strconv.ParseFloat(string(a), 64); err != nil {
		return false
	} else if y, err := strconv.ParseFloat(string(b), 64); err != nil || x != y {
		return false
	}
	x, okX := new(big.Rat).SetString(string(a))
	y, okY := new(big.Rat).SetString(string(b))
	return okX && okY && x.Cmp(y) == 0
}

// AppendJSON implements Appender; a nil Node is written as null.
func (n *Node) AppendJSON(b []byte) ([]byte, error) {
	switch n.Type() {
	case Absent:
		return append(b, "null"...), nil
	case TypeObject, TypeArray:
	default:
		return append(b, n.text...), nil
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
			b = append(n.appendName(b, n.names[i]), ':')
		}
		b, _ = v.AppendJSON(b)
	}
	return append(b, end), nil
}

func (n *Node) appendName(b []byte, name string) []byte {
	if literal, ok := n.spelt[name]; ok {
		return append(b, literal...)
	}
	return AppendString(b, name)
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
