package oas

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Broken returns the places in an extension that hold a number which gateways could not
// read as the whole number of 64 bits that belongs there. The schema lets some fractions
// pass, and numbers of any size.
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
			if !counts(item) {
				report(fmt.Sprintf("%s.%d", at, i))
			}
		}
	case (b.typ.kind() == whole || b.typ.kind() == natural) && !counts(n):
		report(at)
	}
}

// counts reports whether a number is whole, in whatever spelling, and not too large. Anything
// else is of another type, which is not asked here.
func counts(n *doc.Node) bool {
	if !n.Is(doc.TypeNumber) {
		return true
	}
	if _, err := strconv.ParseInt(string(n.JSON()), 10, 64); err == nil {
		return true
	}
	f := n.Float()
	return f == math.Trunc(f) && math.Abs(f) < 1<<63
}
