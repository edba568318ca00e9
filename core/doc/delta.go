package doc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Delta is the difference between two texts, which can be applied and reverted: the places
// where they differ, with both texts. An empty Delta means equal texts.
type Delta []Hunk

// Hunk is one place of a Delta: at byte offset At of the old text, Old was replaced by New.
// Hunks are in order and do not overlap. Treat the bytes as read-only: long ones are slices of
// the texts.
type Hunk struct {
	At       int
	Old, New []byte
}

// AppendJSON implements Appender: a hunk is [at, old, new].
func (h Hunk) AppendJSON(b []byte) ([]byte, error) {
	b = append(strconv.AppendInt(append(b, '['), int64(h.At), 10), ',')
	b = append(AppendString(b, h.Old), ',')
	return append(AppendString(b, h.New), ']'), nil
}

// MarshalJSON implements json.Marshaler.
func (h Hunk) MarshalJSON() ([]byte, error) { return h.AppendJSON(nil) }

// UnmarshalJSON decodes [at, old, new]. It decodes the texts itself, because encoding/json
// would make three copies of a long one.
func (h *Hunk) UnmarshalJSON(text []byte) error {
	n, err := ParseNode(text)
	if err != nil {
		return err
	}
	return h.read(n, false)
}

// AdoptDelta decodes a Delta from a text that the caller gives up: the texts of hunks are
// slices of it, so that long ones are in memory only once.
func AdoptDelta(text []byte) (Delta, error) {
	n, err := ParseNode(text)
	if err != nil {
		return nil, err
	}
	if n.Type() != TypeArray {
		return nil, fmt.Errorf("%w: a delta is a list", ErrSyntax)
	}
	d := make(Delta, len(n.nodes))
	for i, hunk := range n.nodes {
		if err := d[i].read(hunk, true); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// read decodes [at, old, new]; owned says that the hunk may keep slices of the text.
func (h *Hunk) read(n *Node, owned bool) (err error) {
	if n.Type() != TypeArray || n.Len() != 3 || !n.nodes[0].Is(TypeNumber) || !n.nodes[1].Is(TypeString) || !n.nodes[2].Is(TypeString) {
		return fmt.Errorf("%w: a difference is a place and two texts", ErrSyntax)
	}
	h.At = int(n.nodes[0].Int())
	for i, side := range []*[]byte{&h.Old, &h.New} {
		literal := n.nodes[i+1].text
		escapes := bytes.IndexByte(literal, '\\') >= 0
		if *side, err = unquote(literal, owned); err != nil {
			return err
		}
		if !escapes && !owned {
			*side = bytes.Clone(*side) // it is a slice of the caller's text
		}
		*side = slices.Clip(*side)
	}
	return nil
}

// ErrMismatch means that a Delta does not fit the text to which it is applied.
var ErrMismatch = errors.New("doc: delta does not fit the text")

// Diff returns the delta from one UTF-8 text to another. It costs about as much as comparing
// the two. After a difference it searches for the next place where the texts agree: nearby
// first, then after one long insertion or removal. Without such a place, the rest is one
// difference.
func Diff(from, to []byte) Delta {
	var d Delta
	i, j := 0, 0
	left := slack + effort*(len(from)+len(to))
	for {
		n := commonPrefix(from[i:], to[j:])
		for n > 0 && i+n < len(from) && !utf8.RuneStart(from[i+n]) { // back to the start of a character
			n--
		}
		i, j = i+n, j+n
		if i == len(from) && j == len(to) {
			return d
		}
		a, b := len(from)-i, len(to)-j
		if left > 0 {
			a, b = resync(from[i:], to[j:], &left)
		}
		d = append(d, Hunk{At: i, Old: part(from, i, i+a), New: part(to, j, j+b)})
		i, j = i+a, j+b
	}
}

// part returns a part of a text. If the part is most of the text, it is a slice, which takes
// no more memory than a copy. A smaller part is a copy, so that it does not keep the whole
// text in memory.
func part(text []byte, from, to int) []byte {
	if n := to - from; n > len(text)-n {
		return text[from:to:to]
	}
	return bytes.Clone(text[from:to])
}

const (
	anchor = 64   // bytes that must agree before two texts count as synchronised again: longer than one entry of a repetitive map
	window = 4096 // search distance on either side
	// Approximate number of bytes that are compared before the rest counts as one difference: in
	// texts made for this purpose, each difference would cost a scan of the rest.
	slack  = 64 << 20
	effort = 16 // for each byte of the texts
)

// resync returns how many bytes of a and of b to skip so that they agree again, and subtracts
// its cost from left.
func resync(a, b []byte, left *int) (skipA, skipB int) {
	for t := 0; t <= window && t+anchor <= len(a); t++ {
		*left -= min(len(b), window)
		mark := a[t : t+anchor]
		if k := bytes.Index(b[:min(len(b), window+anchor)], mark); k >= 0 {
			back := commonSuffix(a[:t], b[:k])
			return cut(a, t-back), cut(b, cut(a, t-back)-(t-back)+k-back)
		}
		if t >= 64 { // every sixteenth offset suffices: most differences are short
			t += 15
		}
	}
	*left -= len(a) + len(b)
	if k := far(b, a); k > 0 { // a long insertion
		return 0, k
	}
	if t := far(a, b); t > 0 { // a long removal
		return t, 0
	}
	s := commonSuffix(a, b)
	for s > 0 && !utf8.RuneStart(a[len(a)-s]) {
		s--
	}
	return len(a) - s, len(b) - s
}

// far returns the index in text of the beginning of other, or -1.
func far(text, other []byte) int {
	if len(other) < anchor || !utf8.RuneStart(other[0]) {
		return -1
	}
	return bytes.Index(text, other[:anchor])
}

// cut moves an offset forward to the start of a character.
func cut(text []byte, i int) int {
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	return i
}

func commonPrefix(a, b []byte) int {
	n, m := 0, min(len(a), len(b))
	for n+256 <= m && bytes.Equal(a[n:n+256], b[n:n+256]) {
		n += 256
	}
	for n < m && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b []byte) int {
	n, m := 0, min(len(a), len(b))
	for n+256 <= m && bytes.Equal(a[len(a)-n-256:len(a)-n], b[len(b)-n-256:len(b)-n]) {
		n += 256
	}
	for n < m && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}

// Apply returns the new text for the old one.
func (d Delta) Apply(old []byte) ([]byte, error) {
	return d.replay(old, func(h Hunk) ([]byte, []byte) { return h.Old, h.New }, 0)
}

// Revert returns the old text for the new one.
func (d Delta) Revert(new []byte) ([]byte, error) {
	return d.replay(new, func(h Hunk) ([]byte, []byte) { return h.New, h.Old }, 1)
}

// replay rewrites text hunk by hunk. Offsets refer to the old text; if text is the new one,
// earlier hunks shift them.
func (d Delta) replay(text []byte, sides func(Hunk) (have, want []byte), shifting int) ([]byte, error) {
	size := len(text)
	for _, h := range d {
		have, want := sides(h)
		size += len(want) - len(have)
	}
	out := make([]byte, 0, max(size, 0))
	pos, shift := 0, 0
	for _, h := range d {
		have, want := sides(h)
		at := h.At + shift
		if at < pos || at+len(have) > len(text) || !bytes.Equal(text[at:at+len(have)], have) {
			return nil, ErrMismatch
		}
		out = append(append(out, text[pos:at]...), want...)
		pos = at + len(have)
		shift += shifting * (len(h.New) - len(h.Old))
	}
	return append(out, text[pos:]...), nil
}
