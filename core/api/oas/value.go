package oas

import (
	"encoding/hex"
	"math"
	"strconv"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// read returns a copy of n as a value of a kind. An absent value or one of another type
// becomes the zero value, so that the result always has the right type. Numbers keep their
// spelling.
func read(n *doc.Node, k kind) *doc.Node {
	switch k {
	case flag:
		return doc.NewBool(n.True())
	case whole:
		return readWhole(n)
	case natural:
		if n = readWhole(n); n.Int() <= 0 { // also -0, which is not unsigned
			return doc.NewInt(0)
		}
		return n
	case number:
		if f := n.Float(); f == 0 || math.IsInf(f, 0) {
			return doc.NewInt(0)
		}
		return n
	case duration:
		return doc.NewString(FormatDuration(ParseDuration(n.Text())))
	case texts, wholes:
		return readList(n, k)
	case list:
		return orNull(n, doc.TypeArray)
	case textMap:
		if !n.Is(doc.TypeObject) {
			return doc.NewNull()
		}
		out := doc.NewObject()
		for name, v := range n.Members() {
			if v.Is(doc.TypeString) {
				out.Set(name, v)
			}
		}
		return out
	case anyMap:
		return orNull(n, doc.TypeObject)
	case hexID:
		if id, err := hex.DecodeString(n.Text()); err != nil || len(id) != 12 {
			return doc.NewString("")
		}
	}
	return doc.NewString(n.Text())
}

// readWhole returns a whole number that fits 64 bits, without its fraction.
func readWhole(n *doc.Node) *doc.Node {
	if !n.Is(doc.TypeNumber) {
		return doc.NewInt(0)
	}
	if _, err := strconv.ParseInt(string(n.JSON()), 10, 64); err == nil {
		return n
	}
	return doc.NewInt(cut(n.Float()))
}

// cut drops the fraction; a number beyond 64 bits becomes the nearest that fits.
func cut(f float64) int64 {
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

// readList keeps the items of the right type; null stays different from an empty list.
func readList(n *doc.Node, k kind) *doc.Node {
	if !n.Is(doc.TypeArray) {
		return doc.NewNull()
	}
	if k == texts {
		return doc.NewStrings(n.Texts())
	}
	out := doc.NewArray()
	for _, v := range n.Items() {
		if v.Is(doc.TypeNumber) {
			out.Append(readWhole(v))
		}
	}
	return out
}

// orNull returns a copy, or null if n has another type. Free-form values may hold numbers that
// a decoder refuses; those become 0.
func orNull(n *doc.Node, t doc.Type) *doc.Node {
	if !n.Is(t) {
		return doc.NewNull()
	}
	c := n.Clone()
	limitNumbers(c)
	return c
}

// limitNumbers replaces the numbers within n that a 64-bit float cannot hold.
func limitNumbers(n *doc.Node) {
	items := n.Items()
	for i, v := range items {
		if math.IsInf(v.Float(), 0) {
			items[i] = doc.NewInt(0)
			n.SetItems(items)
		}
		limitNumbers(v)
	}
	for _, name := range n.Names() {
		v := n.Get(name)
		if math.IsInf(v.Float(), 0) {
			n.Set(name, doc.NewInt(0))
		}
		limitNumbers(v)
	}
}

// isEmpty reports whether a value counts as empty (docs/wire/extension.md#absent-and-empty).
func isEmpty(n *doc.Node, k kind) bool {
	switch n.Type() {
	case doc.TypeBool:
		return !n.True()
	case doc.TypeNumber:
		return n.Float() == 0
	case doc.TypeString:
		return n.Text() == "" || k == duration && ParseDuration(n.Text()) == 0
	}
	return n.Len() == 0
}

// assign sets a nested member. An equal value stays, with its spelling and its place.
func assign(n, v *doc.Node, path ...string) {
	if old := n.Get(path...); old == nil || !old.Equal(v) {
		n.Put(v, path...)
	}
}

// assignOrDrop is assign for members that are left out when empty.
func assignOrDrop(n, v *doc.Node, path ...string) {
	if isEmpty(v, text) {
		n.Delete(path...)
		return
	}
	assign(n, v, path...)
}
