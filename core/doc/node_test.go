package doc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

func TestNodeReads(t *testing.T) {
	n := doctest.Node(t, ` {"a":{"b":[1.50,"x",true,null]},"big":12345678901234567890,"s":"\u00e9","a2":{}} `)
	list := n.Get("a", "b")
	if list.Len() != 4 || list.Items()[0].Float() != 1.5 || list.Items()[0].Int() != 1 || !list.Items()[2].True() || list.Texts()[0] != "x" {
		t.Errorf("%s", list.JSON())
	}
	if n.Get("s").Text() != "é" || n.Get("no", "such").Type() != doc.Absent || n.Get("no").Text() != "" || n.Get("no").Len() != 0 {
		t.Error("reading")
	}
	if got := string(n.JSON()); got != `{"a":{"b":[1.50,"x",true,null]},"big":12345678901234567890,"s":"\u00e9","a2":{}}` {
		t.Error(got)
	}
}

// A name keeps its spelling through changes of its member.
func TestNamesKeepTheirSpelling(t *testing.T) {
	const text = `{"\u00e9":{"a\/b":1,"\u003c":2},"plain":3}`
	n := doctest.Node(t, text)
	n.Put(doc.NewInt(9), "é", "a/b")
	if got := string(n.Clone().JSON()); got != `{"\u00e9":{"a\/b":9,"\u003c":2},"plain":3}` {
		t.Error(got)
	}
	o, err := doc.ParseObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := o.With("é", []byte(`0`)).With("new", []byte(`1`)).AppendJSON(nil); string(got) != `{"\u00e9":0,"plain":3,"new":1}` {
		t.Error(string(got))
	}
}

func TestNodeEdits(t *testing.T) {
	n := doctest.Node(t, `{"z":1,"a":{"b":2,"c":3}}`)
	c := n.Clone()
	n.Put(doc.NewStrings([]string{"p", "q"}), "a", "d", "e")
	n.Put(doc.NewBool(true), "z", "y")
	if !n.Delete("a", "b") || n.Delete("a", "b") || n.Delete("none", "x") {
		t.Error("delete")
	}
	n.Set("n", doc.NewInt(-7))
	if got := string(n.JSON()); got != `{"z":{"y":true},"a":{"c":3,"d":{"e":["p","q"]}},"n":-7}` {
		t.Error(got)
	}
	if got := string(c.JSON()); got != `{"z":1,"a":{"b":2,"c":3}}` {
		t.Errorf("the copy changed: %s", got)
	}
}

func TestNodeManyMembers(t *testing.T) {
	n := doc.NewObject()
	for i := range 100 {
		n.Set(fmt.Sprint("k", i), doc.NewInt(int64(i)))
	}
	for i := range 90 {
		n.Delete(fmt.Sprint("k", i))
	}
	n.Set("k95", doc.NewNull())
	if n.Len() != 10 || n.Get("k95").Type() != doc.TypeNull || n.Get("k99").Int() != 99 || n.Get("k5") != nil {
		t.Errorf("%s", n.JSON())
	}
}

func TestNodeEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[1]}`, `{"b":[1.0],"a":1e0}`, true}, {`{"a":1}`, `{"a":1,"b":null}`, false}, {`[1,2]`, `[2,1]`, false},
		{`"\u0061"`, `"a"`, true}, {`null`, `false`, false}, {`9007199254740993`, `9007199254740992`, false}, {`1e999`, `1e998`, false},
		{`1`, `1.` + strings.Repeat("0", 2_000_000), true}, {`1`, `1` + strings.Repeat("0", 2_000_000) + `e-2000000`, true}, {`1`, `1.` + strings.Repeat("0", 2_000_000) + `1`, false},
	} {
		if got := doctest.Node(t, c.a).Equal(doctest.Node(t, c.b)); got != c.want {
			t.Errorf("%.50s = %.50s: %v", c.a, c.b, got)
		}
	}
}

func FuzzNodeRoundTrip(f *testing.F) {
	f.Add(`{"a":{"b":[1,{"c":"\"}"}]},"":null,"e":1.50e+3}`)
	f.Fuzz(func(t *testing.T, text string) {
		n, err := doc.ParseNode([]byte(text))
		if err != nil {
			if json.Valid([]byte(text)) && utf8.ValidString(text) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		out := n.JSON()
		if !equal(t, []byte(text), out) {
			t.Fatalf("%q became %q", text, out)
		}
		again, err := doc.ParseNode(out)
		if err != nil || !bytes.Equal(again.JSON(), out) || !again.Equal(n) || !n.Clone().Equal(again) {
			t.Fatalf("%q is not stable: %v", out, err)
		}
	})
}

// A document of long names is in memory once, because the names are slices of its text. Names
// with escapes, and short ones, are copied.
func TestLongNamesShareTheText(t *testing.T) {
	long := strings.Repeat("n", 100)
	for _, c := range []struct {
		name, literal string
		shared        bool
	}{
		{long, `"` + long + `"`, true},
		{"short", `"short"`, false},
		{long + "é\"", `"` + long + `\u00e9\""`, false},
	} {
		text := []byte(`{` + c.literal + `: 1}`)
		n, err := doc.ParseNode(text)
		if err != nil || n.Get(c.name).Int() != 1 || string(n.JSON()) != `{`+c.literal+`:1}` {
			t.Fatalf("%s: %v %s", c.literal, err, n.JSON())
		}
		if shared := unsafe.StringData(n.Names()[0]) == &text[2]; shared != c.shared {
			t.Errorf("%s shares the text: %v, want %v", c.literal, shared, c.shared)
		}
	}
}
