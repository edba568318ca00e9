package doc

import (
	"strconv"
)

// NewObject returns an empty object.
func NewObject() *Node { return &Node{kind: TypeObject} }

// NewArray returns an array of items.
func NewArray(items ...*Node) *Node { return &Node{kind: TypeArray, nodes: items} }

// NewString returns a string.
func NewString(s string) *Node { return &Node{kind: TypeString, text: AppendString(nil, s)} }

// NewStrings returns an array of strings.
func NewStrings(list []string) *Node {
	n := NewArray()
	for _, s := range list {
		n.Append(NewString(s))
	}
	return n
}

// NewBool returns a boolean.
func NewBool(b bool) *Node { return &Node{kind: TypeBool, text: strconv.AppendBool(nil, b)} }

// NewInt returns a whole number.
func NewInt(i int64) *Node { return &Node{kind: TypeNumber, text: strconv.AppendInt(nil, i, 10)} }

// NewFloat returns a finite number.
func NewFloat(f float64) *Node {
	return &Node{kind: TypeNumber, text: strconv.AppendFloat(nil, f, 'f', -1, 64)}
}

// NewNull returns null.
func NewNull() *Node { return &Node{kind: TypeNull, text: []byte("null")} }
