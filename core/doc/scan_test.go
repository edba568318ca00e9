package doc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// TestRepeats: texts with a repeated name in one object, in any spelling and at any depth.
func TestRepeats(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":1,"a":2}`: true, `{"a":1,"\u0061":2}`: true, `[{"x":{"a":1,"b":2,"a":3}}]`: true, `{"a":{"b":1},"b":{"a":1}}`: false,
		`{"a":"\"a\":1,\"a\":2"}`: false, `{"a:":1,"a":":"}`: false, `[1,1]`: false, `"a"`: false, `{}`: false, `{"a":1,"A":2}`: false, `{"a":1,"a"`: false,
	} {
		if got := doc.Repeats([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// values returns the number of values in a tree.
func values(n *doc.Node) int {
	all := 1
	for _, v := range n.Members() {
		all += values(v)
	}
	for _, v := range n.Items() {
		all += values(v)
	}
	return all
}

// FuzzCount: a count is at least the number of values in the text's tree, and at most the
// length of the text, so it can estimate the cost of parsing.
func FuzzCount(f *testing.F) {
	f.Add(`{"a":[1,2,{"b":"c,d{["}],"e":{}}`)
	f.Add(`[[],[],[[]]]`)
	f.Add(`"\",\""`)
	f.Add(`{"a`)
	f.Fuzz(func(t *testing.T, text string) {
		n := doc.Count([]byte(text))
		if n > len(text)+1 {
			t.Errorf("%q has %d values in %d bytes", text, n, len(text))
		}
		tree, err := doc.ParseNode([]byte(text))
		if err != nil {
			return
		}
		if values(tree) > n {
			t.Errorf("%q has %d values and not %d", text, values(tree), n)
		}
		if have, want := tree.Values(), doc.Count(tree.JSON()); have != want {
			t.Errorf("%q: the tree has %d values, its text %d", text, have, want)
		}
	})
}

// TestDecoders: encoding/json reads and writes the same as our own decoders.
func TestDecoders(t *testing.T) {
	const text = `{"z":1.50,"a":{"é":[null,true]},"":""}`
	var o doc.Object
	var n doc.Node
	var p doc.Patch
	for name, v := range map[string]any{"object": &o, "tree": &n, "patch": &p} {
		if err := json.Unmarshal([]byte(text), v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if have, err := json.Marshal(v); err != nil || string(have) != text {
			t.Errorf("%s: %s, %v", name, have, err)
		}
		if name == "object" && o.Len() != 3 {
			t.Errorf("the object has %d members", o.Len())
		}
		if err := json.Unmarshal([]byte(`[1]`), v); (err == nil) != (name == "tree") {
			t.Errorf("%s: a list: %v", name, err)
		}
	}
}

// TestReaders: values of another type read as zero values, and an iterator that stops gets no
// more.
func TestReaders(t *testing.T) {
	root := doctest.Node(t, `{"f":1.75,"big":1e3,"t":"5","l":["a",1,"b"],"o":{"x":1,"y":2}}`)
	for name, want := range map[string]struct {
		f float64
		i int64
	}{"f": {1.75, 1}, "big": {1000, 1000}, "t": {}, "l": {}, "none": {}} {
		v := root.Get(name)
		if v.Float() != want.f || v.Int() != want.i {
			t.Errorf("%s: %v, %v", name, v.Float(), v.Int())
		}
	}
	if have := strings.Join(root.Get("o").Names(), " "); have != "x y" || root.Get("none").Names() != nil {
		t.Errorf("the names are %q", have)
	}
	if root.Get("o").Items() != nil || len(root.Get("l").Texts()) != 2 {
		t.Error("an object has items, or a list has not its texts")
	}
	for range root.Get("l").Members() {
		t.Error("a list has members")
	}
	for name := range root.Get("o").Members() {
		if name != "x" {
			t.Errorf("%s after the end", name)
		}
		break
	}
	var none *doc.Node
	if none.Clone() != nil || none.Len() != 0 {
		t.Error("nothing is something")
	}
}

// TestDeltaKeepsCharacters: a difference begins and ends between characters, even if only a
// part of a character differs.
func TestDeltaKeepsCharacters(t *testing.T) {
	long := strings.Repeat("x", 600)
	for _, pair := range [][2]string{
		{`{"a":"é"}`, `{"a":"è"}`}, {`{"a":"日本"}`, `{"a":"旦本"}`}, {`{"a":"😀"}`, `{"a":"😁"}`}, {`"` + long + `é"`, `"` + long + `è"`},
		{`"é` + long + `"`, `"è` + long + `"`}, {`["é","é","b"]`, `["è","é","c"]`},
	} {
		law(t, pair[0], pair[1])
		law(t, pair[1], pair[0])
	}
}
