package shape

import (
	"math"
	"slices"
	"strconv"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Whole rewrites numbers without a fraction as whole numbers, in place, where the type needs
// whole numbers: 5.0 and 5e0 become 5. Clients that have only one number type send them so,
// and decoders parse whole numbers from their spelling. A number that no double holds exactly
// stays as it is.
func (t Type) Whole(n *doc.Node) { t.whole(n, false) }

// AllWhole is like Whole, but also where the type allows fractions: clients decode a rate as a
// whole number.
func (t Type) AllWhole(n *doc.Node) { t.whole(n, true) }

// whole returns the value that replaces n.
func (t *Type) whole(n *doc.Node, all bool) *doc.Node {
	switch t.kind {
	case kindRef:
		return t.elem.whole(n, all)
	case kindInt, kindUint, kindFloat:
		if i, ok := integer(n); ok && (all || t.kind != kindFloat) {
			return doc.NewInt(i)
		}
	case kindList:
		items := slices.Clone(n.Items())
		for i, v := range items {
			items[i] = t.elem.whole(v, all)
		}
		if n.Is(doc.TypeArray) {
			n.SetItems(items)
		}
	case kindMap, kindObject:
		for name, v := range n.Members() {
			if of, _ := t.of(name); of != nil {
				n.Set(name, of.whole(v, all))
			}
		}
	}
	return n
}

// exact is the bound below which a double holds every whole number exactly.
const exact = 1 << 53

// integer returns the value of a whole number that is written with a fraction or an exponent.
func integer(n *doc.Node) (int64, bool) {
	if !n.Is(doc.TypeNumber) {
		return 0, false
	}
	text := string(n.JSON())
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return 0, false // it is already written as a whole number
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) >= exact {
		return 0, false
	}
	i := int64(f)
	return i, n.Equal(doc.NewInt(i)) // compares all digits: a double hides a small fraction
}
