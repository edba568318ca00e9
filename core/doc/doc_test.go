package doc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// The example pairs of RFC 7396, appendix A.
var appendixA = []struct{ target, patch, want string }{
	{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
	{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
	{`{"a":"b"}`, `{"a":null}`, `{}`},
	{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
	{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
	{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
	{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
	{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
	{`["a","b"]`, `["c","d"]`, `["c","d"]`},
	{`{"a":"b"}`, `["c"]`, `["c"]`},
	{`{"a":"foo"}`, `null`, `null`},
	{`{"a":"foo"}`, `"bar"`, `"bar"`},
	{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
	{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
	{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
}

func TestMergeAppendixA(t *testing.T) {
	for _, c := range appendixA {
		got, err := doc.Merge([]byte(c.target), []byte(c.patch))
		if err != nil || string(got) != c.want {
			t.Errorf("merge(%s, %s) = %s, %v; want %s", c.target, c.patch, got, err, c.want)
		}
	}
}

func TestMergeKeepsSpelling(t *testing.T) {
	got, err := doc.Merge([]byte(`{"z": 1.50, "a": 1e3 , "m":{"y":"\u00e9"}}`), []byte(`{"b":[1, 2]}`))
	if want := `{"z":1.50,"a":1e3,"m":{"y":"\u00e9"},"b":[1, 2]}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func FuzzMerge(f *testing.F) {
	for _, c := range appendixA {
		f.Add(c.target, c.patch)
	}
	f.Fuzz(func(t *testing.T, target, patch string) {
		if !utf8.ValidString(target) || !json.Valid([]byte(target)) || !strings.HasPrefix(strings.TrimSpace(target), "{") || !doc.IsObject([]byte(patch)) {
			return
		}
		once, err := doc.Merge([]byte(target), []byte(patch))
		if err != nil {
			return
		}
		twice, err := doc.Merge(once, []byte(patch))
		if err != nil || !equal(t, once, twice) {
			t.Fatalf("a patch applied twice differs: %s then %s (%v)", once, twice, err)
		}
		if repeats(target) || repeats(patch) {
			return // the reference implementation and RFC 8259 disagree about duplicate names
		}
		oracle, err := jsonpatch.MergePatch([]byte(target), []byte(patch))
		if err == nil && !equal(t, once, oracle) {
			t.Fatalf("merge(%s, %s) = %s; the oracle says %s", target, patch, once, oracle)
		}
	})
}

// repeats reports whether an object in text has two members with the same name.
func repeats(text string) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	var seen []map[string]bool
	var key []bool
	for {
		tok, err := dec.Token()
		if err != nil {
			return false
		}
		top := len(seen) - 1
		switch v := tok.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				var names map[string]bool
				if v == '{' {
					names = map[string]bool{}
				}
				if top >= 0 && seen[top] != nil {
					key[top] = true
				}
				seen, key = append(seen, names), append(key, true)
			} else {
				seen, key = seen[:top], key[:top]
			}
			continue
		case string:
			if top >= 0 && seen[top] != nil && key[top] {
				if seen[top][v] {
					return true
				}
				seen[top][v], key[top] = true, false
				continue
			}
		}
		if top >= 0 {
			key[top] = true
		}
	}
}

func equal(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatalf("not JSON: %s", a)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatalf("not JSON: %s", b)
	}
	return reflect.DeepEqual(x, y)
}

func TestCheck(t *testing.T) {
	for text, ok := range map[string]bool{
		`{}`: true, ` [1] `: true, `"x"`: true, ``: false, `  `: false, `{`: false, `{"a":1}x`: false,
		"\"\xff\"": false, `[[[1]]]`: true, `[[[[1]]]]`: false, `["[[[[[["]`: true, `"\"[[[["`: true,
	} {
		if err := doc.Check([]byte(text), 3); (err == nil) != ok || err != nil && !errors.Is(err, doc.ErrSyntax) {
			t.Errorf("Check(%q) = %v", text, err)
		}
	}
}

func TestObject(t *testing.T) {
	o, err := doc.ParseObject([]byte(` { "b" : 1 , "a.\"x" : {"c":[1,2]}, "b": 2.0 } `))
	if err != nil {
		t.Fatal(err)
	}
	edited := o.With("n", []byte(`"é"`)).Without("b").Without("absent")
	for _, c := range []struct {
		o    doc.Object
		want string
	}{{o, `{"b":2.0,"a.\"x":{"c":[1,2]}}`}, {edited, `{"a.\"x":{"c":[1,2]},"n":"é"}`}, {doc.Object{}, `{}`}} {
		if got, _ := c.o.AppendJSON(nil); string(got) != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	if v, ok := o.Get(`a."x`); !ok || string(v) != `{"c":[1,2]}` {
		t.Errorf("get: %s %v", v, ok)
	}
}

func TestEditorManyEdits(t *testing.T) {
	e := doc.Object{}.Edit()
	for i := range 1000 {
		e.Set(fmt.Sprint("k", i), json.RawMessage(fmt.Sprint(i)))
	}
	for i := range 999 {
		e.Delete(fmt.Sprint("k", i))
	}
	e.Set("k5", json.RawMessage(`"again"`))
	if got, _ := e.Object().AppendJSON(nil); string(got) != `{"k999":999,"k5":"again"}` {
		t.Error(string(got))
	}
}

func FuzzObjectRoundTrip(f *testing.F) {
	f.Add(`{"a":{"b":[1,{"c":"\"}"}]},"":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, err := doc.ParseObject([]byte(text))
		if err != nil {
			return
		}
		out, err := o.AppendJSON(nil)
		if err != nil || !equal(t, []byte(text), out) {
			t.Fatalf("%q became %q (%v)", text, out, err)
		}
		again, err := doc.ParseObject(out)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := again.AppendJSON(nil); !bytes.Equal(b, out) {
			t.Fatalf("%q is not stable: %q", out, b)
		}
	})
}

func law(t *testing.T, from, to string) doc.Delta {
	t.Helper()
	d := doc.Diff([]byte(from), []byte(to))
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var back doc.Delta
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if got, err := back.Apply([]byte(from)); err != nil || string(got) != to {
		t.Fatalf("apply: %q -> %q gave %q, %v", from, to, got, err)
	}
	if got, err := back.Revert([]byte(to)); err != nil || string(got) != from {
		t.Fatalf("revert: %q -> %q gave %q, %v", from, to, got, err)
	}
	return d
}

func FuzzDelta(f *testing.F) {
	f.Add("", "x")
	f.Add("äöü", "äpü")
	f.Add(strings.Repeat("abcdefgh", 40), strings.Repeat("abcdefgh", 20)+"é"+strings.Repeat("abcdefgh", 20))
	f.Fuzz(func(t *testing.T, from, to string) {
		if utf8.ValidString(from) && utf8.ValidString(to) {
			law(t, from, to)
		}
	})
}

func TestDeltaIsSmall(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, `"api-%05d":{"scope_to_policy":{"read":"p%d"}},`, i, i)
	}
	big := `{"m":{` + b.String() + `"z":{}},"last_updated":"2026-01-01T00:00:00Z"}`
	later := strings.Replace(big, "2026-01-01", "2026-02-03", 1)
	for name, to := range map[string]string{
		"replace":  strings.Replace(later, `"p5000"`, `"another-policy"`, 1),
		"insert":   strings.Replace(later, `"api-05000"`, `"api-x":{"scope_to_policy":{}},"api-05000"`, 1),
		"remove":   strings.Replace(later, `"api-05000":{"scope_to_policy":{"read":"p5000"}},`, ``, 1),
		"long one": strings.Replace(later, `"api-05000"`, `"api-x":"`+strings.Repeat("é", 20_000)+`","api-05000"`, 1),
	} {
		d := law(t, big, to)
		if text, _ := json.Marshal(d); len(text) > abs(len(to)-len(big))+400 {
			t.Errorf("%s: delta of %d bytes in %d hunks", name, len(text), len(d))
		}
	}
}

// In texts that differ everywhere, a page at a time, the rest is not scanned for each
// difference: at some point it becomes one difference.
func TestDeltaOfManyDifferences(t *testing.T) {
	var from, to strings.Builder
	for i := range 2_000 {
		common := fmt.Sprintf("%064d", i) + strings.Repeat("c", 64)
		from.WriteString(common + strings.Repeat(fmt.Sprintf("%08d", i), 600))
		to.WriteString(common)
	}
	d := law(t, from.String(), to.String())
	if len(d) > 1_500 {
		t.Errorf("%d hunks", len(d))
	}
	few := law(t, strings.Repeat("a", 5000)+from.String()[:100_000], to.String()[:2_000])
	if len(few) == 0 {
		t.Error("no difference")
	}
}

func abs(n int) int { return max(n, -n) }

func TestDeltaRefusesAnotherText(t *testing.T) {
	d := doc.Diff([]byte("abc"), []byte("abd"))
	for _, text := range []string{"", "xyz", "ab"} {
		if _, err := d.Apply([]byte(text)); !errors.Is(err, doc.ErrMismatch) {
			t.Errorf("apply to %q: %v", text, err)
		}
	}
}

func TestAppendString(t *testing.T) {
	for _, s := range []string{"", "plain", "<&>", "é\u2028", "a\"b\\c", "\x00\n\x1f", "\U0001f600"} {
		var back string
		if err := json.Unmarshal(doc.AppendString(nil, s), &back); err != nil || back != s {
			t.Errorf("%q came back as %q, %v", s, back, err)
		}
	}
	if got := string(doc.AppendString(nil, "<&>")); got != `"<&>"` {
		t.Error(got)
	}
}

func BenchmarkDiff(b *testing.B) {
	text := []byte(`{"m":{` + strings.Repeat(`"api":{"scope_to_policy":{"read":"policy"}},`, 20_000) + `"at":"1"}`)
	to := bytes.Replace(bytes.Clone(text), []byte(`"at":"1"`), []byte(`"at":"2"`), 1)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		doc.Diff(text, to)
	}
}

// FuzzAppendString compares the quoted text with encoding/json.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c\b\f\n\r\t\x00\x1f\x7f", "é\u2028\u2029 <&> \xff\xe2\x80 \U0001F600", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got, want := string(doc.AppendString(nil, s)), strings.TrimSuffix(b.String(), "\n"); got != want {
			t.Fatalf("%q: %s, want %s", s, got, want)
		}
	})
}

// FuzzAdoptDelta: AdoptDelta decodes the same as json.Unmarshal, even though it overwrites the
// text.
func FuzzAdoptDelta(f *testing.F) {
	for _, text := range []string{
		`[]`, `[[0,"",""]]`, `[[1,"a\nb","\u00e9\ud83d\ude00"],[9,"plain","\\\"\/"]]`, `[[0,"\ud83d","\ude00x"]]`, `[[0,"a"]]`, `{}`, `[null]`, `[[0,1,2]]`, ` [ [ 0 , "a" , "b" ] ] `,
		"[[0,\"\xff\\n\",\"\"]]", `[[0,"\t`, "[[0,\"\x01\\n\",\"\"]]", `[[1.5,"a","b"]]`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want doc.Delta
		wrong := json.Unmarshal(text, &want)
		have, err := doc.AdoptDelta(bytes.Clone(text))
		if string(text) == "null" || bytes.Equal(bytes.TrimSpace(text), []byte("null")) {
			return // not a list
		}
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%q: %v, not %v", text, err, wrong)
		}
		if err == nil && !slices.EqualFunc(have, want, func(a, b doc.Hunk) bool {
			return a.At == b.At && bytes.Equal(a.Old, b.Old) && bytes.Equal(a.New, b.New)
		}) {
			t.Errorf("%q: %v, not %v", text, have, want)
		}
	})
}
