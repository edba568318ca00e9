package datagraph_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/description/datagraph"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

var update = flag.Bool("update", false, "write the golden files as they are now; read the diff")

// from makes a definition from a document of either kind.
func from(document *doc.Node) (*doc.Node, error) {
	if document.Get("asyncapi") != nil {
		return datagraph.FromAsyncAPI(document)
	}
	return datagraph.FromOpenAPI(document)
}

// sound checks properties of every definition: gateways can decode and load it, and the parts
// of the graph are consistent.
func sound(t testing.TB, n *doc.Node) {
	t.Helper()
	for _, p := range classic.Check(n) {
		t.Errorf("type: %s", p)
	}
	for _, p := range validation.Classic(n) {
		t.Errorf("rule: %s", p)
	}
	schema, err := readSDL(n.Get("graphql", "schema").Text())
	if err != nil {
		t.Fatalf("%v in\n%s", err, n.Get("graphql", "schema").Text())
	}
	engine := n.Get("graphql", "engine")
	sourced := map[string]bool{}
	for _, s := range engine.Get("data_sources").Items() {
		for _, r := range s.Get("root_fields").Items() {
			for _, f := range r.Get("fields").Texts() {
				sourced[r.Get("type").Text()+"."+f] = true
				args := schema[r.Get("type").Text()][f]
				if args == nil {
					t.Errorf("%s has no field %s", r.Get("type").Text(), f)
				}
				for _, m := range regexp.MustCompile(`\{\{\.arguments\.(.*?)\}\}`).FindAllStringSubmatch(string(s.Get("config").JSON()), -1) {
					if !args[m[1]] {
						t.Errorf("%s has no argument %s", f, m[1])
					}
				}
			}
		}
	}
	for _, c := range engine.Get("field_configs").Items() {
		if schema[c.Get("type_name").Text()][c.Get("field_name").Text()] == nil {
			t.Errorf("a mapping for %s.%s, which does not exist", c.Get("type_name").Text(), c.Get("field_name").Text())
		}
	}
	for _, name := range []string{"Query", "Mutation", "Subscription"} {
		for f := range schema[name] {
			if f != "_" && !sourced[name+"."+f] {
				t.Errorf("%s.%s comes from nowhere", name, f)
			}
		}
	}
}

func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/*.in.json")
	if err != nil || len(inputs) == 0 {
		t.Fatal("no inputs", err)
	}
	for _, in := range inputs {
		t.Run(filepath.Base(in), func(t *testing.T) {
			text, err := os.ReadFile(in)
			if err != nil {
				t.Fatal(err)
			}
			document := doctest.Node(t, string(text))
			before := string(document.JSON())
			n, err := from(document)
			if err != nil {
				t.Fatal(err)
			}
			if string(document.JSON()) != before {
				t.Error("the document has changed")
			}
			sound(t, n)
			got := golden(t, n)
			file := strings.TrimSuffix(in, ".in.json") + ".golden"
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(file); err != nil || string(want) != got {
				t.Errorf("differs from %s (%v):\n%s", file, err, got)
			}
		})
	}
}

// golden returns a readable form of a definition: the schema as text, the rest as JSON.
func golden(t *testing.T, n *doc.Node) string {
	t.Helper()
	schema := n.Get("graphql", "schema").Text()
	n.Get("graphql").Delete("schema")
	text, err := json.MarshalIndent(n, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return schema + "\n" + string(text) + "\n"
}

const head = `"openapi":"3.0.3","info":{"title":"T"},"servers":[{"url":"http://t"}]`

func operation(response string) string {
	return `{` + head + `,"paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":` + response + `}}}}}}}}`
}

func TestRefusals(t *testing.T) {
	const async = `"asyncapi":"2.0.0","info":{"title":"T"},"servers":{"k":{"url":"k:1","protocol":"kafka"}}`
	for text, place := range map[string]string{
		`{}`: "openapi", `[]`: "openapi", `{"openapi":"3.2.0"}`: "openapi", `{"openapi":"3.0"}`: "openapi", `{"openapi":"3.1.0"}`: "info.title",
		`{"openapi":"3.0.0","info":{"title":"T"}}`:                                  "servers",
		`{"openapi":"3.0.0","info":{"title":"T"},"servers":[{"url":"/v1"}]}`:        "servers",
		`{"openapi":"3.0.0","info":{"title":"T"},"servers":[{"url":"ftp://x"}]}`:    "servers",
		`{"openapi":"3.0.0","info":{"title":"T"},"servers":[{"url":"http://{h}"}]}`: "servers",
		`{` + head + `}`: "paths",
		`{` + head + `,"paths":{"/a":{"head":{}}}}`:                                                            "paths",
		`{` + head + `,"paths":{"/a":{"post":{"requestBody":{"required":true,"content":{"text/plain":{}}}}}}}`: "paths",
		`{` + head + `,"paths":{"/a":{"post":{"requestBody":{"$ref":"#/x"}}}}}`:                                "paths./a.post.requestBody",
		`{` + head + `,"paths":{"/a":{"get":{"parameters":[{"$ref":"#/x"}]}}}}`:                                "paths./a.get.parameters",
		`{` + head + `,"paths":{"/a":{"get":{"responses":{"200":{"$ref":"other.yaml"}}}}}}`:                    "paths./a.get.responses.200",
		`{` + head + `,"paths":{"/a":{"get":{"servers":[{"url":"x"}]}}}}`:                                      "paths./a.get.servers",
		operation(`{"$ref":"#/x"}`):                                                   "paths./a.get.responses.200",
		operation(`{"type":"object","properties":{"x":{"$ref":"#/x"}}}`):              "paths./a.get.responses.200.x",
		strings.TrimSuffix(operation(`{"$ref":"#/x"}`), "}") + `,"x":{"$ref":"#/x"}}`: "paths./a.get.responses.200",
		`{"asyncapi":"2.5.0"}`:                                                        "asyncapi", `{"asyncapi":"3.0.0"}`: "asyncapi", `{"asyncapi":"2.4.0"}`: "info.title",
		`{"asyncapi":"2.4.0","info":{"title":"T"}}`:                                                  "servers",
		`{"asyncapi":"2.4.0","info":{"title":"T"},"servers":{"m":{"url":"m","protocol":"mqtt"}}}`:    "servers",
		`{"asyncapi":"2.4.0","info":{"title":"T"},"servers":{"k":{"url":"a b","protocol":"kafka"}}}`: "servers.k.url",
		`{` + async + `}`: "channels",
		`{` + async + `,"channels":{"c":{"publish":{}}}}`:                           "channels",
		`{` + async + `,"channels":{"c":{"servers":["m"],"subscribe":{}}}}`:         "channels.c.servers",
		`{` + async + `,"channels":{"c":{"subscribe":{"message":{"$ref":"#/x"}}}}}`: "channels.c.subscribe.message",
	} {
		n, err := from(doctest.Node(t, text))
		if f, ok := errors.AsType[*fault.Error](err); n != nil || !ok || f.Kind != fault.Invalid || f.Code != datagraph.Code || f.Field != place || !strings.HasPrefix(f.Message, place+": ") {
			t.Errorf("%s: %v, want %s", text, err, place)
		}
	}
}

// Small documents that describe much terminate soon, with a result or an error.
func TestBounds(t *testing.T) {
	var many, doubling strings.Builder
	for i := range 400 {
		fmt.Fprintf(&many, `{"name":"p%d","in":"query"},`, i)
		fmt.Fprintf(&doubling, `"/p%d":{"$ref":"#/paths/~1big"},`, i)
	}
	refused := map[string]bool{"parameters": true}
	for name, text := range map[string]string{
		"parameters": `{` + head + `,"paths":{` + doubling.String() + `"/big":{"parameters":[` + strings.TrimSuffix(many.String(), ",") + `],"get":{},"post":{},"put":{},"patch":{},"delete":{}}}}`,
		"lists":      strings.TrimSuffix(operation(`{"$ref":"#/x"}`), "}") + `,"x":{"type":"array","items":{"$ref":"#/x"}}}`,
		"parts":      strings.TrimSuffix(operation(`{"$ref":"#/x"}`), "}") + `,"x":{"allOf":[{"$ref":"#/x"},{"$ref":"#/x"}],"properties":{"a":{"$ref":"#/x"}}}}`,
		"nested":     operation(strings.Repeat(`{"type":"object","properties":{"a_rather_long_name":`, 3000) + `{}` + strings.Repeat(`}}`, 3000)),
		"either":     operation(strings.Repeat(`{"oneOf":[`, 3000) + `{}` + strings.Repeat(`]}`, 3000)),
	} {
		n, err := from(doctest.Node(t, text))
		if refused[name] != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			sound(t, n)
		}
	}
}

func FuzzGraph(f *testing.F) {
	inputs, _ := filepath.Glob("testdata/*.in.json")
	for _, in := range inputs {
		text, err := os.ReadFile(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(operation(`{"oneOf":[{"type":"null"},{"enum":["a","b",null]}]}`))
	f.Add(operation(`{"type":["object","null"],"allOf":[{"required":["__a"]},{"properties":{"__a":true,"_a":{},"1":{"items":{"items":{}}}}}]}`))
	f.Fuzz(func(t *testing.T, text string) {
		document, err := doc.ParseNode([]byte(text))
		if err != nil {
			return
		}
		for _, make := range []func(*doc.Node) (*doc.Node, error){datagraph.FromOpenAPI, datagraph.FromAsyncAPI} {
			n, err := make(document)
			if err != nil {
				if fault.KindOf(err) != fault.Invalid || n != nil {
					t.Fatal(n, err)
				}
				continue
			}
			sound(t, n)
			if again, _ := make(document); string(again.JSON()) != string(n.JSON()) {
				t.Error("another definition the second time")
			}
		}
	})
}

// TestLongServers: the length of a URL with its variables is computed without building it;
// this one would not fit into memory.
func TestLongServers(t *testing.T) {
	d := doctest.Node(t, `{"openapi":"3.0.3","info":{"title":"a","version":"1"},"paths":{"/a":{"get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"string"}}}}}}}},`+
		`"servers":[{"url":"http://`+strings.Repeat("{a}", 2_000_000)+`","variables":{"a":{"default":"`+strings.Repeat("x", 4_000_000)+`"}}}]}`)
	if _, err := datagraph.FromOpenAPI(d); err == nil || !strings.Contains(fmt.Sprint(err), "longer than 2048 bytes") {
		t.Errorf("%.300v", err)
	}
}

// TestReferencesAreBounded: repeated work and text from references is limited. Without limits,
// each of these documents of a megabyte takes minutes or gigabytes.
func TestReferencesAreBounded(t *testing.T) {
	list := func(n int, format string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i))
		}
		return strings.Join(items, ",")
	}
	open := func(paths, components string) string {
		return `{"openapi":"3.0.3","info":{"title":"a","version":"1"},"servers":[{"url":"http://a.example"}],"paths":{` + paths + `},"components":{` + components + `}}`
	}
	async := func(servers, channels, channel string) string {
		return `{"asyncapi":"2.4.0","info":{"title":"a","version":"1"},"servers":{` + servers + `"k":{"url":"h:1","protocol":"kafka"}},"channels":{` + channels + `},"components":{"channels":{"c":` + channel + `}}}`
	}
	const (
		n    = 20_000
		get  = `"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"$~":"%/schemas/a"}}}}}}}`
		many = `"c#":{"$~":"%/channels/c"}`
	)
	long := strings.Repeat("x", n)
	used := `,"a":{"type":"object","properties":{` + list(n, `"p#":{"$~":"%/schemas/s"}`) + `}}}`
	parts := func(n int) string {
		return list(n, `"s#":{"type":"object","allOf":[{"$~":"%/schemas/s"},{"properties":{"z":{}}}]}`) + `,"a":{"type":"object","properties":{` + list(n, `"p#":{"$~":"%/schemas/s#"}`) + `}}}`
	}
	for name, c := range map[string]struct{ text, contains string }{
		"values of an enumeration": {open(get, `"schemas":{"s":{"type":"string","enum":[`+list(n, `"v#"`)+`]}`+used), "steps"},
		"alternatives":             {open(get, `"schemas":{"s":{"oneOf":[`+list(n, "{}")+`]}`+used), "steps"},
		"required members":         {open(get, `"schemas":{"s":{"required":[`+list(n, `"r#"`)+`]},`+parts(n)), "steps"},
		"names of members":         {open(get, `"schemas":{"s":{"properties":{"x-`+long+`":{}}},`+parts(n/10)), "MiB"},
		"parameters": {open(list(n, `"/a#":{"$~":"%/pathItems/p"}`), `"pathItems":{"p":{"parameters":[`+list(n, `{"in":"header","name":"h#"}`)+`],"get":{}}}`),
			"steps"},
		"names of parameters": {open(list(n, `"/a#":{"get":{"parameters":[{"$~":"%/parameters/p"}]}}`), `"parameters":{"p":{"in":"query","name":"`+long+`"}}`), "MiB"},
		"addresses":           {strings.ReplaceAll(open(list(n, `"/a#":{"get":{}}`), ``), "a.example", "a.example/"+long[:2000]), "MiB"},
		"servers":             {async(list(n, `"s#":{"url":"x","protocol":"mqtt"}`)+",", list(n, `"c#":{"subscribe":{}}`), `{}`), "steps"},
		"topics":              {async("", list(n, many), `{"bindings":{"kafka":{"topic":"`+long+`"}},"subscribe":{}}`), "MiB"},
		"groups":              {async("", list(n, many), `{"subscribe":{"bindings":{"kafka":{"groupId":{"enum":[`+list(n, `""`)+`]}}}}}`), "steps"},
		"long references":     {open(get, `"schemas":{"s":{"$~":"%/schemas/`+long[:15_000]+`"},"`+long[:15_000]+`":{"type":"string"}`+used), "steps"},
	} {
		text := strings.NewReplacer("$~", "$ref", "%", "#/components").Replace(c.text)
		if _, err := from(doctest.Node(t, text)); err == nil || !strings.Contains(err.Error(), c.contains) {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}
