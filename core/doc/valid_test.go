package doc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// FuzzCheck: Check and encoding/json agree about every UTF-8 text.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-0.5e+3,{"b":"c\n\u00e9\/"}],"d":{},"e":[],"f":null,"g":true,"h":false}`, ` [ 1 , 2 ] `, `{"a" : 1 , "b" : [ ] } `, `"\ud83d\ude00"`, `"\ud83d"`,
		`{`, `[`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `[1,]`, `[1 2]`, `{1:2}`, `{"a" 1}`, `}`, `]`, `[}`, `{]`, `[1}`, `,`, ``, ` `,
		`01`, `-`, `-01`, `1.`, `.5`, `1e`, `1e+`, `1E-2`, `0`, `-0`, `00`, `1a`, `+1`, `tru`, `truex`, `nul`, `fals`, `True`, `"`, `"a`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\u+123"`,
		"\"a\nb\"", "\"long enough for eight\x1fbytes\"", "\"\x00\"", `"long enough for eight bytes\"and more"`, `"a" "b"`, `1 2`, "\x00", "[\v1]",
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		var v json.RawMessage
		if ours, theirs := doc.Check([]byte(text), 0), json.Unmarshal([]byte(text), &v); (ours == nil) != (theirs == nil) {
			t.Errorf("%.200q: %v, and encoding/json says %v", text, ours, theirs)
		}
	})
}

// FuzzUnquote: Unquote decodes strings like encoding/json.
func FuzzUnquote(f *testing.F) {
	for _, text := range []string{
		`"plain"`, `"\"\\\/\b\f\n\r\t"`, `"\u00e9\u20ac"`, `"\ud83d\ude00 and after"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83d\u0041"`, `"\ud83dx"`, `"\ud83d\n"`,
		"\"é\\n\xff\"", `"a\`, `"\u12"`, ` "a\n" `, `null`, `1`, ``, "\"\\n\x01\"",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !bytes.Contains(text, []byte(`\`)) {
			return // accepted unchanged
		}
		var want string
		wrong := json.Unmarshal(text, &want)
		if have, err := doc.Unquote(text); have != want || (err == nil) != (wrong == nil) {
			t.Errorf("%q: %q, %v and not %q, %v", text, have, err, want, wrong)
		}
	})
}

// TestWriting: a tree has the same text when it is written at once or in pieces, and its size
// is known before.
func TestWriting(t *testing.T) {
	long := strings.Repeat("long ", 4000)
	for _, text := range []string{
		`{}`, `[]`, `null`, `{"a":[1,true,"x",{"b":{}}],"c":[[],[]]}`, `{"a":"` + long + `","b":["` + long + `",1]}`,
		"[" + strings.Repeat(`{"n":"value"},`, 3000) + "1]",
	} {
		n := doctest.Node(t, text)
		var b bytes.Buffer
		if err := n.WriteJSON(&b); err != nil || b.String() != text || string(n.JSON()) != text || n.Size() != len(text) {
			t.Errorf("%.60s: %d bytes, %d piece by piece, size %d, want %d; %v", text, len(n.JSON()), b.Len(), n.Size(), len(text), err)
		}
	}
}

// TestDeeper tests how levels are counted.
func TestDeeper(t *testing.T) {
	for text, levels := range map[string]int{`1`: 0, `{}`: 1, `[1,{"a":2}]`: 2, `[[],[[]],[]]`: 3} {
		if n := doctest.Node(t, text); n.Deeper(levels) || levels > 0 && !n.Deeper(levels-1) {
			t.Errorf("%s has not %d levels", text, levels)
		}
	}
}

// TestLargeDifferences: a difference that is most of a text does not copy it, and a small one
// does not keep the text in memory.
func TestLargeDifferences(t *testing.T) {
	var long strings.Builder
	for i := range 1 << 16 {
		fmt.Fprintf(&long, "%d and ", i)
	}
	from, to := []byte(`{"a":1}`), []byte(`{"a":"`+long.String()+`"}`)
	if d := doc.Diff(from, to); len(d) != 1 || &d[0].New[0] != &to[d[0].At] {
		t.Error("the new text was copied")
	}
	next := bytes.Replace(to, []byte("9 and"), []byte("9 or"), 1)
	if d := doc.Diff(to, next); len(d) != 1 || cap(d[0].New) > 1<<10 || cap(d[0].Old) > 1<<10 {
		t.Error("a small difference keeps a large text")
	}
}
