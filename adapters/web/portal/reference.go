package portal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/document"
	"github.com/gatehouse-io/gatehouse/ports/yaml"
)

// Bounds of the references that are rendered.
const (
	maxReference  = 4 << 20 // bytes of a description
	maxValues     = 100_000
	maxOperations = 500
	maxFields     = 200       // of an operation: parameters, members and responses
	maxSchemas    = 2_000     // schemas visited for an operation
	maxLevels     = 4         // nesting depth of fields
	maxParts      = 16        // nested lists and subschemas without a field between them
	maxTexts      = 512 << 10 // bytes of the texts and samples of all operations
	maxRows       = 512 << 10 // bytes of the fields and responses of all operations
	perRow        = 100       // bytes of a table row besides its texts
	maxWork       = 16 << 20  // bytes of followed references and of other visited values
	perLook       = 16        // bytes that a visit counts besides the reference
)

var errReference = errors.New("the description cannot be drawn")

// reference is an API description in the form that a page shows.
type reference struct {
	Title, Version, Description string
	Servers                     []string
	Groups                      []group
	Cut                         bool // the page does not show everything
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

// reference converts an OpenAPI description for a page.
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
	b := drawer{root: root, texts: maxTexts, rows: maxRows, work: maxWork}
	out = reference{Title: b.text(info["title"]), Version: b.text(info["version"]), Description: b.text(info["description"])}
	for _, s := range listOf(root["servers"]) {
		if at := str(objectOf(s)["url"]); at != "" && len(out.Servers) < 10 {
			out.Servers = append(out.Servers, b.text(at))
		}
	}
	if host := str(root["host"]); host != "" {
		out.Servers = append(out.Servers, b.text("https://"+host+str(root["basePath"])))
	}
	if len(out.Servers) == 0 && d.ServedAt != "" {
		out.Servers = []string{d.ServedAt}
	}
	out.Groups = b.groups(out.Servers)
	out.Cut = b.cut
	return out, nil
}

func objectOf(v any) object { o, _ := v.(object); return o }

func listOf(v any) []any { l, _ := v.([]any); return l }

func str(v any) string { s, _ := v.(string); return s }

// drawer converts a description, whose parts refer to others. If many parts refer to the same
// part, a short description becomes a long reference; so drawer counts its output and its
// work against budgets.
type drawer struct {
	root        object
	texts, rows int  // output bytes left
	work        int  // work bytes left
	cut         bool // something was left out

	fields, schemas int // of the current operation
}

// text returns a text, cut to the output bytes left.
func (b *drawer) text(v any) string {
	s := str(v)
	if len(s) > b.texts {
		s, b.cut = strings.ToValidUTF8(s[:max(b.texts, 0)], ""), true
	}
	b.texts -= len(s)
	return s
}

// looks reports whether the budget suffices for n visits, and spends it. Lists and long
// references that many operations share cost their length each time.
func (b *drawer) looks(n, bytes int) bool {
	b.work -= n*perLook + bytes
	b.cut = b.cut || b.work < 0
	return b.work >= 0
}

// hasRoom reports whether there is room for another row.
func (b *drawer) hasRoom() bool {
	full := b.fields >= maxFields || b.rows <= 0
	b.cut = b.cut || full
	return !full
}

// row reports whether there is room for a row with the given texts, and spends it.
func (b *drawer) row(texts ...string) bool {
	cost := perRow
	for _, s := range texts {
		cost += len(s)
	}
	if !b.hasRoom() {
		return false
	}
	b.fields++
	b.rows -= cost
	b.cut = b.cut || b.rows < 0
	return b.rows >= 0
}

// groups returns the operations by their first tag, in the order of the tags.
func (b *drawer) groups(servers []string) (out []group) {
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
			if n++; n > maxOperations || b.texts <= 0 || b.work <= 0 {
				b.cut = true
				return b.used(out)
			}
			name := "Operations"
			if tags := listOf(o["tags"]); len(tags) > 0 {
				name = str(tags[0])
			}
			i := add(name, "")
			out[i].Operations = append(out[i].Operations, b.call(document.Anchor(method, path), method, path, item, o, servers))
		}
	}
	return b.used(out)
}

// used removes groups without operations.
func (b *drawer) used(all []group) []group {
	all = slices.DeleteFunc(all, func(g group) bool { return len(g.Operations) == 0 })
	for i := range all {
		all[i].Description = b.text(all[i].Description)
	}
	return all
}

// pointerEscapes unescapes tokens of a JSON pointer (RFC 6901, 4).
var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// follow returns the target of a reference within the description.
func (b *drawer) follow(v any) any {
	for range maxLevels {
		ref := str(objectOf(v)["$ref"])
		path, own := strings.CutPrefix(ref, "#/")
		if !own {
			return v
		}
		if !b.looks(1, len(ref)) {
			return nil
		}
		v = any(b.root)
		for name := range strings.SplitSeq(path, "/") {
			if v = objectOf(v)[pointerEscapes.Replace(name)]; v == nil {
				return nil
			}
		}
	}
	return v
}

func (b *drawer) call(anchor, method, path string, item, o object, servers []string) call {
	b.fields, b.schemas = 0, 0
	out := call{Anchor: anchor, Method: strings.ToUpper(method), Path: b.text(path), Summary: b.text(o["summary"]), Description: b.text(o["description"]), Deprecated: o["deprecated"] == true}
	if out.Summary == "" {
		out.Summary = cmp.Or(b.text(o["operationId"]), out.Method+" "+out.Path)
	}
	shared, own := listOf(item["parameters"]), listOf(o["parameters"])
	if !b.looks(len(shared)+len(own), 0) {
		shared, own = nil, nil
	}
	for _, p := range slices.Concat(shared, own) {
		p := objectOf(b.follow(p))
		if p == nil {
			continue
		}
		schema := p["schema"]
		if str(p["in"]) == "body" {
			out.BodyType = "application/json"
			b.members(&out.Body, schema, 0, nil)
			continue
		}
		if schema == nil {
			schema = p
		}
		f := field{Name: str(p["name"]), In: str(p["in"]), Type: b.typeOf(schema), Description: str(p["description"]), Required: p["required"] == true}
		if !b.row(f.Name, f.In, f.Type, f.Description) {
			break
		}
		out.Parameters = append(out.Parameters, f)
	}
	body := objectOf(b.follow(o["requestBody"]))
	out.BodyType, out.Body = b.content(body)
	out.BodyType = b.text(out.BodyType)
	responses := objectOf(o["responses"])
	if len(responses) > 0 && (!b.hasRoom() || !b.looks(len(responses), 0)) {
		responses = nil
	}
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		r := objectOf(b.follow(responses[status]))
		description := str(r["description"])
		if !b.row(status, description) {
			break
		}
		_, fields := b.content(r)
		out.Responses = append(out.Responses, response{status, description, fields})
	}
	out.Samples = samples(out, servers)
	for _, s := range out.Samples {
		b.texts -= len(s.Text)
	}
	return out
}

// content returns the first media type of a body or a response, and its members.
func (b *drawer) content(v object) (mediaType string, out []field) {
	content := objectOf(v["content"])
	if b.schemas += len(content); b.schemas > maxSchemas || !b.looks(len(content), 0) {
		b.cut = true
		return "", nil
	}
	types := slices.Sorted(maps.Keys(content))
	if i := slices.Index(types, "application/json"); i > 0 {
		types[0] = types[i]
	}
	if len(types) > 0 {
		mediaType = types[0]
		b.members(&out, objectOf(content[mediaType])["schema"], 0, nil)
	} else if s := v["schema"]; s != nil {
		b.members(&out, s, 0, nil)
	}
	return mediaType, out
}

// members appends the members of a schema, and of nested schemas. parts are the enclosing
// references: a schema that refers to itself is not expanded again.
func (b *drawer) members(out *[]field, schema any, level int, parts []string) {
	ref := str(objectOf(schema)["$ref"])
	s := objectOf(b.follow(schema))
	if s == nil || level >= maxLevels || ref != "" && slices.Contains(parts, ref) {
		return
	}
	if b.schemas++; b.schemas > maxSchemas || len(parts) >= maxParts {
		b.cut = true
		return
	}
	parts = append(parts, ref)
	if items := s["items"]; items != nil {
		b.members(out, items, level, parts)
		return
	}
	for _, part := range listOf(s["allOf"]) {
		if b.schemas > maxSchemas {
			return
		}
		b.members(out, part, level, parts)
	}
	properties := objectOf(s["properties"])
	names := listOf(s["required"])
	if len(properties) == 0 || !b.hasRoom() || !b.looks(len(properties)+len(names), 0) {
		return
	}
	required := make(map[string]bool, len(names))
	for _, name := range names {
		required[str(name)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p := objectOf(b.follow(properties[name]))
		f := field{Name: name, Type: b.typeOf(properties[name]), Description: str(p["description"]), Required: required[name], Level: level}
		if !b.row(f.Name, f.Type, f.Description) {
			return
		}
		*out = append(*out, f)
		b.members(out, properties[name], level+1, nil)
	}
}

// typeOf describes the type of a schema in words.
func (b *drawer) typeOf(schema any) string {
	s := objectOf(b.follow(schema))
	kind := str(s["type"])
	if several := listOf(s["type"]); len(several) > 0 {
		kind = str(several[0])
	}
	switch {
	case kind == "array":
		inner := objectOf(b.follow(s["items"]))
		return "array of " + cmp.Or(str(inner["type"]), "values")
	case kind == "" && (s["properties"] != nil || s["allOf"] != nil):
		return "object"
	}
	if format := str(s["format"]); format != "" {
		return cmp.Or(kind, "value") + " (" + format + ")"
	}
	return cmp.Or(kind, "value")
}
