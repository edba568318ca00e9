package doc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/big"
	"slices"
	"strconv"
)

// Type is what a Node is.
type Type uint8

// The types of a Node. A nil Node is Absent.
const (
	Absent Type = iota
	TypeNull
	TypeBool
	TypeNumber
	TypeString
	TypeArray
	TypeObject
)

// String names the type as JSON Schema does.
func (t Type) String() string {
	return [...]string{"absent", "null", "boolean", "number", "string", "array", "object"}[t]
}

// Node is a JSON value that can be changed in place: members keep their order,
// numbers and strings the spelling they came with. Readers accept a nil Node,
// which is Absent, so that a path can be followed without asking at each step.
// Several goroutines may read a Node that nobody changes.
type Node struct {
	kind  Type
	text  []byte // of a scalar, as written
	names []string
	nodes []*Node
	spelt map[string][]byte // member names that came in another spelling than ours, as written
	index map[string]int    // of an object with many members
}

// ParseNode reads a JSON text. Of members with the same name the last one wins.
// The text is kept and must not be changed afterwards.
func ParseNode(text []byte) (*Node, error) {
	if err := Check(text, 0); err != nil {
		return nil, err
	}
	n, _, err := parse(text, space(text, 0))
	return n, err
}

// parse reads the value at i of a text that is known to be valid.
func parse(text []byte, i int) (*Node, int, error) {
	switch text[i] {
	case '{':
		return parseObject(text, i)
	case '[':
		n := &Node{kind: TypeArray}
		for i = space(text, i+1); text[i] != ']'; {
			v, end, err := parse(text, i)
			if err != nil {
				return nil, 0, err
			}
			n.nodes = append(n.nodes, v)
			if i = space(text, end); text[i] == ',' {
				i = space(text, i+1)
			}
		}
		return n, i + 1, nil
	}
	end := valueEnd(text, i)
	return &Node{kind: typeOf(text[i]), text: text[i:end:end]}, end, nil
}

func parseObject(text []byte, i int) (*Node, int, error) {
	n := &Node{kind: TypeObject}
	for i = space(text, i+1); text[i] != '}'; {
		end := stringEnd(text, i)
		name, err := Unquote(text[i:end])
		if err != nil {
			return nil, 0, fmt.Errorf("%w: %s", ErrSyntax, err.Error())
		}
		n.spell(name, text[i:end:end])
		v, end, err := parse(text, space(text, space(text, end)+1))
		if err != nil {
			return nil, 0, err
		}
		n.Set(name, v)
		if i = space(text, end); text[i] == ',' {
			i = space(text, i+1)
		}
	}
	return n, i + 1, nil
}

// spell remembers how a name was written if we would write it otherwise.
func (n *Node) spell(name string, literal []byte) {
	if bytes.IndexByte(literal, '\\') < 0 || bytes.Equal(AppendString(nil, name), literal) {
		return
	}
	if n.spelt == nil {
		n.spelt = map[string][]byte{}
	}
	n.spelt[name] = literal
}

func typeOf(first byte) Type {
	switch first {
	case '"':
		return TypeString
	case 't', 'f':
		return TypeBool
	case 'n':
		return TypeNull
	}
	return TypeNumber
}

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

// NewNode returns any value that encoding/json can write.
func NewNode(v any) (*Node, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return ParseNode(text)
}

// Type returns what the node is.
func (n *Node) Type() Type {
	if n == nil {
		return Absent
	}
	return n.kind
}

// Is reports whether the node has one of the types.
func (n *Node) Is(types ...Type) bool { return slices.Contains(types, n.Type()) }

// Get follows member names and returns what is there, or nil.
func (n *Node) Get(path ...string) *Node {
	for _, name := range path {
		i := n.find(name)
		if i < 0 {
			return nil
		}
		n = n.nodes[i]
	}
	return n
}

// indexMembers is the size from which an object keeps an index of its members.
const indexMembers = 16

func (n *Node) find(name string) int {
	if n.Type() != TypeObject {
		return -1
	}
	if n.index == nil {
		return slices.Index(n.names, name)
	}
	if i, ok := n.index[name]; ok {
		return i
	}
	return -1
}

// Text returns the value of a string, and "" of anything else.
func (n *Node) Text() string {
	if n.Type() != TypeString {
		return ""
	}
	s, _ := Unquote(n.text)
	return s
}

// True reports whether the node is the literal true.
func (n *Node) True() bool { return n.Type() == TypeBool && n.text[0] == 't' }

// Float returns the value of a number, and 0 of anything else.
func (n *Node) Float() float64 {
	if n.Type() != TypeNumber {
		return 0
	}
	f, _ := strconv.ParseFloat(string(n.text), 64)
	return f
}

// Int returns the value of a number without its fraction, and 0 of anything else.
func (n *Node) Int() int64 {
	if n.Type() != TypeNumber {
		return 0
	}
	if i, err := strconv.ParseInt(string(n.text), 10, 64); err == nil {
		return i
	}
	return int64(n.Float())
}

// Len returns the number of members or items.
func (n *Node) Len() int {
	if n == nil {
		return 0
	}
	return len(n.nodes)
}

// Members yields the members of an object in order. The object must not gain or
// lose members meanwhile.
func (n *Node) Members() iter.Seq2[string, *Node] {
	return func(yield func(string, *Node) bool) {
		if n.Type() != TypeObject {
			return
		}
		for i, name := range n.names {
			if !yield(name, n.nodes[i]) {
				return
			}
		}
	}
}

// Names returns the member names of an object in order.
func (n *Node) Names() []string {
	if n == nil {
		return nil
	}
	return slices.Clone(n.names)
}

// Items returns the items of an array; of anything else, none.
func (n *Node) Items() []*Node {
	if n.Type() != TypeArray {
		return nil
	}
	return slices.Clone(n.nodes)
}

// Texts returns the strings among the items of an array.
func (n *Node) Texts() []string {
	var out []string
	for _, v := range n.Items() {
		if v.Is(TypeString) {
			out = append(out, v.Text())
		}
	}
	return out
}

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

// reindex makes the index of an object that is large enough for one. Only what
// changes an object does so: readers may share one.
func (n *Node) reindex() {
	if n.index = nil; len(n.names) < indexMembers {
		return
	}
	n.index = make(map[string]int, len(n.names))
	for i, name := range n.names {
		n.index[name] = i
	}
}

// Put sets a member deep down; what is missing on the way, or is no object, is
// made one.
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

// Delete removes a member, deep down if the path is long, and reports whether it
// was there.
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
