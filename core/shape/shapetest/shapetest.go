// Package shapetest derives documents from a type that a decoder of the type refuses, or
// should refuse: each has one wrong value, or one misspelt name, at one place.
package shapetest

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/shape"
)

// samples are values of every JSON kind, and numbers at the limits.
var samples = []string{
	`"x"`, `"2026-01-02T03:04:05Z"`, `"5f0000000000000000000001"`, `1`, `-1`, `1.5`, `70000`, `1e3`, `1e400`, `18446744073709551616`, `true`, `[]`, `{}`,
}

// decoders decode a value as gateways do, by the description of its type.
var decoders = map[string]func(string) error{
	shape.String.String():     into[string],
	shape.Bool.String():       into[bool],
	shape.Int.String():        into[int64],
	shape.UintOf(64).String(): into[uint64],
	shape.UintOf(16).String(): into[uint16],
	shape.Float.String():      into[float64],
	shape.Any.String():        into[any],
	shape.Raw.String():        into[json.RawMessage],
	shape.Time.String():       into[time.Time],
	shape.Duration.String():   into[string],
	shape.ObjectID.String():   objectID,
	"a list":                  into[[]json.RawMessage],
	"an object":               into[map[string]json.RawMessage],
}

func into[T any](text string) error { return json.Unmarshal([]byte(text), new(T)) }

func objectID(text string) error {
	id, err := hex.DecodeString(strings.Trim(text, `"`))
	if err == nil && text[0] != '"' || len(id) != 12 && len(id) != 0 {
		err = errors.New("no database ID")
	}
	return err
}

// Case is a document with one wrong value or name.
type Case struct {
	Text  string
	Path  string // of the value, as problems name it
	Place shape.Place
}

// Wrong yields, for each place in documents of a type, documents with one value at that place
// that cannot be decoded.
func Wrong(t shape.Type) iter.Seq[Case] { return values(t, false) }

// Right yields the same as Wrong, but with values that can be decoded.
func Right(t shape.Type) iter.Seq[Case] { return values(t, true) }

func values(t shape.Type, right bool) iter.Seq[Case] {
	return each(t, func(at shape.Place, of shape.Type, put func(shape.Place, string)) {
		for _, sample := range samples {
			if decodes(of, sample) == right {
				put(at, sample)
			}
		}
	})
}

// decodes reports whether a value can be decoded as a type, or as one of its alternatives. It
// does not look into lists and objects.
func decodes(of shape.Type, sample string) bool {
	some := of.Alternatives()
	if some == nil {
		return decoders[of.String()](sample) == nil
	}
	return slices.ContainsFunc(some, func(t shape.Type) bool { return decodes(t, sample) })
}

// Misspelt yields, for each known member in documents of a type, documents that have the
// member in another spelling that gateways accept for it.
func Misspelt(t shape.Type) iter.Seq[Case] {
	return each(t, func(at shape.Place, of shape.Type, put func(shape.Place, string)) {
		for _, name := range of.Known() {
			for _, other := range Spellings(name) {
				put(append(at[:len(at):len(at)], other), "null")
			}
		}
	})
}

// Spellings returns other spellings of a name that encoding/json takes for the name: with
// capitals, and with letters beyond ASCII that have the same capitals.
func Spellings(name string) (out []string) {
	for _, other := range []string{
		strings.ToUpper(name[:1]) + name[1:], strings.ToLower(name[:1]) + name[1:], strings.ToUpper(name), strings.ToLower(name),
		strings.Replace(name, "s", "\u017f", 1), strings.Replace(name, "k", "\u212a", 1),
	} {
		if other != name {
			out = append(out, other)
		}
	}
	return out
}

func each(t shape.Type, visit func(at shape.Place, of shape.Type, put func(shape.Place, string))) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		more := true
		t.Walk(func(at shape.Place, of shape.Type) {
			if more {
				visit(at, of, func(at shape.Place, value string) { more = more && yield(document(at, value)) })
			}
		})
	}
}

// document puts a value at a place.
func document(at shape.Place, value string) Case {
	c := Case{Text: value, Place: at}
	for i := len(at) - 1; i >= 0; i-- {
		switch name, _ := json.Marshal(named(at[i])); at[i] {
		case shape.Item:
			c.Text = "[" + c.Text + "]"
			c.Path = "[0]." + c.Path
		default:
			c.Text = "{" + string(name) + ":" + c.Text + "}"
			c.Path = named(at[i]) + "." + c.Path
		}
	}
	c.Path = strings.TrimSuffix(strings.ReplaceAll(c.Path, ".[", "["), ".")
	return c
}

// named returns a step as a name; AnyName becomes a sample name.
func named(step string) string {
	if step == shape.AnyName {
		return "any name"
	}
	return step
}
