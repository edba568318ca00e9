package doc

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"unsafe"
)

// Type is the JSON type of a Node.
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

// Node is a JSON value that can be changed in place. Members keep their order, and numbers and
// strings their spelling. Read methods accept a nil Node, which is Absent, so that a path can
// be followed without checks. Several goroutines may read a Node while none changes it.
type Node struct {
	kind  Type
	text  []byte // of a scalar, as written
	names []string
	nodes []*Node
	spelt map[string][]byte // member names with a spelling other than ours, as written
	index map[string]int    // of an object with many members
}

// ParseNode parses a JSON text. Of members with the same name the last one wins. The Node
// keeps the text, which must not be changed afterwards.
func ParseNode(text []byte) (*Node, error) {
	if err := Check(text, 0); err != nil {
		return nil, err
	}
	n, _, err := parse(text, space(text, 0))
	return n, err
}

// parse parses the value at i of a text that is known to be valid.
func parse(text []byte, i int) (*Node, int, error) {
	kind := TypeNumber
	switch text[i] {
	case '"':
		kind = TypeString
	case 't', 'f':
		kind = TypeBool
	case 'n':
		kind = TypeNull
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
	return &Node{kind: kind, text: text[i:end:end]}, end, nil
}

func parseObject(text []byte, i int) (*Node, int, error) {
	n := &Node{kind: TypeObject}
	for i = space(text, i+1); text[i] != '}'; {
		end := stringEnd(text, i)
		literal := text[i:end:end]
		unquoted, err := unquote(literal, false)
		if err != nil {
			return nil, 0, fmt.Errorf("%w: %s", ErrSyntax, err.Error())
		}
		var name string
		if len(literal) < longName {
			name = string(unquoted)
		} else {
			name = unsafe.String(unsafe.SliceData(unquoted), len(unquoted))
		}
		if bytes.IndexByte(literal, '\\') >= 0 && !bytes.Equal(AppendString(nil, name), literal) {
			if n.spelt == nil { // spellings of names that differ from ours
				n.spelt = map[string][]byte{}
			}
			n.spelt[name] = literal
		}
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

// longName is the length in bytes from which a name is a slice of the text, which must not
// change: otherwise a document of long names would be in memory twice. Shorter names are
// copied, so that a name does not keep the text in memory.
const longName = 64

// Type returns the type of the node.
func (n *Node) Type() Type {
	if n == nil {
		return Absent
	}
	return n.kind
}

// Is reports whether the node has one of the types.
func (n *Node) Is(types ...Type) bool { return slices.Contains(types, n.Type()) }

// Get follows member names and returns the value, or nil.
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

// indexMembers is the number of members from which an object has an index.
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

// Text returns the value of a string, and "" for other types.
func (n *Node) Text() string {
	if n.Type() != TypeString {
		return ""
	}
	s, _ := Unquote(n.text)
	return s
}

// True reports whether the node is the literal true.
func (n *Node) True() bool { return n.Type() == TypeBool && n.text[0] == 't' }

// Float returns the value of a number, and 0 for other types.
func (n *Node) Float() float64 {
	if n.Type() != TypeNumber {
		return 0
	}
	f, _ := strconv.ParseFloat(string(n.text), 64)
	return f
}

// Int returns the value of a number without its fraction, and 0 for other types.
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

// Items returns the items of an array; nil for other types.
func (n *Node) Items() []*Node {
	if n.Type() != TypeArray {
		return nil
	}
	return slices.Clone(n.nodes)
}

// Item returns an item of an array, or nil.
func (n *Node) Item(i int) *Node {
	if n.Type() != TypeArray || i < 0 || i >= len(n.nodes) {
		return nil
	}
	return n.nodes[i]
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
