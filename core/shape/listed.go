package shape

import (
	"bytes"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// AppendListed appends a valid text with the lists that FillLists would add to its tree. It
// reads the text once and builds no tree: documents have megabytes, and there are many
// readers.
func (t Type) AppendListed(b, text []byte) []byte {
	l := lister{text: text, out: b}
	l.value(&t, len(text)-len(bytes.TrimLeft(text, " \t\r\n")))
	return append(l.out, text[l.copied:]...)
}

// lister copies a text and puts lists into it.
type lister struct {
	text, out []byte
	copied    int // how many bytes of text are in out
}

// insert copies the text up to index at, appends list, and goes on at index behind: list
// replaces the text between the two.
func (l *lister) insert(list string, at, behind int) {
	l.out = append(append(l.out, l.text[l.copied:at]...), list...)
	l.copied = behind
}

// at reports whether the byte c is at an index of the text.
func (l *lister) at(i int, c byte) bool { return i < len(l.text) && l.text[i] == c }

// value goes through the value of type t that begins at text[at], and returns the index of its
// end.
func (l *lister) value(t *Type, at int) (end int) {
	for t.kind == kindRef {
		t = t.elem
	}
	switch {
	case t.kind == kindList && l.at(at, '['):
		return doc.Inside(l.text, at, func(_ []byte, at int) int { return l.value(t.elem, at) })
	case t.kind == kindMap && l.at(at, '{'):
		return doc.Inside(l.text, at, func(_ []byte, at int) int { return l.member(t.elem, at) })
	case t.kind == kindObject && l.at(at, '{'):
		return l.object(t, at)
	}
	return doc.End(l.text, at)
}

// member is like value, for a member of an object: null as a list becomes an empty list.
func (l *lister) member(t *Type, at int) (end int) {
	if t.kind == kindList && l.at(at, 'n') {
		end = doc.End(l.text, at)
		l.insert("[]", at, end)
		return end
	}
	return l.value(t, at)
}

func (l *lister) object(t *Type, at int) (end int) {
	var room [160]bool // for most types: no allocation for each object
	there := append(room[:0], make([]bool, len(t.members))...)
	last := at + 1 // the index after the last member
	empty := true
	end = doc.Inside(l.text, at, func(name []byte, at int) int {
		empty = false
		if i, known := t.named(name); known {
			there[i] = true
			last = l.member(&t.members[i].of, at)
		} else {
			last = doc.End(l.text, at)
		}
		return last
	})
	for i, m := range t.members {
		if there[i] || m.of.kind != kindList || m.omitted {
			continue
		}
		if !empty {
			l.insert(",", last, last)
		}
		l.insert(`"`+m.name+`":[]`, last, last)
		empty = false
	}
	return end
}

// named finds the member with a name in its JSON spelling, with quotes.
func (t *Type) named(name []byte) (i int, known bool) {
	if len(name) >= 2 && bytes.IndexByte(name, '\\') < 0 { // as nearly all names are: no copy is needed
		i, known = t.exact[string(name[1:len(name)-1])]
		return i, known
	}
	text, err := doc.Unquote(name)
	if err == nil {
		i, known = t.exact[text]
	}
	return i, known
}
