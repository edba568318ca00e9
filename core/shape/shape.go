// Package shape describes the types that a gateway decodes JSON into, as data, and finds the
// places at which a document would make that decoder fail. Gateways decode with Go's
// encoding/json, and one value of the wrong type makes a whole feed invalid. So the rules here
// are those of that package: null is the zero value, unknown members are ignored. One rule is
// stricter: that package takes a name in another letter case for a known member, which rules
// over documents do not see. Such a name is a problem here.
package shape

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	kindString kind = iota
	kindBool
	kindInt
	kindUint
	kindFloat
	kindAny
	kindRaw
	kindTime
	kindDuration
	kindObjectID
	kindList
	kindMap
	kindObject
	kindRef
	kindEither
)

// Type is what a decoder accepts. Types are immutable and may be shared.
type Type struct {
	kind     kind
	bits     int // of numbers
	optional bool
	elem     *Type  // of lists and maps, and of the free members of an object
	either   []Type // the alternative types of a value
	free     string // members with this prefix may be anything; "": there are none
	linked   bool   // an object with a reference is only the reference
	members  []member
	exact    map[string]int // members by name
	folded   map[string]int // and by name without case
}

type member struct {
	name    string
	of      Type
	omitted bool
}

// The types of single values.
var (
	String   = Type{kind: kindString}
	Bool     = Type{kind: kindBool}
	Int      = Type{kind: kindInt, bits: 64}
	Float    = Type{kind: kindFloat, bits: 64}
	Any      = Type{kind: kindAny}      // any JSON, whose numbers a 64-bit float can hold
	Raw      = Type{kind: kindRaw}      // any JSON, which is not checked
	Time     = Type{kind: kindTime}     // RFC 3339 text
	Duration = Type{kind: kindDuration} // "1.5s"; the only type that refuses null (docs/wire/classic-definition.md#types)
	ObjectID = Type{kind: kindObjectID} // 24 hexadecimal digits, or empty text
)

// IntOf is a whole number of 8, 16, 32 or 64 bits with a sign.
func IntOf(bits int) Type { return Type{kind: kindInt, bits: bits} }

// UintOf is a whole number of 8, 16, 32 or 64 bits without a sign.
func UintOf(bits int) Type { return Type{kind: kindUint, bits: bits} }

// List is a list of elements of one type.
func List(elem Type) Type { return Type{kind: kindList, elem: &elem} }

// Map is an object with any member names and values of one type.
func Map(elem Type) Type { return Type{kind: kindMap, elem: &elem} }

// Open is an object with these members, and any other members of the type rest.
func Open(rest Type, groups ...Group) Type {
	t := Object(groups...)
	t.elem = &rest
	return t
}

// Ref is the type in a variable at the time when a document is checked. It serves types that
// contain themselves.
func Ref(to *Type) Type { return Type{kind: kindRef, elem: to} }

// Define sets a variable that types refer to. It returns the type, so that it can be used in a
// variable declaration.
func Define(name *Type, t Type) Type {
	*name = t
	return t
}

// Either is a value of one of several types, which have different kinds of JSON.
func Either(types ...Type) Type { return Type{kind: kindEither, either: types} }

// Beside is an object in which members with a prefix may be anything: extensions, which
// decoders keep unchanged.
func Beside(prefix string, t Type) Type {
	t.free = prefix
	return t
}

// Linked is an object, or a reference to one: if an object has a text in $ref, its other
// members are not decoded.
func Linked(t Type) Type {
	t.linked = true
	return t
}

// Optional is a t that may be absent: its zero value is null.
func Optional(t Type) Type {
	t.optional = true
	return t
}

// Group is a list of members of objects.
type Group struct{ members []member }

// Members makes members of one type from names, which are separated by blanks. A member with a
// ? after its name is left out of the zero form.
func Members(names string, of Type) Group {
	var g Group
	for spelled := range strings.FieldsSeq(names) {
		name, omitted := strings.CutSuffix(spelled, "?")
		g.members = append(g.members, member{name, of, omitted})
	}
	return g
}

// Join combines several groups.
func Join(groups ...Group) Group {
	var all Group
	for _, g := range groups {
		all.members = append(all.members, g.members...)
	}
	return all
}

// Object is an object with these members. Any others are ignored.
func Object(groups ...Group) Type {
	t := Type{kind: kindObject, members: Join(groups...).members, exact: map[string]int{}, folded: map[string]int{}}
	for i, m := range t.members {
		t.exact[m.name] = i
		if _, taken := t.folded[fold(m.name)]; !taken {
			t.folded[fold(m.name)] = i
		}
	}
	return t
}

// fold returns the same text for names that encoding/json treats as equal. Letters beyond
// ASCII count: the Kelvin sign is a k, the long s an s.
func fold(name string) string {
	out := make([]byte, 0, len(name))
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z':
			r -= 'a' - 'A'
		case r >= utf8.RuneSelf:
			next := unicode.SimpleFold(r) // the next of the letters that differ only in case
			for next > r {
				r, next = next, unicode.SimpleFold(next)
			}
			r = next
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// String describes what the type accepts, for people.
func (t Type) String() string {
	switch t.kind {
	case kindString:
		return "a string"
	case kindBool:
		return "true or false"
	case kindInt:
		if t.bits == 64 {
			return "a whole number"
		}
		limit := uint64(1) << (t.bits - 1)
		return fmt.Sprintf("a whole number from -%d to %d", limit, limit-1)
	case kindUint:
		if t.bits == 64 {
			return "a whole number of at least 0"
		}
		return fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-t.bits))
	case kindFloat:
		return "a number"
	case kindRaw:
		return "any JSON"
	case kindTime:
		return "a time such as 2026-01-02T03:04:05Z"
	case kindDuration:
		return `a duration such as "1.5s"`
	case kindObjectID:
		return "24 hexadecimal digits or empty text"
	case kindList:
		return "a list"
	case kindMap, kindObject:
		return "an object"
	case kindRef:
		return t.elem.String()
	case kindEither:
		words := make([]string, len(t.either))
		for i := range t.either {
			words[i] = t.either[i].String()
		}
		return strings.Join(words, ", or ")
	}
	return "a value whose numbers are below 1.8e308"
}
