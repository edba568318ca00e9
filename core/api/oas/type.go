package oas

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/shape"
)

// typ is the type of a member: one of words, "=a|b" (one of these texts), the name of an
// object or enumeration of definitions, [T] for a list, {T} for a map with any names. A list
// takes marks: ? (or null), + (not empty), * (without repetition). A final "!" says that the
// schema requires the member. The types for gateways, for the conversion and for the schema
// are all derived from it.
type typ string

// kind is the type as which a conversion reads a member.
type kind uint8

const (
	text kind = iota
	flag
	whole
	natural // a whole number of at least 0
	number
	duration
	hexID
	texts
	wholes
	list
	textMap
	anyMap
)

// word is a type with its own name.
type word struct {
	name    typ
	kind    kind
	decoded shape.Type // by gateways
}

// words are the basic types. Whole numbers have the type Float for gateways, which decode any
// number: only the conversion and the schema distinguish them.
var words = []word{
	{"string", text, shape.String},           // a text
	{"text", text, shape.String},             // a text that is not blank
	{"uri", text, shape.String},              // an address with a scheme
	{"uriref", text, shape.String},           // an address, or the rest of one
	{"domain", text, shape.String},           // a host name, which may have wildcards and a port
	{"hex", hexID, shape.String},             // 24 hexadecimal digits; any other text counts as none
	{"bool", flag, shape.Bool},               // true or false
	{"int", whole, shape.Float},              // a whole number
	{"port", whole, shape.Float},             // a whole number from 1 to 65535
	{"count", whole, shape.Float},            // a whole number of 0 or more
	{"uint", natural, shape.Float},           // a whole number of 0 or more; anything less counts as 0
	{"whole", whole, shape.Float},            // a number, of which the whole part counts
	{"number", number, shape.Float},          // a number
	{"share", number, shape.Float},           // a number from 0 to 1
	{"duration", duration, shape.String},     // a duration in hours to nanoseconds: `1m30s`
	{"lifetime", duration, shape.String},     // a duration in hours, minutes and seconds, longer than zero
	{"seconds", duration, shape.String},      // a duration in hours, minutes and seconds
	{"timeout", duration, shape.String},      // a duration in minutes, seconds and milliseconds, which may have fractions
	{"span", duration, shape.String},         // a duration; any other text counts as zero
	{"any", anyMap, shape.Any},               // anything
	{"object", anyMap, shape.Map(shape.Any)}, // an object with any members: data of plugins
}

func (t typ) word() word {
	if i := slices.IndexFunc(words, func(w word) bool { return w.name == t }); i >= 0 {
		return words[i]
	}
	if t.named() && enumerations[t] == "" {
		return word{kind: anyMap, decoded: shape.Map(shape.Any)}
	}
	return word{kind: text, decoded: shape.String}
}

// required reports whether the schema requires the member, and returns its type without the
// mark.
func (t typ) required() (bare typ, is bool) {
	name, is := strings.CutSuffix(string(t), "!")
	return typ(name), is
}

// item returns the type of the items of a list or map.
func (t typ) item() (item typ, ok bool) {
	switch end := strings.LastIndexAny(string(t), "]}"); {
	case end < 0, t[0] != '[' && t[0] != '{':
		return "", false
	default:
		return t[1:end], true
	}
}

// named reports whether the type is a definition.
func (t typ) named() bool { return t != "" && t[0] >= 'A' && t[0] <= 'Z' }

func (t typ) kind() kind {
	t, _ = t.required()
	item, composed := t.item()
	switch {
	case !composed:
		return t.word().kind
	case t[0] == '{' && item.kind() == text:
		return textMap
	case t[0] == '{':
		return anyMap
	case item.kind() == text:
		return texts
	case item.kind() == whole:
		return wholes
	}
	return list
}

// gateway returns the type that gateways decode.
func (t typ) gateway() shape.Type {
	t, _ = t.required()
	item, composed := t.item()
	switch {
	case !composed:
		return t.word().decoded
	case t[0] == '{':
		return shape.Map(item.gateway())
	}
	return shape.List(item.gateway())
}
