package contract_test

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// odd are texts that decoders and stores elsewhere have failed on.
var odd = []string{"", " ", "\x00", "ü", "𝔘", "\u202e", "a\nb", "'", "\"", "\\", "%00", "%2f", "../..", "$ref", "__proto__", "a.b", "$a", "{id}", "null", "-1", "NaN", "\ufeff", "\ufffd", "/", "//",
	strings.Repeat("x", 5000), "https://[::1", "javascript:alert(1)", "500ms", "-5s", "1e9h", "(", "(?P<a>", "[a-", "000000000000000000000000"}

// oddJSON are encoded values of every type.
var oddJSON = []string{"null", "true", "false", "0", "-0", "-1", "7", "1.5", "1e400", "-1e-400", "9223372036854775808", "123456789012345678901234567890", "1E+2", `""`, `"x"`, `"\ud800"`, `"\u0000"`, "[]", "{}", "[null]", "[[]]",
	`[{}]`, `{"a":1}`, `{"":""}`, `{"$ref":"#"}`, `{"$ref":"#/components/schemas/Order"}`, `["a","a"]`, `{"a":{"b":{"c":[1,2,{"d":null}]}}}`}

// mutate makes a number of changes in a document, at any depth.
func mutate(n *doc.Node, rng *rand.Rand, times int) *doc.Node {
	n = n.Clone()
	for range times {
		at := containers(n)
		if len(at) == 0 {
			return value(rng)
		}
		change(at[rng.IntN(len(at))], rng)
	}
	return n
}

// containers returns the non-empty objects and arrays in a document.
func containers(n *doc.Node) (out []*doc.Node) {
	if n.Len() == 0 {
		return nil
	}
	out = append(out, n)
	for _, v := range n.Members() {
		out = append(out, containers(v)...)
	}
	for _, v := range n.Items() {
		out = append(out, containers(v)...)
	}
	return out
}

func value(rng *rand.Rand) *doc.Node {
	if rng.IntN(3) == 0 {
		return doc.NewString(odd[rng.IntN(len(odd))])
	}
	n, err := doc.ParseNode([]byte(oddJSON[rng.IntN(len(oddJSON))]))
	if err != nil {
		return doc.NewNull()
	}
	return n
}

// change makes one change to an object or an array.
func change(n *doc.Node, rng *rand.Rand) {
	if n.Is(doc.TypeArray) {
		changeItems(n, rng)
		return
	}
	names := n.Names()
	name, another := names[rng.IntN(len(names))], names[rng.IntN(len(names))]
	switch rng.IntN(7) {
	case 0:
		n.Delete(name)
	case 1:
		n.Set(odd[rng.IntN(len(odd))], n.Get(name).Clone())
	case 2:
		n.Set(name, n.Get(another).Clone())
	case 3:
		n.Set(name, n.Clone()) // deeper
	case 4:
		n.Set(strings.ToUpper(name), value(rng))
	default:
		n.Set(name, value(rng))
	}
}

func changeItems(n *doc.Node, rng *rand.Rand) {
	items := n.Items()
	i := rng.IntN(len(items))
	switch rng.IntN(4) {
	case 0:
		n.SetItems(slices.Delete(items, i, i+1))
	case 1:
		n.SetItems(append(items, items[i].Clone()))
	case 2:
		n.Append(value(rng))
	default:
		items[i] = value(rng)
		n.SetItems(items)
	}
}

// garble changes bytes of a text, which makes it invalid JSON.
func garble(text []byte, rng *rand.Rand) []byte {
	if len(text) == 0 {
		return []byte(odd[rng.IntN(len(odd))])
	}
	text = slices.Clone(text)
	i, k := rng.IntN(len(text)), rng.IntN(len(text))
	switch rng.IntN(5) {
	case 0:
		return text[:i]
	case 1:
		text[i] = byte(rng.IntN(256))
	case 2:
		return slices.Concat(text[:i], text[min(i, k):max(i, k)], text[i:])
	case 3:
		return slices.Delete(text, min(i, k), max(i, k))
	default: // a member twice
		if start := slices.Index(text, '{'); start >= 0 {
			return slices.Concat(text[:start+1], []byte(`"name":1,"id":"x","name":`+oddJSON[rng.IntN(len(oddJSON))]+`,`), text[start+1:])
		}
	}
	return text
}
