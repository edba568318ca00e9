package portal

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/document"
	"github.com/gatehouse-io/gatehouse/ports/yaml"
)

// Bounds of the references that are drawn.
const (
	maxReference  = 4 << 20 // bytes of a description
	maxValues     = 100_000
	maxOperations = 500
	maxFields     = 200 // of an operation
	maxLevels     = 4   // of fields below each other
)

var errReference = errors.New("the description cannot be drawn")

// reference is a description of an API as a page shows it.
type reference struct {
	Title, Version, Description string
	Servers                     []string
	Groups                      []group
	Cut                         bool // there are more operations than the page shows
}

type group struct {
	Name, Description string
	Operations        []call
}

// call is an operation of an API.
type call struct {
	Anchor, Method, Path, Summary, Description string
	Deprecated                                 bool
	Parameters, Body                           []field
	BodyType                                   string
	Responses                                  []response
	Samples                                    []sample
}

// field is a parameter, or a member of a body.
type field struct {
	Name, In, Type, Description string
	Required                    bool
	Level                       int
}

type response struct {
	Status, Description string
	Fields              []field
}

type object = map[string]any

// reference draws an OpenAPI description.
func (s *server) reference(d described) (out reference, err error) {
	if len(d.Text) > maxReference {
		return out, errReference
	}
	text := []byte(d.Text)
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		n, err := s.YAML.Parse(text, yaml.Limits{Bytes: maxReference, Values: maxValues})
		if err != nil {
			return out, err
		}
		text = n.JSON()
	}
	var root object
	if err := json.Unmarshal(text, &root); err != nil {
		return out, err
	}
	info := objectOf(root["info"])
	b := drawer{root: root}
	out = reference{Title: str(info["title"]), Version: str(info["version"]), Description: str(info["description"]), Servers: servers(root)}
	out.Groups, out.Cut = b.groups(out.Servers)
	return out, nil
}

func objectOf(v any) object { o, _ := v.(object); return o }

func listOf(v any) []any { l, _ := v.([]any); return l }

func str(v any) string { s, _ := v.(string); return s }

// servers are the addresses at which an API is.
func servers(root object) (out []string) {
	for _, s := range listOf(root["servers"]) {
		if at := str(objectOf(s)["url"]); at != "" && len(out) < 10 {
			out = append(out, at)
		}
	}
	if host := str(root["host"]); host != "" {
		out = append(out, "https://"+host+str(root["basePath"]))
	}
	return out
}

// drawer knows the whole description: parts refer to others.
type drawer struct {
	root   object
	fields int
}

// groups returns the operations by their first tag, in the order in which tags come.
func (b *drawer) groups(servers []string) (out []group, cut bool) {
	at := map[string]int{}
	add := func(name, description string) int {
		if _, known := at[name]; !known {
			at[name] = len(out)
			out = append(out, group{Name: name, Description: description})
		}
		return at[name]
	}
	for _, t := range listOf(b.root["tags"]) {
		add(str(objectOf(t)["name"]), str(objectOf(t)["description"]))
	}
	n := 0
	paths := objectOf(b.root["paths"])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := objectOf(b.follow(paths[path]))
		for _, method := range document.Methods {
			o := objectOf(item[method])
			if o == nil {
				continue
			}
			if n++; n > maxOperations {
				return used(out), true
			}
			name := "Operations"
			if tags := listOf(o["tags"]); len(tags) > 0 {
				name = str(tags[0])
			}
			i := add(name, "")
			out[i].Operations = append(out[i].Operations, b.call(document.Anchor(method, path), method, path, item, o, servers))
		}
	}
	return used(out), false
}

// used leaves out groups without operations.
func used(all []group) []group {
	return slices.DeleteFunc(all, func(g group) bool { return len(g.Operations) == 0 })
}

// follow returns what a reference within the description refers to.
func (b *drawer) follow(v any) any {
	for range maxLevels {
		ref := str(objectOf(v)["$ref"])
		path, own := strings.CutPrefix(ref, "#/")
		if !own {
			return v
		}
		v = any(b.root)
		for name := range strings.SplitSeq(path, "/") {
			v = objectOf(v)[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
		}
	}
	return v
}

func (b *drawer) call(anchor, method, path string, item, o object, servers []string) call {
	b.fields = 0
	out := call{Anchor: anchor, Method: strings.ToUpper(method), Path: path, Summary: str(o["summary"]), Description: str(o["description"]), Deprecated: o["deprecated"] == true}
	if out.Summary == "" {
		out.Summary = orElse(str(o["operationId"]), out.Method+" "+path)
	}
	for _, p := range append(slices.Clone(listOf(item["parameters"])), listOf(o["parameters"])...) {
		b.parameter(&out, objectOf(b.follow(p)))
	}
	body := objectOf(b.follow(o["requestBody"]))
	out.BodyType, out.Body = b.content(body)
	responses := objectOf(o["responses"])
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		r := objectOf(b.follow(responses[status]))
		_, fields := b.content(r)
		out.Responses = append(out.Responses, response{status, str(r["description"]), fields})
	}
	out.Samples = samples(out, servers)
	return out
}

func (b *drawer) parameter(out *call, p object) {
	if p == nil || b.fields >= maxFields {
		return
	}
	b.fields++
	if str(p["in"]) == "body" {
		out.BodyType = "application/json"
		b.members(&out.Body, b.follow(p["schema"]), 0)
		return
	}
	schema := p["schema"]
	if schema == nil {
		schema = p
	}
	out.Parameters = append(out.Parameters, field{Name: str(p["name"]), In: str(p["in"]), Type: b.typeOf(schema), Description: str(p["description"]), Required: p["required"] == true})
}

// content returns the first media type of a body or an answer, and its members.
func (b *drawer) content(v object) (mediaType string, out []field) {
	content := objectOf(v["content"])
	types := slices.Sorted(maps.Keys(content))
	if i := slices.Index(types, "application/json"); i > 0 {
		types[0] = types[i]
	}
	if len(types) > 0 {
		mediaType = types[0]
		b.members(&out, objectOf(content[mediaType])["schema"], 0)
	} else if s := v["schema"]; s != nil {
		b.members(&out, s, 0)
	}
	return mediaType, out
}

// members adds the members of a schema, and of those below.
func (b *drawer) members(out *[]field, schema any, level int) {
	s := objectOf(b.follow(schema))
	if s == nil || level >= maxLevels {
		return
	}
	if items := s["items"]; items != nil {
		b.members(out, items, level)
		return
	}
	for _, part := range listOf(s["allOf"]) {
		b.members(out, part, level)
	}
	required := listOf(s["required"])
	properties := objectOf(s["properties"])
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if b.fields++; b.fields > maxFields {
			return
		}
		p := objectOf(b.follow(properties[name]))
		*out = append(*out, field{Name: name, Type: b.typeOf(properties[name]), Description: str(p["description"]), Required: slices.Contains(required, any(name)), Level: level})
		b.members(out, p, level+1)
	}
}

// typeOf says in words what a schema takes.
func (b *drawer) typeOf(schema any) string {
	s := objectOf(b.follow(schema))
	kind := str(s["type"])
	if several := listOf(s["type"]); len(several) > 0 {
		kind = str(several[0])
	}
	switch {
	case kind == "array":
		inner := objectOf(b.follow(s["items"]))
		return "array of " + orElse(str(inner["type"]), "values")
	case kind == "" && (s["properties"] != nil || s["allOf"] != nil):
		return "object"
	}
	if format := str(s["format"]); format != "" {
		return orElse(kind, "value") + " (" + format + ")"
	}
	return orElse(kind, "value")
}
