package doc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// want is the result, or part of the error if it begins with "!".
var patches = []struct{ name, document, patch, want string }{
	// RFC 6902, appendix A.
	{"A.1", `{"foo":"bar"}`, `[{"op":"add","path":"/baz","value":"qux"}]`, `{"foo":"bar","baz":"qux"}`},
	{"A.2", `{"foo":["bar","baz"]}`, `[{"op":"add","path":"/foo/1","value":"qux"}]`, `{"foo":["bar","qux","baz"]}`},
	{"A.3", `{"baz":"qux","foo":"bar"}`, `[{"op":"remove","path":"/baz"}]`, `{"foo":"bar"}`},
	{"A.4", `{"foo":["bar","qux","baz"]}`, `[{"op":"remove","path":"/foo/1"}]`, `{"foo":["bar","baz"]}`},
	{"A.5", `{"baz":"qux","foo":"bar"}`, `[{"op":"replace","path":"/baz","value":"boo"}]`, `{"baz":"boo","foo":"bar"}`},
	{"A.6", `{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}`, `[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]`,
		`{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}`},
	{"A.7", `{"foo":["all","grass","cows","eat"]}`, `[{"op":"move","from":"/foo/1","path":"/foo/3"}]`, `{"foo":["all","cows","eat","grass"]}`},
	{"A.8", `{"baz":"qux","foo":["a",2,"c"]}`, `[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]`, `{"baz":"qux","foo":["a",2,"c"]}`},
	{"A.9", `{"baz":"qux"}`, `[{"op":"test","path":"/baz","value":"bar"}]`, `!operation 0 (test "/baz")`},
	{"A.10", `{"foo":"bar"}`, `[{"op":"add","path":"/child","value":{"grandchild":{}}}]`, `{"foo":"bar","child":{"grandchild":{}}}`},
	{"A.11", `{"foo":"bar"}`, `[{"op":"add","path":"/baz","value":"qux","xyz":123}]`, `{"foo":"bar","baz":"qux"}`},
	{"A.12", `{"foo":"bar"}`, `[{"op":"add","path":"/baz/bat","value":"qux"}]`, `!operation 0 (add "/baz/bat"): there is nothing`},
	{"A.13", `{"foo":"bar"}`, `[{"op":"add","path":"/baz","value":"qux","op":"remove"}]`, `!there is nothing`},
	{"A.14", `{"/":9,"~1":10}`, `[{"op":"test","path":"/~01","value":10}]`, `{"/":9,"~1":10}`},
	{"A.15", `{"/":9,"~1":10}`, `[{"op":"test","path":"/~01","value":"10"}]`, `!another one`},
	{"A.16", `{"foo":["bar"]}`, `[{"op":"add","path":"/foo/-","value":["abc","def"]}]`, `{"foo":["bar",["abc","def"]]}`},

	{"spelling and order", `{"z":1.50,"a":[1e2,"\u00e9"],"m":{}}`, `[{"op":"replace","path":"/z","value":2.0},{"op":"add","path":"/a/0","value":0.10}]`,
		`{"z":2.0,"a":[0.10,1e2,"\u00e9"],"m":{}}`},
	{"add replaces in place", `{"a":1,"b":2}`, `[{"op":"add","path":"/a","value":3}]`, `{"a":3,"b":2}`},
	{"test by value", `{"a":{"x":1.0,"y":[]}}`, `[{"op":"test","path":"/a","value":{"y":[],"x":1}}]`, `{"a":{"x":1.0,"y":[]}}`},
	{"null is a value", `{"a":1}`, `[{"op":"add","path":"/b","value":null},{"op":"test","path":"/b","value":null}]`, `{"a":1,"b":null}`},
	{"whole document", `{"a":1}`, `[{"op":"replace","path":"","value":[1]},{"op":"add","path":"/-","value":2}]`, `[1,2]`},
	{"copy is a copy", `{"a":{"b":1}}`, `[{"op":"copy","from":"/a","path":"/c"},{"op":"replace","path":"/c/b","value":2}]`, `{"a":{"b":1},"c":{"b":2}}`},
	{"copy into itself", `{"a":{"b":1}}`, `[{"op":"copy","from":"","path":"/a/c"}]`, `{"a":{"b":1,"c":{"a":{"b":1}}}}`},
	{"move to itself", `{"a":1,"b":2}`, `[{"op":"move","from":"/a","path":"/a"}]`, `{"a":1,"b":2}`},
	{"empty name", `{"":1}`, `[{"op":"replace","path":"/","value":2}]`, `{"":2}`},
	{"one value twice", `{}`, `[{"op":"add","path":"/a","value":{}},{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/a/x","value":1}]`, `{"a":{"x":1},"b":{}}`},
	{"nothing to do", `{"a":1}`, `[]`, `{"a":1}`},

	{"all or nothing", `{"a":1}`, `[{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}]`, `!operation 1 (remove "/a"): there is nothing`},
	{"into itself", `{"a":{"b":1}}`, `[{"op":"move","from":"/a","path":"/a/b"}]`, `!into itself`},
	{"move of what is not", `{}`, `[{"op":"move","from":"/a","path":"/b"}]`, `!from: there is nothing`},
	{"remove everything", `{}`, `[{"op":"remove","path":""}]`, `!cannot be removed`},
	{"move everything", `{"a":1}`, `[{"op":"move","from":"","path":""},{"op":"move","from":"","path":"/a"}]`, `!operation 1 (move "/a"): a value cannot`},
	{"replace what is not", `{}`, `[{"op":"replace","path":"/a","value":1}]`, `!there is nothing`},
	{"past the end", `[1]`, `[{"op":"add","path":"/2","value":1}]`, `!out of range`},
	{"remove past the end", `[1]`, `[{"op":"remove","path":"/1"}]`, `!out of range`},
	{"dash is nowhere", `[1]`, `[{"op":"remove","path":"/-"}]`, `!no index`},
	{"leading zero", `[1,2]`, `[{"op":"remove","path":"/01"}]`, `!no index`},
	{"negative", `[1,2]`, `[{"op":"remove","path":"/-1"}]`, `!no index`},
	{"plus", `[1,2]`, `[{"op":"remove","path":"/+1"}]`, `!no index`},
	{"into a number", `{"a":1}`, `[{"op":"add","path":"/a/b","value":1}]`, `!number`},
	{"no slash", `{"a":1}`, `[{"op":"remove","path":"a"}]`, `!must be empty or begin`},
	{"bad escape", `{"~2":1}`, `[{"op":"remove","path":"/~2"}]`, `!neither`},
	{"no op", `{}`, `[{"path":"/a"}]`, `!"op" must be`},
	{"unknown op", `{}`, `[{"op":"increment","path":"/a"}]`, `!"op" must be`},
	{"no path", `{}`, `[{"op":"add","value":1}]`, `!"path" must be`},
	{"no value", `{}`, `[{"op":"add","path":"/a"}]`, `!"value" is missing`},
	{"no from", `{}`, `[{"op":"copy","path":"/a"}]`, `!"from" must be`},
	{"no object", `{}`, `[1]`, `!"path" must be`},
	{"no array", `{}`, `{"op":"add"}`, `!an array of operations`},
	{"no JSON", `{}`, `[`, `!`},
	{"too many", `{}`, `[` + strings.Repeat(`{},`, 10_000) + `{}]`, `!more than`},
}

func TestApplyPatch(t *testing.T) {
	for _, c := range patches {
		document, err := doc.ParseNode([]byte(c.document))
		if err != nil {
			t.Fatal(c.name, err)
		}
		got, err := doc.ApplyPatch(document, []byte(c.patch))
		if part, wrong := strings.CutPrefix(c.want, "!"); wrong {
			if err == nil || !strings.Contains(err.Error(), part) || got != nil {
				t.Errorf("%s: %s, %v; want an error with %q", c.name, got.JSON(), err, part)
			}
		} else if err != nil || string(got.JSON()) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, got.JSON(), err, c.want)
		}
		if string(document.JSON()) != c.document {
			t.Errorf("%s: the document given became %s", c.name, document.JSON())
		}
	}
}

func TestApplyPatchErrors(t *testing.T) {
	document := doc.NewObject()
	for patch, want := range map[string]error{
		`[{"op":"add","path":"/a","value":1},{"op":"test","path":"/a","value":2}]`: doc.ErrTest,
		`[{"op":"test","path":"/a","value":2}]`:                                    doc.ErrPatch,
		`[{"op":"remove","path":"/a"}]`:                                            doc.ErrPatch,
		`7`:                                                                        doc.ErrNoPatch, `[`: doc.ErrSyntax,
	} {
		_, err := doc.ApplyPatch(document, []byte(patch))
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", patch, err)
		}
		if p, ok := errors.AsType[*doc.PatchError](err); ok == (!errors.Is(want, doc.ErrTest) && !errors.Is(want, doc.ErrPatch)) || ok && (p.Op == "" || p.Path != "/a") {
			t.Errorf("%s: %#v", patch, p)
		}
	}
}

// A document that is copied into itself doubles with every operation.
func TestApplyPatchStaysSmall(t *testing.T) {
	var ops []string
	for i := range 60 {
		ops = append(ops, fmt.Sprintf(`{"op":"copy","from":"","path":"/%d"}`, i))
	}
	document, err := doc.ParseNode([]byte(`{"a":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := doc.ApplyPatch(document, []byte(`[`+strings.Join(ops, ",")+`]`)); !errors.Is(err, doc.ErrPatch) {
		t.Error(err)
	}
}

// members returns an object with n members and an index.
func members(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"m%d":%d,`, i, i)
	}
	return `{` + b.String() + `"last":0}`
}

// Members removed from a large object leave no trace, in any later operation.
func TestApplyPatchToLargeObjects(t *testing.T) {
	const steps = `{"op":"remove","path":"/a/m0"},{"op":"move","from":"/a/m1","path":"/a/x"},{"op":"move","from":"/a/m3","path":"/a/m0"},
		{"op":"remove","path":"/a/m0"},{"op":"add","path":"/a/m3","value":"new"}`
	_, others, _ := strings.Cut(members(40), `"m4"`)
	want := `{"m2":2,"m4"` + strings.TrimSuffix(others, "}") + `,"x":1,"m3":"new"}`
	for name, c := range map[string]struct{ more, want string }{
		"as it is":             {``, `{"a":` + want + `}`},
		"compared":             {`,{"op":"test","path":"","value":{"a":` + want + `}}`, `{"a":` + want + `}`},
		"copied":               {`,{"op":"copy","from":"/a","path":"/b"},{"op":"remove","path":"/a"}`, `{"b":` + want + `}`},
		"moved":                {`,{"op":"move","from":"/a","path":"/b"}`, `{"b":` + want + `}`},
		"replaced":             {`,{"op":"replace","path":"/a","value":{}}`, `{"a":{}}`},
		"a member is compared": {`,{"op":"test","path":"/a/x","value":1}`, `{"a":` + want + `}`},
	} {
		document, err := doc.ParseNode([]byte(`{"a":` + members(40) + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := doc.ApplyPatch(document, []byte(`[`+steps+c.more+`]`)); err != nil || string(got.JSON()) != c.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got.JSON(), c.want)
		}
		if _, err := doc.ApplyPatch(document, []byte(`[`+steps+`,{"op":"test","path":"/a/m1","value":1}]`)); !errors.Is(err, doc.ErrPatch) || errors.Is(err, doc.ErrTest) {
			t.Errorf("%s: a member is still there: %v", name, err)
		}
	}
}

// The cost of removals from an object does not depend on its size. Other operations are
// refused when their costs add up.
func TestApplyPatchIsQuick(t *testing.T) {
	document, err := doc.ParseNode([]byte(`{"list":[0` + strings.Repeat(`,0`, 200_000) + `],"all":` + members(100_000) + `}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ op, want string }{
		"move a member":     {`{"op":"move","from":"/all/m%d","path":"/all/n%[1]d"}`, ""},
		"remove a member":   {`{"op":"remove","path":"/all/m%d"}`, ""},
		"between copies":    {`{"op":"remove","path":"/all/m%d"},{"op":"copy","from":"/o","path":"/p"}`, "shifts too much"},
		"between tests":     {`{"op":"remove","path":"/all/m%d"},{"op":"test","path":"/o","value":{}}`, "shifts too much"},
		"at the front":      {`{"op":"add","path":"/list/0","value":%d}`, "shifts too much"},
		"from the front":    {`{"op":"remove","path":"/list/0","n":%d}`, "shifts too much"},
		"at the end":        {`{"op":"add","path":"/list/-","value":%d}`, ""},
		"a text in between": {`{"op":"remove","path":"/all/m%d"},{"op":"test","path":"/all/last","value":0}`, ""},
	} {
		var b strings.Builder
		b.WriteString(`[{"op":"add","path":"/o","value":{}}`)
		for i := range 4000 {
			fmt.Fprintf(&b, ","+c.op, i)
		}
		if _, err := doc.ApplyPatch(document, []byte(b.String()+`]`)); (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzApplyPatch compares with another implementation where both accept a patch: the other one
// is less strict about pointers and indexes, and replaces the whole document differently.
func FuzzApplyPatch(f *testing.F) {
	for _, c := range patches {
		f.Add(c.document, c.patch)
	}
	options := jsonpatch.NewApplyOptions()
	options.SupportNegativeIndices = false
	f.Fuzz(func(t *testing.T, document, patch string) {
		if !utf8.ValidString(document) || !utf8.ValidString(patch) || len(document)+len(patch) > 1<<14 {
			return
		}
		target, err := doc.ParseNode([]byte(document))
		if err != nil {
			return
		}
		got, failed := doc.ApplyPatch(target, []byte(patch))
		if again, _ := doc.ParseNode([]byte(document)); !again.Equal(target) {
			t.Fatalf("%s was changed by %s", document, patch)
		}
		if failed != nil {
			return
		}
		if !json.Valid(got.JSON()) {
			t.Fatalf("%s with %s became %s", document, patch, got.JSON())
		}
		if !comparable(target, document, patch) {
			return
		}
		other, err := jsonpatch.DecodePatch([]byte(patch))
		if err != nil {
			return
		}
		oracle, err := other.ApplyWithOptions([]byte(document), options)
		if err == nil && !equal(t, got.JSON(), oracle) {
			t.Fatalf("%s with %s became %s; the oracle says %s", document, patch, got.JSON(), oracle)
		}
	})
}

// comparable reports whether the other implementation gives a patch the same meaning:
// documents are objects or arrays, no name is repeated, and no path is the whole document.
func comparable(target *doc.Node, document, patch string) bool {
	if !target.Is(doc.TypeObject, doc.TypeArray) || repeats(document) || repeats(patch) {
		return false
	}
	ops, err := doc.ParseNode([]byte(patch))
	if err != nil {
		return false
	}
	for _, op := range ops.Items() {
		if op.Get("path").Text() == "" || op.Get("from") != nil && op.Get("from").Text() == "" {
			return false
		}
	}
	return true
}
