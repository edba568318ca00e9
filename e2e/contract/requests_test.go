package contract_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// requests generates valid and invalid requests for one operation.
type requests struct {
	t    testing.TB
	s    *service
	o    operation.Operation
	plan plan
	file *described // the operation in the published file; nil: it has none
	send func(request)
	rng  *rand.Rand
	kept map[string]string // the records for an operation that only reads
}

// all sends them.
func (r *requests) all() {
	good := r.good()
	r.send(r.request(good, nil))
	for i := range good[1:] {
		r.send(r.request(r.good()[i+1:], nil))
	}
	r.parameters()
	r.headers()
	r.strangers()
	r.wrongPaths()
	if r.o.Body != nil {
		r.odd()
		r.broken()
		r.generated()
		r.mediaTypes()
	}
}

// body is a valid body with its path.
type body struct {
	path map[string]string
	text string
}

// good returns valid bodies, at least one, for existing records.
func (r *requests) good() []body {
	var path map[string]string
	switch reading := r.o.Method == "GET"; {
	case r.plan.path == nil:
	case reading && r.kept != nil:
		path = r.kept
	default:
		path = r.plan.path(r.t, r.s)
		r.kept = path
	}
	if r.plan.bodies == nil {
		return []body{{path, example(r.t, r.o)}}
	}
	var out []body
	for _, text := range r.plan.bodies(r.s, path) {
		out = append(out, body{path, text})
	}
	return out
}

// example returns the body of the description's example, "" if there is none.
func example(t testing.TB, o operation.Operation) string {
	if o.Request == nil {
		return ""
	}
	text, err := json.Marshal(o.Request)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (r *requests) request(good []body, change func(*request)) request {
	out := request{method: r.o.Method, path: fill(r.o, good[0].path), as: r.s.caller(r.t, r.o, r.plan), body: []byte(good[0].text)}
	if r.plan.header != nil {
		out.header = filled(r.plan.header[0], good[0].path)
	}
	if change != nil {
		change(&out)
	}
	for name, value := range r.plan.always {
		if out.query == nil {
			out.query = url.Values{}
		}
		if !out.query.Has(name) {
			out.query.Set(name, value)
		}
	}
	for _, values := range out.query {
		for i, v := range values {
			if key, ok := operation.Placeholder(v); ok {
				values[i] = good[0].path[key]
			}
		}
	}
	return out
}

// filled replaces the placeholders of headers.
func filled(header, values map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range header {
		if key, ok := operation.Placeholder(value); ok {
			value = values[key]
		}
		out[name] = value
	}
	return out
}

// vary sends a valid request with a change.
func (r *requests) vary(why string, change func(*request)) {
	out := r.request(r.good(), change)
	out.why = why
	r.send(out)
}

// parameters sends every value of every query parameter.
func (r *requests) parameters() {
	for _, p := range r.o.Params {
		if p.In != "query" {
			continue
		}
		values := append([]string{"", "zzz", "ü\x00%", strings.Repeat("a", 300)}, r.plan.query[p.Name]...)
		if p.Type == reflect.TypeFor[bool]() {
			values = append(values, "true", "false", "1", "yes")
		}
		if r.file != nil {
			values = append(values, r.file.values(p.Name)...)
		}
		for _, v := range values {
			r.vary("query "+p.Name, func(out *request) { out.query = url.Values{p.Name: {v}} })
		}
	}
	r.vary("unknown query", func(out *request) { out.query = url.Values{"unknown": {"1"}, "accept_additional_properties": {"true"}} })
}

// headers sends the headers of the plan, and conditions.
func (r *requests) headers() {
	for _, h := range r.plan.header {
		if mediaType := h["Content-Type"]; strings.Contains(mediaType, "yaml") && r.o.Body != nil {
			r.vary("YAML", func(out *request) { out.header, out.body = h, r.yaml(out.body) })
			continue
		}
		r.vary("", func(out *request) { out.header = h })
	}
	if r.o.Method != "GET" && r.plan.path != nil {
		for _, h := range []map[string]string{{"If-Match": `"none"`}, {"If-Match": "*"}, {"If-None-Match": "*"}, {"If-Match": "garbage"}} {
			r.vary("condition", func(out *request) { out.header = together(out.header, h) })
		}
	}
}

func (r *requests) yaml(text []byte) []byte {
	n, err := doc.ParseNode(text)
	if err != nil {
		r.t.Fatal(err)
	}
	out, err := yaml.Codec{}.Format(n)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// strangers sends valid requests of callers without permission.
func (r *requests) strangers() {
	for _, who := range []caller{anonymous, stranger, inactive, nobody, writer, other, root, node} {
		if who != r.s.caller(r.t, r.o, r.plan) {
			r.vary("caller", func(out *request) { out.as = who })
		}
	}
}

// wrongPaths sends unknown and invalid identifiers.
func (r *requests) wrongPaths() {
	for _, p := range r.o.Params {
		if p.In != "path" {
			continue
		}
		for _, id := range []string{"nowhere", "000000000000000000000000", "ffffffffffffffffffffffffffffffff", " ", "a b", "ü", "a/b", "..", strings.Repeat("x", 300), "\x01", "a.b~c_d-e", "{id}", "%"} {
			r.vary("identifier", func(out *request) {
				good := r.good()[0]
				path := map[string]string{}
				for name, value := range good.path {
					path[name] = value
				}
				path[p.Name] = id
				out.path = fill(r.o, path)
			})
		}
	}
	for _, kind := range []string{classicKind, childKind, streamsKind, mcpKind} { // an API of another class
		if slices.ContainsFunc(r.o.Params, func(p operation.Param) bool { return p.In == "path" && p.Name == "apiId" }) {
			r.vary("another kind", func(out *request) {
				path := map[string]string{}
				for name, value := range r.good()[0].path {
					path[name] = value
				}
				path["apiId"] = r.s.create(r.t, kind)
				out.path = fill(r.o, path)
			})
		}
	}
}

// odd sends bodies that are not objects, or not JSON.
func (r *requests) odd() {
	for _, text := range []string{"", " ", "{", "{}", "[]", "[{}]", "null", "true", "7", `"text"`, `{"a":1}}`, "{'a':1}", `{"a":NaN}`, "\xff\xfe", "\x00", `{"a":"\ud800"}`,
		strings.Repeat("[", 300) + strings.Repeat("]", 300), strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200), `{"":{}}`, "- a\n- b", "<xml/>"} {
		r.vary("odd body", func(out *request) { out.body = []byte(text) })
	}
}

// broken sends bodies without a member, or with one of another type.
func (r *requests) broken() {
	template := r.good()
	n, err := doc.ParseNode([]byte(template[0].text))
	if err != nil {
		return
	}
	places := placesOf(n, nil, 6)
	r.rng.Shuffle(len(places), func(i, k int) { places[i], places[k] = places[k], places[i] })
	for _, at := range places[:min(len(places), 60)] {
		r.edited("without a member", func(n *doc.Node) { n.Delete(at...) })
		values := wrong()
		for range 2 {
			r.edited("another type", func(n *doc.Node) { put(n, values[r.rng.IntN(len(values))], at) })
		}
	}
	r.edited("another member", func(n *doc.Node) { n.Set("unknown", doc.NewString("x")) })
}

// edited sends a valid body with a change.
func (r *requests) edited(why string, change func(*doc.Node)) {
	r.vary(why, func(out *request) {
		n, err := doc.ParseNode(out.body)
		if err != nil {
			r.t.Fatal(err)
		}
		if n.Is(doc.TypeObject) {
			change(n)
		}
		out.body = n.JSON()
	})
}

// placesOf returns the paths of members, through objects only.
func placesOf(n *doc.Node, at []string, depth int) (out [][]string) {
	if depth == 0 {
		return nil
	}
	for name, v := range n.Members() {
		here := append(slices.Clone(at), name)
		out = append(append(out, here), placesOf(v, here, depth-1)...)
	}
	return out
}

// put sets a member if its parent is an object.
func put(n, v *doc.Node, at []string) {
	if parent := n.Get(at[:len(at)-1]...); parent.Is(doc.TypeObject) {
		parent.Set(at[len(at)-1], v)
	}
}

// wrong returns values that hardly ever have the right type.
func wrong() []*doc.Node {
	return []*doc.Node{doc.NewNull(), doc.NewBool(true), doc.NewInt(7), doc.NewInt(-1), doc.NewFloat(1.5), doc.NewString("x"), doc.NewString(""), doc.NewArray(), doc.NewObject(),
		doc.NewArray(doc.NewNull()), doc.NewStrings([]string{"a"}), number("1e400"), number("123456789012345678901234567890")}
}

func number(text string) *doc.Node {
	n, err := doc.ParseNode([]byte(text))
	if err != nil {
		panic(err)
	}
	return n
}

// generated sends bodies that follow the file's own schema.
func (r *requests) generated() {
	if r.file == nil {
		return
	}
	for range 12 {
		if text := r.file.body(r.rng); text != nil {
			r.vary("generated", func(out *request) { out.body = text })
		}
	}
}

// mediaTypes sends the body with wrong media types, and documents in every form.
func (r *requests) mediaTypes() {
	for _, mediaType := range []string{"application/x-www-form-urlencoded", "text/plain", "application/xml", "image/png; a=b", ";"} {
		r.vary("media type", func(out *request) { out.header = map[string]string{"Content-Type": mediaType} })
	}
	if r.o.Body != reflect.TypeFor[operation.Document]() {
		return
	}
	r.vary("form", func(out *request) {
		mediaType, text := form(r.t, out.body)
		out.header, out.body = map[string]string{"Content-Type": mediaType}, text
	})
	r.vary("archive", func(out *request) {
		main := bytes.Replace(out.body, []byte(`"#/components/schemas/Order"`), []byte(`"schemas/other.yaml"`), 1)
		mediaType, text := form(r.t, archive(r.t, string(main)))
		out.header, out.body = map[string]string{"Content-Type": mediaType}, text
	})
	for why, text := range map[string]string{"no archive": "PK\x03\x04xxxx", "empty file": "", "no description": "a: [", "a list": "- a"} {
		r.vary(why, func(out *request) {
			mediaType, text := form(r.t, []byte(text))
			out.header, out.body = map[string]string{"Content-Type": mediaType}, text
		})
	}
	r.vary("no form", func(out *request) { out.header = map[string]string{"Content-Type": "multipart/form-data"} })
	r.vary("cut off form", func(out *request) {
		mediaType, text := form(r.t, out.body)
		out.header, out.body = map[string]string{"Content-Type": mediaType}, text[:len(text)/2]
	})
	r.vary("bad YAML", func(out *request) {
		out.header, out.body = map[string]string{"Content-Type": "application/x-yaml"}, fmt.Appendf(nil, "a: &a [*a]\n%s", "b: {")
	})
}
