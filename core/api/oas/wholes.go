package oas

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Broken returns the places in an extension with a number that gateways could not decode as
// the 64-bit whole number that is expected there. The schema allows some fractions, and
// numbers of any size.
func Broken(extension *doc.Node) (places []string) {
	extensionTree.broken(extension, ExtensionKey, func(place string) { places = append(places, place) })
	return places
}

func (b *branch) broken(n *doc.Node, at string, report func(string)) {
	switch {
	case b.item != nil:
		for i, item := range n.Items() {
			b.item.broken(item, fmt.Sprintf("%s.%d", at, i), report)
		}
	case b.value != nil:
		for name, value := range n.Members() {
			b.value.broken(value, at+"."+name, report)
		}
	case b.members != nil:
		for name, value := range n.Members() {
			if next := b.members[name]; next != nil {
				next.broken(value, at+"."+name, report)
			}
		}
	case b.typ.kind() == wholes:
		for i, item := range n.Items() {
			if _, ok := spelled(item); !ok {
				report(fmt.Sprintf("%s.%d", at, i))
			}
		}
	case b.typ.kind() == whole, b.typ.kind() == natural:
		if _, ok := spelled(n); !ok {
			report(at)
		}
	}
}

// spelled returns a whole number in the form that decoders accept, 5 for 5.0 and 5e0, and
// reports whether this is possible. It compares the digits, because a double hides a small
// fraction. Values of other types are accepted, because other checks refuse them.
func spelled(n *doc.Node) (*doc.Node, bool) {
	if !n.Is(doc.TypeNumber) {
		return n, true
	}
	if _, err := strconv.ParseInt(string(n.JSON()), 10, 64); err == nil {
		return n, true
	}
	f := n.Float()
	if f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return n, false
	}
	if out := doc.NewInt(int64(f)); n.Equal(out) {
		return out, true
	}
	return n, false
}

// respell changes the whole numbers of an extension to that form, in place, and returns the
// replacement of a value.
func (b *branch) respell(n *doc.Node) *doc.Node {
	switch kind := b.typ.kind(); {
	case b.item != nil, kind == wholes:
		items := slices.Clone(n.Items())
		for i, item := range items {
			if b.item != nil {
				items[i] = b.item.respell(item)
			} else {
				items[i], _ = spelled(item)
			}
		}
		if n.Is(doc.TypeArray) {
			n.SetItems(items)
		}
	case b.value != nil, b.members != nil:
		for name, value := range n.Members() {
			if next := cmp.Or(b.value, b.members[name]); next != nil {
				n.Set(name, next.respell(value))
			}
		}
	case kind == whole, kind == natural:
		n, _ = spelled(n)
	}
	return n
}
