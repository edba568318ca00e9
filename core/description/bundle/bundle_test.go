package bundle_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/description/bundle"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// document returns a document with some members.
func document(members string) string { return `{"openapi":"3.1.0",` + members + `}` }

// get returns paths with one response that has a schema.
func get(schema string) string {
	return `"paths":{"/a":{"get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":` + schema + `}}}}}}}`
}

func TestJoin(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string // the main file is "openapi.json"
		want  string
	}{
		{"one file stays as it is", map[string]string{"openapi.json": document(get(`{"$ref":"#/components/schemas/A"}`) + `,"components":{"schemas":{"A":{"minimum":1.0}}}`)},
			document(get(`{"$ref":"#/components/schemas/A"}`) + `,"components":{"schemas":{"A":{"minimum":1.0}}}`)},
		{"a whole file", map[string]string{"openapi.json": document(get(`{"$ref":"schemas/pet.json"}`)), "schemas/pet.json": `{"type":"object"}`},
			document(get(`{"$ref":"#/components/schemas/pet"}`) + `,"components":{"schemas":{"pet":{"type":"object"}}}`)},
		{"a place in a file", map[string]string{"openapi.json": document(get(`{"$ref":"./o.json#/components/schemas/Y"}`)), "o.json": `{"components":{"schemas":{"Y":true,"Z":{}}}}`},
			document(get(`{"$ref":"#/components/schemas/Y"}`) + `,"components":{"schemas":{"Y":true}}`)},
		{"escapes of a pointer", map[string]string{"openapi.json": document(get(`{"$ref":"o.json#/a~1b/x%20y/1"}`)), "o.json": `{"a/b":{"x y":[{},{"type":"null"}]}}`},
			document(get(`{"$ref":"#/components/schemas/1"}`) + `,"components":{"schemas":{"1":{"type":"null"}}}`)},
		{"relative to the file they stand in", map[string]string{"openapi.json": document(get(`{"$ref":"schemas/a.json"}`)), "schemas/a.json": `{"properties":{"b":{"$ref":"more/b.json"},"c":{"$ref":"../c.json#/X"}}}`, "schemas/more/b.json": `{"title":"b"}`, "c.json": `{"X":{"title":"c"}}`},
			document(get(`{"$ref":"#/components/schemas/a"}`) + `,"components":{"schemas":{"a":{"properties":{"b":{"$ref":"#/components/schemas/b"},"c":{"$ref":"#/components/schemas/X"}}},"b":{"title":"b"},"X":{"title":"c"}}}`)},
		{"cycles between files", map[string]string{"openapi.json": document(get(`{"$ref":"a.json"}`)), "a.json": `{"items":{"$ref":"b.json"}}`, "b.json": `{"anyOf":[{"$ref":"a.json"},{"$ref":"#"},{"$ref":"openapi.json#/paths"}]}`},
			document(get(`{"$ref":"#/components/schemas/a"}`) + `,"components":{"schemas":{"a":{"items":{"$ref":"#/components/schemas/b"}},"b":{"anyOf":[{"$ref":"#/components/schemas/a"},{"$ref":"#/components/schemas/b"},{"$ref":"#/paths"}]}}}`)},
		{"names are distinct", map[string]string{"openapi.json": document(get(`{"oneOf":[{"$ref":"x/a.json"},{"$ref":"y/a.json"},{"$ref":"z/a.json"},{"$ref":"x/a.json"}]}`) + `,"components":{"schemas":{"a":{"title":"mine"},"a_3":{}}}`),
			"x/a.json": `{"title":"x"}`, "y/a.json": `{"title":"y"}`, "z/a.json": `{"title":"z"}`},
			document(get(`{"oneOf":[{"$ref":"#/components/schemas/a_2"},{"$ref":"#/components/schemas/a_4"},{"$ref":"#/components/schemas/a_5"},{"$ref":"#/components/schemas/a_2"}]}`) +
				`,"components":{"schemas":{"a":{"title":"mine"},"a_3":{},"a_2":{"title":"x"},"a_4":{"title":"y"},"a_5":{"title":"z"}}}`)},
		{"odd names become names", map[string]string{"openapi.json": document(get(`{"$ref":"my%20p%C3%A9t!.json"}`)), "my pét!.json": `{}`},
			document(get(`{"$ref":"#/components/schemas/my_p_t_"}`) + `,"components":{"schemas":{"my_p_t_":{}}}`)},
		{"the author's names are kept", map[string]string{"openapi.json": document(get(`{"$ref":"s/pet.json"}`) + `,"components":{"schemas":{"Pet":{"$ref":"s/pet.json"},"Again":{"$ref":"s/pet.json"}}}`), "s/pet.json": `{"items":{"$ref":"#"}}`},
			document(get(`{"$ref":"#/components/schemas/Pet"}`) + `,"components":{"schemas":{"Pet":{"items":{"$ref":"#/components/schemas/Pet"}},"Again":{"$ref":"#/components/schemas/Pet"}}}`)},
		{"back to the main file", map[string]string{"openapi.json": document(get(`{"$ref":"a.json"}`) + `,"components":{"schemas":{"A":{"title":"A"}}}`), "a.json": `{"items":{"$ref":"openapi.json#/components/schemas/A"}}`},
			document(get(`{"$ref":"#/components/schemas/a"}`) + `,"components":{"schemas":{"A":{"title":"A"},"a":{"items":{"$ref":"#/components/schemas/A"}}}}`)},
		{"references to references", map[string]string{"openapi.json": document(get(`{"$ref":"a.json"}`)), "a.json": `{"$ref":"b.json"}`, "b.json": `{"title":"b"}`},
			document(get(`{"$ref":"#/components/schemas/b"}`) + `,"components":{"schemas":{"b":{"title":"b"}}}`)},
		{"what stands beside a reference stays", map[string]string{"openapi.json": document(get(`{"$ref":"a.json","items":{"$ref":"a.json"},"description":"d"}`)), "a.json": `{}`},
			document(get(`{"$ref":"#/components/schemas/a","items":{"$ref":"#/components/schemas/a"},"description":"d"}`) + `,"components":{"schemas":{"a":{}}}`)},
		{"path items are put in place", map[string]string{"openapi.json": document(`"paths":{"/a":{"$ref":"paths/a.json","summary":"mine"}}`), "paths/a.json": `{"summary":"theirs","get":{"parameters":[{"$ref":"../p.json#/id"}]}}`, "p.json": `{"id":{"name":"id","schema":{"$ref":"#/s"}},"s":{"type":"string"}}`},
			document(`"paths":{"/a":{"summary":"mine","get":{"parameters":[{"$ref":"#/components/parameters/id"}]}}},"components":{"parameters":{"id":{"name":"id","schema":{"$ref":"#/components/schemas/s"}}},"schemas":{"s":{"type":"string"}}}`)},
		{"so are maps", map[string]string{"openapi.json": document(`"paths":{"$ref":"paths.json"}`), "paths.json": `{"/a":{"get":{"responses":{"$ref":"r.json"}}}}`, "r.json": `{"200":{"description":""}}`},
			document(`"paths":{"/a":{"get":{"responses":{"200":{"description":""}}}}}`)},
		{"the section follows from where it stands", map[string]string{
			"openapi.json": document(`"paths":{"/a":{"post":{"requestBody":{"$ref":"c.json#/x"},"responses":{"200":{"$ref":"c.json#/x"}},"callbacks":{"c":{"$ref":"c.json#/cb"}}}}},"components":{"securitySchemes":{"k":{"$ref":"c.json#/k"}}}`),
			"c.json":       `{"x":{"headers":{"h":{"$ref":"#/h"}},"content":{"a/b":{"examples":{"e":{"$ref":"#/e"}}}},"links":{"l":{"$ref":"#/l"}}},"h":{},"e":{"value":{"$ref":"nowhere.json"}},"l":{"operationRef":"openapi.json#/paths/~1a/post"},"k":{"type":"http"},"cb":{"{$url}":{"$ref":"p.json"}}}`,
			"p.json":       `{"post":{"x-kept":{"$ref":"nowhere.json"}}}`},
			document(`"paths":{"/a":{"post":{"requestBody":{"$ref":"#/components/requestBodies/x"},"responses":{"200":{"$ref":"#/components/responses/x"}},"callbacks":{"c":{"$ref":"#/components/callbacks/cb"}}}}},"components":{"securitySchemes":{"k":{"type":"http"}},` +
				`"requestBodies":{"x":{"headers":{"h":{"$ref":"#/h"}},"content":{"a/b":{"examples":{"e":{"$ref":"#/components/examples/e"}}}},"links":{"l":{"$ref":"#/l"}}}},` +
				`"responses":{"x":{"headers":{"h":{"$ref":"#/components/headers/h"}},"content":{"a/b":{"examples":{"e":{"$ref":"#/components/examples/e"}}}},"links":{"l":{"$ref":"#/components/links/l"}}}},` +
				`"callbacks":{"cb":{"{$url}":{"post":{"x-kept":{"$ref":"nowhere.json"}}}}},"examples":{"e":{"value":{"$ref":"nowhere.json"}}},"headers":{"h":{}},"links":{"l":{"operationRef":"#/paths/~1a/post"}}}`)},
		{"discriminators", map[string]string{"openapi.json": document(get(`{"discriminator":{"propertyName":"k","mapping":{"a":"a.json","b":"b.json#/B","c":"C","d":"#/components/schemas/C"}}}`) + `,"components":{"schemas":{"C":{}}}`), "a.json": `{"title":"a"}`, "b.json": `{"B":{"title":"b"}}`},
			document(get(`{"discriminator":{"propertyName":"k","mapping":{"a":"#/components/schemas/a","b":"#/components/schemas/B","c":"C","d":"#/components/schemas/C"}}}`) + `,"components":{"schemas":{"C":{},"a":{"title":"a"},"B":{"title":"b"}}}`)},
		{"properties may have any name", map[string]string{"openapi.json": document(get(`{"properties":{"$ref":{"type":"string"},"x-a":{"$ref":"a.json"}}}`)), "a.json": `{}`},
			document(get(`{"properties":{"$ref":{"type":"string"},"x-a":{"$ref":"#/components/schemas/a"}}}`) + `,"components":{"schemas":{"a":{}}}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, before := map[string]*doc.Node{}, map[string]string{}
			for name, text := range tt.files {
				files[name] = doctest.Node(t, text)
				before[name] = string(files[name].JSON())
			}
			got, err := bundle.Join(files, "openapi.json")
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(doctest.Node(t, tt.want)) {
				t.Errorf("\ngot  %s\nwant %s", got.JSON(), tt.want)
			}
			for name, n := range files {
				if string(n.JSON()) != before[name] {
					t.Errorf("%s was changed", name)
				}
			}
		})
	}
}

func TestJoinRefuses(t *testing.T) {
	ref := func(to string) string { return document(get(`{"$ref":"` + to + `"}`)) }
	const place = "openapi.json, #/paths/~1a/get/responses/200/content/application~1json/schema/$ref: "
	for _, tt := range []struct {
		name, main string
		files      map[string]string
		want       error
		text       string
	}{
		{"a file that is not there", ref("b.json"), nil, bundle.ErrReference, place},
		{"a place that is not there", ref("a.json#/x"), map[string]string{"a.json": `{}`}, bundle.ErrReference, "no such place"},
		{"an index that is not there", ref("a.json#/1"), map[string]string{"a.json": `[{}]`}, bundle.ErrReference, "no such place"},
		{"no index", ref("a.json#/x"), map[string]string{"a.json": `[{}]`}, bundle.ErrReference, "no such place"},
		{"an anchor", ref("a.json#x"), map[string]string{"a.json": `{}`}, bundle.ErrReference, "JSON pointers"},
		{"above the root", ref("../a.json"), nil, bundle.ErrReference, "leaves the archive"},
		{"above the root by a detour", ref("x/../../a.json"), nil, bundle.ErrReference, "leaves the archive"},
		{"an absolute path", ref("/etc/passwd"), nil, bundle.ErrReference, "leaves the archive"},
		{"http", ref("http://example.com/a.json"), nil, bundle.ErrReference, "not in the archive"},
		{"https", ref("https://example.com/a.json#/x"), nil, bundle.ErrReference, "not in the archive"},
		{"a file address", ref("file:///etc/passwd"), nil, bundle.ErrReference, "not in the archive"},
		{"another host", ref("//example.com/a.json"), nil, bundle.ErrReference, "not in the archive"},
		{"no address", ref("%zz"), nil, bundle.ErrReference, "no address"},
		{"in a file of a file", ref("s/a.json"), map[string]string{"s/a.json": `{"items":[{"$ref":"b.json"}]}`}, bundle.ErrReference, "s/a.json, #/items/0/$ref: "},
		{"only references", ref("a.json"), map[string]string{"a.json": `{"$ref":"b.json"}`, "b.json": `{"$ref":"a.json"}`}, bundle.ErrReference, "nothing but references"},
		{"itself by way of the main file", document(get(`{"$ref":"a.json"}`) + `,"components":{"schemas":{"A":{"$ref":"a.json"}}}`), map[string]string{"a.json": `{"$ref":"openapi.json#/components/schemas/A"}`}, bundle.ErrReference, "nothing but references"},
		{"a path item in itself", document(`"paths":{"/a":{"$ref":"a.json"}}`), map[string]string{"a.json": `{"get":{"callbacks":{"c":{"x":{"$ref":"a.json"}}}}}`}, bundle.ErrReference, "leads back"},
		{"a path item that is none", document(`"paths":{"/a":{"$ref":"a.json"}}`), map[string]string{"a.json": `[]`}, bundle.ErrReference, "not an object"},
		{"an operation elsewhere", document(`"components":{"links":{"l":{"operationRef":"a.json#/x"}}}`), map[string]string{"a.json": `{"x":{}}`}, bundle.ErrReference, "operationId"},
		{"a link to nowhere", document(`"components":{"links":{"l":{"operationRef":"https://example.com"}}}`), nil, bundle.ErrReference, "operationRef"},
		{"a discriminator to nowhere", document(get(`{"discriminator":{"mapping":{"a":"b/c.json"}}}`)), nil, bundle.ErrReference, "discriminator/mapping/a"},
		{"components are no object", document(get(`{"$ref":"a.json"}`) + `,"components":[]`), map[string]string{"a.json": `{}`}, bundle.ErrReference, "not an object"},
		{"schemas are no object", document(get(`{"$ref":"a.json"}`) + `,"components":{"schemas":1}`), map[string]string{"a.json": `{}`}, bundle.ErrReference, "not an object"},
		{"the main file is no object", `[]`, nil, bundle.ErrMain, ""},
		{"too deep", ref("a.json"), map[string]string{"a.json": strings.Repeat("[", 200) + strings.Repeat("]", 200)}, bundle.ErrTooLarge, "a.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]*doc.Node{"openapi.json": doctest.Node(t, tt.main)}
			for name, text := range tt.files {
				files[name] = doctest.Node(t, text)
			}
			_, err := bundle.Join(files, "openapi.json")
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%v, want %v with %q", err, tt.want, tt.text)
			}
		})
	}
}

func TestJoinIsBounded(t *testing.T) {
	t.Run("files", func(t *testing.T) {
		files := map[string]*doc.Node{}
		for i := range bundle.MaxFiles {
			files[fmt.Sprint(i)] = doc.NewNull()
		}
		files["openapi.json"] = doc.NewObject()
		if _, err := bundle.Join(files, "openapi.json"); !errors.Is(err, bundle.ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("what is put in place again and again", func(t *testing.T) {
		files := map[string]*doc.Node{"openapi.json": doctest.Node(t, document(`"paths":{"$ref":"0.json"}`))}
		for i := range 30 {
			next := fmt.Sprintf(`{"$ref":"%d.json"}`, i+1)
			files[fmt.Sprintf("%d.json", i)] = doctest.Node(t, `{"/a":{"get":{"callbacks":{"a":{"x":`+next+`,"y":`+next+`}}}},"get":{"callbacks":{"a":{"x":`+next+`,"y":`+next+`}}}}`)
		}
		files["30.json"] = doctest.Node(t, `{}`)
		if _, err := bundle.Join(files, "openapi.json"); !errors.Is(err, bundle.ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("a long text that is put in place again and again", func(t *testing.T) {
		var paths []string
		for i := range 2_000 {
			paths = append(paths, fmt.Sprintf(`"/%d":{"$ref":"a.json"}`, i))
		}
		files := map[string]*doc.Node{
			"openapi.json": doctest.Node(t, document(`"paths":{`+strings.Join(paths, ",")+`}`)),
			"a.json":       doctest.Node(t, `{"summary":"`+strings.Repeat("x", 50_000)+`"}`),
		}
		if _, err := bundle.Join(files, "openapi.json"); !errors.Is(err, bundle.ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("nesting that comes of putting in place", func(t *testing.T) {
		files := map[string]*doc.Node{"openapi.json": doctest.Node(t, document(`"paths":{"/a":{"$ref":"0.json"}}`))}
		for i := range 60 {
			files[fmt.Sprintf("%d.json", i)] = doctest.Node(t, fmt.Sprintf(`{"get":{"callbacks":{"a":{"x":{"$ref":"%d.json"}}}}}`, i+1))
		}
		files["60.json"] = doctest.Node(t, `{}`)
		if _, err := bundle.Join(files, "openapi.json"); !errors.Is(err, bundle.ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("many references into one array", func(t *testing.T) {
		const n = 20_000
		var refs, items []string
		for i := range n {
			refs, items = append(refs, fmt.Sprintf(`{"$ref":"a.json#/%d/x"}`, i)), append(items, `{"x":{}}`)
		}
		got, err := bundle.Join(map[string]*doc.Node{"openapi.json": doctest.Node(t, document(get(`{"allOf":[`+strings.Join(refs, ",")+`]}`))), "a.json": doctest.Node(t, `[`+strings.Join(items, ",")+`]`)}, "openapi.json")
		if err != nil || got.Get("components", "schemas").Len() != n {
			t.Error(err, got.Get("components", "schemas").Len())
		}
	})
}

func TestMainFile(t *testing.T) {
	for names, want := range map[string]string{
		"openapi.json": "openapi.json", "a.json openapi.yml": "openapi.yml", "openapi.yaml openapi.json": "openapi.json", "api/openapi.yaml api/s/a.json": "api/openapi.yaml",
		"openapi.yml api/openapi.json": "openapi.yml", "api/openapi.json other/a.json": "", "api/openapi.json readme.json": "", "a/b/openapi.json": "", "swagger.json": "", "": "", "Openapi.json": "",
	} {
		got, err := bundle.Main(strings.Fields(names))
		if got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, bundle.ErrMain) {
			t.Errorf("%q: %q, %v", names, got, err)
		}
	}
}

// FuzzJoin: any files are joined or refused, and the result refers to no other file.
func FuzzJoin(f *testing.F) {
	f.Add(document(get(`{"$ref":"a.json"}`)), `{"items":{"$ref":"s/b.json#/x"}}`, `{"x":{"$ref":"../a.json"}}`)
	f.Add(document(`"paths":{"/a":{"$ref":"a.json"}},"components":{"schemas":{"A":{"$ref":"s/b.json"}}}`), `{"get":{"parameters":[{"$ref":"s/b.json#/p"}]}}`, `{"p":{}}`)
	f.Add(document(`"paths":{"$ref":"a.json"}`), `{"/x":{"$ref":"s/b.json"}}`, `{"$ref":"../a.json"}`)
	f.Fuzz(func(t *testing.T, main, a, b string) {
		files := map[string]*doc.Node{}
		for name, text := range map[string]string{"openapi.json": main, "a.json": a, "s/b.json": b} {
			n, err := doc.ParseNode([]byte(text))
			if err != nil {
				return
			}
			files[name] = n
		}
		got, err := bundle.Join(files, "openapi.json")
		if err != nil {
			return
		}
		again, err := bundle.Join(map[string]*doc.Node{"openapi.json": got}, "openapi.json")
		if err != nil || !again.Equal(got) {
			t.Errorf("the result is not complete: %v\n%s", err, got.JSON())
		}
	})
}
