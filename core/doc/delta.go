package doc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Delta says how one text became another, and how to get back: the places
// where they differ, with both readings. An empty Delta means equal texts.
type Delta []Hunk

// Hunk is one place of a Delta: at byte offset At of the old text, Old was
// replaced by New. Hunks come in order and do not overlap. Treat the bytes as
// read-only: long ones belong to the texts.
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

// UnmarshalJSON reads [at, old, new]. It decodes the texts itself: encoding/json would
// make three copies of a long one.
func (h *Hunk) UnmarshalJSON(text []byte) error {
	n, err := ParseNode(text)
	if err != nil {
		return err
	}
	return h.read(n, false)
}

// AdoptDelta reads a Delta out of a text that nothing else needs: the texts of hunks are
// parts of it, so that long ones are in memory once.
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

// read reads [at, old, new] out of a text that is the hunk's own, or not.
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
			*side = bytes.Clone(*side) // it is a part of the caller's text
		}
		*side = slices.Clip(*side)
	}
	return nil
}

// ErrMismatch means that a Delta was applied to a text that it does not belong to.
var ErrMismatch = errors.New("doc: delta does not fit the text")

// Diff returns the delta from one UTF-8 text to another. It costs about as much
// as comparing the two. It looks for the next place where they agree: nearby
// first, then for one long insertion or removal; failing that, the rest is one
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

// part returns a part of a text: the text's own bytes when they are most of it, which
// takes no more memory than a copy. Of less a copy, that does not keep all the text.
func part(text []byte, from, to int) []byte {
	if n := to - from; n > len(text)-n {
		return text[from:to:to]
	}
	return bytes.Clone(text[from:to])
}

const (
	anchor = 64   // bytes that must agree before two texts count as in step again: longer than one entry of a repetitive map
	window = 4096 // how far to look for them on either side
	// How many bytes may be looked at, about, until the rest counts as one difference:
	// of texts made for it each place costs a walk through all that follows.
	slack  = 64 << 20
	effort = 16 // for each byte of the texts
)

// resync returns how much of a and of b to skip so that they agree again, and takes
// what it looked at from left.
func resync(a, b []byte, left *int) (skipA, skipB int) {
	for t := 0; t <= window && t+anchor <= len(a); t++ {
		*left -= min(len(b), window)
		mark := a[t : t+anchor]
		if k := bytes.Index(b[:min(len(b), window+anchor)], mark); k >= 0 {
			back := commonSuffix(a[:t], b[:k])
			return cut(a, t-back), cut(b, cut(a, t-back)-(t-back)+k-back)
		}
		if t >= 64 { // every sixteenth offset will do: most differences are short
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

// far returns where in text the beginning of other stands, or -1.
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

// Apply returns what the old text became.
func (d Delta) Apply(old []byte) ([]byte, error) {
	return d.replay(old, func(h Hunk) ([]byte, []byte) { return h.Old, h.New }, 0)
}

// Revert returns what the new text was.
func (d Delta) Revert(new []byte) ([]byte, error) {
	return d.replay(new, func(h Hunk) ([]byte, []byte) { return h.New, h.Old }, 1)
}

// replay rewrites text hunk by hunk. Offsets count in the old text; when the
// text given is the new one, they shift by what earlier hunks added.
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
