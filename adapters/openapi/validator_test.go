package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// harbour is a valid document that uses most of OpenAPI.
const harbour = `{"openapi":"3.0.3","info":{"title":"Harbour","version":"2","license":{"name":"MIT"},"contact":{"email":"a@b.example"}},
"servers":[{"url":"https://{region}.example/v1","variables":{"region":{"default":"north","enum":["north","south"]}}}],
"tags":[{"name":"berths"}],"security":[{"key":[]},{"login":["read"]}],
"paths":{
 "/berths/{berth}":{"parameters":[{"name":"berth","in":"path","required":true,"schema":{"type":"string"}}],
  "get":{"operationId":"readBerth","tags":["berths"],
   "parameters":[{"$ref":"#/components/parameters/Limit"},{"name":"deep","in":"query","style":"deepObject","explode":true,"schema":{"type":"object"}},
    {"name":"filter","in":"query","content":{"application/json":{"schema":{"type":"object"}}}}],
   "responses":{"200":{"description":"ok","headers":{"X-Left":{"schema":{"type":"integer"}}},
     "content":{"application/json":{"schema":{"$ref":"#/components/schemas/Berth"},"example":{"name":"a"}}},"links":{"next":{"operationId":"readBerth"}}},
    "default":{"$ref":"#/components/responses/No"}}},
  "put":{"operationId":"writeBerth","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Berth"}}}},
   "responses":{"204":{"description":"done"}},"callbacks":{"moved":{"{$request.body#/url}":{"post":{"responses":{"200":{"description":"ok"}}}}}}}},
 "/berths":{"get":{"operationId":"listBerths","responses":{"2XX":{"description":"ok"}}}}},
"components":{
 "schemas":{"Berth":{"type":"object","required":["name"],"properties":{"name":{"type":"string","pattern":"^\\u0061+$","maxLength":9},
   "boats":{"type":"array","items":{"$ref":"#/components/schemas/Berth"}},"depth":{"type":"number","minimum":0,"example":1},"id":{"type":"string","readOnly":true}}}},
 "parameters":{"Limit":{"name":"limit","in":"query","schema":{"type":"integer","default":10}}},
 "responses":{"No":{"description":"no"}},
 "securitySchemes":{"key":{"type":"apiKey","name":"X-Key","in":"header"},"jwt":{"type":"http","scheme":"bearer","bearerFormat":"JWT"},
  "login":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"https://l.example/a","tokenUrl":"https://l.example/t","scopes":{"read":"Read"}}}}}},
"x-tyk-api-gateway":{"info":{"name":"harbour","state":{"active":true}},"upstream":{"url":"http://up.example"},"server":{"listenPath":{"value":"/harbour/"}}}}`

// edited returns harbour with one member set; a nil value removes it.
func edited(t testing.TB, value string, path ...string) []byte {
	t.Helper()
	d, err := doc.ParseNode([]byte(harbour))
	if err != nil {
		t.Fatal(err)
	}
	if value == "" {
		d.Delete(path...)
		return d.JSON()
	}
	v, err := doc.ParseNode([]byte(value))
	if err != nil {
		t.Fatal(err)
	}
	d.Put(v, path...)
	return d.JSON()
}

func gateway(path ...string) []string { return append([]string{extension}, path...) }

func TestValidate(t *testing.T) {
	list := func(path ...string) []string { return append([]string{"paths", "/berths", "get"}, path...) }
	for _, c := range []struct {
		name     string
		path     []string
		value    string
		o        port.Options
		field    string // of a problem; "-": there is none
		contains string
	}{
		{name: "as it is", path: []string{"x-note"}, value: `1`, field: "-"},
		{name: "3.1", path: []string{"openapi"}, value: `"3.1.0"`, field: "-"},
		{name: "no version is 3.0", path: []string{"openapi"}, field: "", contains: "lacks openapi"},
		{name: "3.2", path: []string{"openapi"}, value: `"3.2.0"`, field: "openapi", contains: "no such version"},
		{name: "version of a wrong type", path: []string{"openapi"}, value: `3`, field: "openapi"},
		{name: "unknown member", path: gateway("server", "surprise"), value: `1`, field: "x-tyk-api-gateway.server", contains: "surprise"},
		{name: "unknown member allowed", path: gateway("server", "surprise"), value: `1`, o: port.Options{AllowUnknown: true}, field: "-"},
		{name: "unknown member of OpenAPI", path: []string{"surprise"}, value: `1`, o: port.Options{AllowUnknown: true}, field: "", contains: "surprise"},
		{name: "every item", path: gateway("server", "gatewayTags"), value: `{"enabled":true,"tags":["a",1]}`, field: "x-tyk-api-gateway.server.gatewayTags.tags.1"},
		{name: "duration", path: gateway("upstream", "enforceTimeout"), value: `{"enabled":true,"duration":"2 h"}`,
			field: "x-tyk-api-gateway.upstream.enforceTimeout.duration", contains: `"1.5s"`},
		{name: "timeout with a fraction", path: gateway("upstream", "enforceTimeout"), value: `{"enabled":true,"duration":"1.5s"}`, field: "-"},
		{name: "key lifetime of zero", path: gateway("server", "authentication"), value: `{"enabled":false,"customKeyLifetime":{"enabled":true,"value":"0s"}}`,
			field: "x-tyk-api-gateway.server.authentication.customKeyLifetime.value"},
		{name: "port", path: gateway("server", "port"), value: `70000`, field: "x-tyk-api-gateway.server.port", contains: "65535"},
		{name: "secret in an address", path: gateway("upstream", "url"), value: `"https://$kv{store/host}/x"`, field: "-"},
		{name: "malformed address", path: gateway("upstream", "url"), value: `"http://user:pw@[::1"`, field: "x-tyk-api-gateway.upstream.url", contains: "malformed"},
		{name: "log handler as gateways write it", path: gateway("server", "eventHandlers"),
			value: `[{"enabled":true,"trigger":"HostDown","type":"log","name":"x","logPrefix":"x"}]`, field: "-"},
		{name: "log handler without a name", path: gateway("server", "eventHandlers"),
			value: `[{"enabled":true,"trigger":"HostDown","type":"log","logPrefix":"x"}]`, field: "x-tyk-api-gateway.server.eventHandlers.0", contains: "lacks name"},
		{name: "script without a name", path: gateway("server", "eventHandlers"),
			value: `[{"enabled":true,"trigger":"HostDown","type":"custom","functionName":"f","path":"p"}]`, field: "x-tyk-api-gateway.server.eventHandlers.0", contains: "lacks name"},
		{name: "handler of no kind", path: gateway("server", "eventHandlers"), value: `[{"enabled":true,"trigger":"HostDown","type":"webhook"}]`,
			field: "x-tyk-api-gateway.server.eventHandlers.0", contains: "none of the allowed forms"},
		{name: "the alternative that fits best", path: gateway("server", "authentication"),
			value: `{"enabled":true,"securitySchemes":{"jwt":{"enabled":true,"skipKid":true,"source":"a","signingMethod":5}}}`,
			field: "x-tyk-api-gateway.server.authentication.securitySchemes.jwt.signingMethod"},
		{name: "response without description", path: list("responses", "2XX"), value: `{}`, field: "paths./berths.get.responses.2XX", contains: "lacks description"},
		{name: "look-around", path: []string{"components", "schemas", "Berth", "pattern"}, value: `"(?=a)b"`, field: "components.schemas.Berth.pattern"},
		{name: "reference to a file", path: []string{"components", "schemas", "Berth"}, value: `{"$ref":"file:///etc/passwd"}`,
			field: "components.schemas.Berth.$ref", contains: "not followed"},
		{name: "reference to nowhere", path: []string{"components", "schemas", "Berth"}, value: `{"$ref":"#/components/schemas/No"}`, field: "components.schemas.Berth.$ref"},
		{name: "duplicate operation", path: list("operationId"), value: `"readBerth"`, field: "paths./berths.get.operationId"},
		{name: "mcp: tool view on an ordinary target", path: []string{toolView}, value: `{"primitives":[]}`, o: port.Options{Variant: port.MCP}, field: toolView},
		{name: "mcp: a tool", path: gateway("middleware", "mcpTools", "t"), value: `{"rateLimit":{"enabled":true,"rate":1,"per":"1m"}}`, o: port.Options{Variant: port.MCP}, field: "-"},
		{name: "mcp: a tool without a name", path: gateway("middleware", "mcpTools"), value: `{"":7}`, o: port.Options{Variant: port.MCP}, field: "x-tyk-api-gateway.middleware.mcpTools."},
		{name: "mcp: another case", path: gateway("middleware", "mcpTools"), value: `{"t":{"allow":{"enabled":true},"ALLOW":[{}]}}`, o: port.Options{Variant: port.MCP, AllowUnknown: true},
			field: "x-tyk-api-gateway.middleware.mcpTools.t.ALLOW"},
		{name: "another case deep down", path: gateway("info", "state", "Active"), value: `7`, o: port.Options{AllowUnknown: true}, field: "x-tyk-api-gateway.info.state.Active"},
		{name: "another case at the top", path: gateway("SERVER"), value: `[]`, o: port.Options{AllowUnknown: true}, field: "x-tyk-api-gateway.SERVER"},
		{name: "mcp: no cache", path: gateway("middleware", "mcpTools", "t"), value: `{"cache":{"enabled":true}}`,
			o: port.Options{Variant: port.MCP, AllowUnknown: true}, field: "x-tyk-api-gateway.middleware.mcpTools.t.cache"},
		{name: "mcp: no error overrides", path: gateway("errorOverrides"), value: `{"enabled":true}`, o: port.Options{Variant: port.MCP}, field: extension},
		{name: "streams: no upstream needed", path: gateway("upstream"), o: port.Options{Variant: port.Streams}, field: "-"},
		{name: "streams: form", path: []string{streaming}, value: `{"streams":{"a":{"input":{"kafka":{"addresses":["k"]}}}}}`,
			o: port.Options{Variant: port.Streams}, field: "x-tyk-streaming.streams.a.input.kafka", contains: "topics"},
		{name: "streams: component", path: []string{streaming}, value: `{"streams":{"a":{"input":{"file":{"paths":["/etc/passwd"]}}}}}`,
			o: port.Options{Variant: port.Streams}, field: "x-tyk-streaming.streams.a.input.file"},
		{name: "streams: all of them", path: []string{streaming}, value: `{"streams":{"a":{"input":{"file":{"paths":["/x"]},"kafka":1}}}}`,
			o: port.Options{Variant: port.Streams, AllStreams: true}, field: "-"},
		{name: "template", path: gateway("info"), value: `{}`, o: port.Options{Variant: port.Template}, field: "-"},
		{name: "template of a stream", path: []string{streaming}, value: `{}`, o: port.Options{Variant: port.StreamsTemplate}, field: "-"},
		{name: "no such kind", path: []string{"x-note"}, value: `1`, o: port.Options{Variant: "soap"}, field: "", contains: "soap"},
		{name: "default that does not fit", path: []string{"components", "parameters", "Limit", "schema", "default"}, value: `"many"`, o: port.Options{Defaults: true},
			field: "components.parameter.Limit"},
		{name: "defaults are not checked", path: []string{"components", "parameters", "Limit", "schema", "default"}, value: `"many"`, field: "-"},
		{name: "example that does not fit", path: []string{"components", "schemas", "Berth", "properties", "depth", "example"}, value: `"deep"`, o: port.Options{Examples: true},
			field: "components.schema.Berth"},
		{name: "huge number", path: gateway("middleware", "global", "cache"), value: `{"timeout":1e999999999}`, field: "x-tyk-api-gateway.middleware.global.cache.timeout", contains: "whole number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := shared.Validate(tree(edited(t, c.value, c.path...)), c.o)
			if c.field == "-" {
				if len(found) > 0 {
					t.Error(found)
				}
				return
			}
			if !slices.ContainsFunc(found, func(p port.Problem) bool { return p.Field == c.field && strings.Contains(p.Message, c.contains) }) {
				t.Errorf("%v, want %s: …%s…", found, c.field, c.contains)
			}
			if strings.Contains(fmt.Sprint(found), "pw@") {
				t.Errorf("says too much: %v", found)
			}
		})
	}
}

var shared = New()

// tree parses a text; nil if it is not JSON.
func tree(text []byte) *doc.Node {
	n, _ := doc.ParseNode(text)
	return n
}

// If one of several alternatives is clearly meant, the first problem is the one inside
// it.
func TestAlternatives(t *testing.T) {
	schema := []string{"components", "schemas", "Berth"}
	scheme := []string{"components", "securitySchemes", "key"}
	parameter := []string{"paths", "/berths", "get", "parameters"}
	handlers := gateway("server", "eventHandlers")
	for _, c := range []struct {
		path        []string
		value, want string
	}{
		{schema, `{"type":"strin"}`, `type: must be one of ["array" "boolean" "integer" "number" "object" "string"]`},
		{schema, `{"properties":{"a":7}}`, "properties.a: is number, must be object"},
		{schema, `{"additionalProperties":"x"}`, "additionalProperties: is string, must be boolean or object"},
		{scheme, `{"type":"apiKey","in":"headr","name":"x"}`, `in: must be one of ["header" "query" "cookie"]`},
		{scheme, `{"type":"apiKey","in":"header"}`, ": lacks name"},
		{scheme, `{"type":"http","scheme":5}`, "scheme: is number, must be string"},
		{scheme, `{"type":"nope"}`, `type: must be one of ["apiKey" "http" "oauth2" "openIdConnect"]`},
		{scheme, `{"type":"oauth2","flows":{"implicit":{"scopes":{}}}}`, "flows.implicit: lacks authorizationUrl"},
		{parameter, `[{"name":"x","in":"queryy","schema":{}}]`, `0.in: must be one of ["path" "query" "header" "cookie"]`},
		{parameter, `[{"name":"x","in":"path","schema":{}}]`, "0: lacks required"},
		{parameter, `[{"name":"x","in":"query"}]`, "0: fits none of the allowed forms; for the closest one it lacks schema"}, // schema or content
		{handlers, `[{"enabled":true,"trigger":"HostDown","type":"nope"}]`, `0.type: must be one of ["webhook" "custom" "log"]`},
		{handlers, `[{"enabled":true,"trigger":"HostDown","type":"custom","functionName":7,"path":"p","name":"x"}]`, "0.functionName: is number, must be string"},
		{handlers, `[{"enabled":true,"trigger":"HostDown","type":"webhook"}]`, "0: fits none of the allowed forms; for the closest one it lacks id, cooldownPeriod"},
		{handlers, `[{"enabled":true,"trigger":"HostDown","type":"webhook","id":"x"}]`, "0: fits none of the allowed forms; for the closest one it lacks cooldownPeriod"},
	} {
		for range 5 { // the schema library visits members in random order
			found := shared.Validate(tree(edited(t, c.value, c.path...)), port.Options{})
			if len(found) == 0 {
				t.Fatal(c.value, "passes")
			}
			rest, inside := strings.CutPrefix(found[0].Field, strings.Join(c.path, "."))
			if got := strings.TrimPrefix(rest, ".") + ": " + found[0].Message; !inside || got != c.want {
				t.Errorf("%s: %v, want %s", c.value, found, c.want)
			}
		}
	}
}

func TestNotADocument(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `"x"`, "null", "{}", `{"openapi":null}`} {
		if found := shared.Validate(tree([]byte(text)), port.Options{}); len(found) == 0 {
			t.Errorf("%q passes", text)
		}
	}
}

// TestManyProblems checks that the number of problems in an answer is limited.
func TestManyProblems(t *testing.T) {
	var tags strings.Builder
	for i := range 500 {
		fmt.Fprintf(&tags, "%d,", i)
	}
	text := edited(t, `{"enabled":true,"tags":[`+strings.TrimSuffix(tags.String(), ",")+`]}`, gateway("server", "gatewayTags")...)
	if found := shared.Validate(tree(text), port.Options{}); len(found) != maxProblems {
		t.Errorf("%d problems", len(found))
	}
}

// TestDeep checks that a deeply nested mistake is found in bounded time.
func TestDeep(t *testing.T) {
	for depth, want := range map[int]int{maxDepth - 10: maxProblems, maxDepth: 1} {
		nested := strings.Repeat(`{"items":`, depth) + `{"type":"moon"}` + strings.Repeat(`}`, depth)
		if found := shared.Validate(tree(edited(t, nested, "components", "schemas", "Berth")), port.Options{}); len(found) != want {
			t.Errorf("depth %d: %d problems", depth, len(found))
		}
	}
}

func TestSchema(t *testing.T) {
	for _, full := range []string{"3.0.", "3.1.0-rc", "3.2", "3.01"} {
		if text, err := shared.Schema("", full); err == nil {
			t.Errorf("%s: %.80s", full, text)
		}
	}
	for _, variant := range []port.Variant{"", port.OAS, port.Streams, port.MCP, port.Template, port.StreamsTemplate} {
		for _, full := range []string{"", "3.0", "3.0.4", "3.1", "3.1.1"} {
			text, err := shared.Schema(variant, full)
			if err != nil {
				t.Fatal(err)
			}
			var m struct {
				Schema     string `json:"$schema"`
				Properties map[string]json.RawMessage
			}
			if err := json.Unmarshal(text, &m); err != nil || m.Properties[extension] == nil {
				t.Errorf("%s %s: %v %.80s", variant, full, err, text)
			}
			if draft4 := strings.Contains(m.Schema, "draft-04"); draft4 == strings.HasPrefix(full, "3.1") {
				t.Errorf("%s %s: %s", variant, full, m.Schema)
			}
			for _, lax := range []bool{true, false} {
				minor, _ := version(full)
				if _, err := shared.forms[form{variant: port.OAS, version: minor, strict: lax, allStreams: lax}].compiled(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	for _, full := range []string{"2.0", "3", "3.2", "3.00", "x"} {
		if _, err := shared.Schema(port.OAS, full); !errors.Is(err, port.ErrNoSchema) {
			t.Errorf("%s: %v", full, err)
		}
	}
	if _, err := shared.Schema("soap", ""); !errors.Is(err, port.ErrNoSchema) {
		t.Error(err)
	}
}

// TestSchemaAllowsTheDocument checks that the published schema matches the validation.
func TestSchemaAllowsTheDocument(t *testing.T) {
	text, err := shared.Schema(port.OAS, "3.0.3")
	if err != nil {
		t.Fatal(err)
	}
	s, err := compile(text)
	if err != nil {
		t.Fatal(err)
	}
	var d any
	if err := json.Unmarshal([]byte(harbour), &d); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(d); err != nil {
		t.Error(err)
	}
}

// TestOutlineErrors checks that mistakes in an outline are found.
func TestOutlineErrors(t *testing.T) {
	s := &outline{container: "definitions", definitions: object{}}
	if err := s.read("nothing"); err == nil {
		t.Error("a file that does not exist")
	}
	for _, line := range []string{"A < Nobody", "A ajar", "A : nonsense"} {
		if _, err := s.header(line); err == nil {
			t.Errorf("%q passes", line)
		}
	}
	for _, line := range []string{"a", "a nonsense", "a [nonsense]", "+ {", "a string|nonsense"} {
		if err := s.line(object{"properties": object{}}, line); err == nil {
			t.Errorf("%q passes", line)
		}
	}
}

// TestAgreesWithLibrary compares our checks of relations with those of kin-openapi, on
// documents of valid form with one mistake each.
func TestAgreesWithLibrary(t *testing.T) {
	for _, full := range []string{"3.0.3", "3.1.0"} {
		n, bad := 0, 0
		mutants(edited(t, `"`+full+`"`, "openapi"), func(what string, d *doc.Node) {
			o := port.Options{AllowUnknown: true}
			if shared.form(d, o) != nil || strings.HasSuffix(what, "surprise") { // 3.1 allows any keyword
				return
			}
			members, err := doc.ParseObject(d.JSON())
			if err != nil {
				t.Fatal(err)
			}
			var theirs []port.Problem
			if lib, err := load(members); err != nil {
				theirs = one("", err.Error())
			} else {
				theirs = relations(lib)
			}
			ours := validation.OpenAPI(d)
			n++
			if len(ours) > 0 {
				bad++
			}
			if (len(ours) == 0) != (len(theirs) == 0) {
				t.Errorf("%s%s: ours %v, theirs %v", full, what, ours, theirs)
			}
		})
		if n < 100 || bad < 10 {
			t.Errorf("%s: %d documents, %d with problems", full, n, bad)
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add([]byte(harbour), uint8(0))
	f.Add([]byte(`{"openapi":"3.1.0","info":{"title":"a","version":"1"},"paths":{"/{a":{"get":{}}}}`), uint8(1))
	f.Add([]byte(`{"openapi":"3.0.0","info":{"title":"a","version":"1"},"paths":{"/":{"$ref":"#"}},"components":{"schemas":{"a":{"$ref":"#/components/schemas/a"}}}}`), uint8(8))
	f.Add([]byte(`{"openapi":"3.0.0","info":{"title":"","version":"1"},"paths":{},"x-tyk-streaming":{"streams":{"a":{"input":{"broker":{"inputs":[{"broker":{}}]}}}}}}`), uint8(2))
	variants := []port.Variant{port.OAS, port.MCP, port.Streams, port.Template, port.StreamsTemplate}
	f.Fuzz(func(t *testing.T, text []byte, flags uint8) {
		o := port.Options{
			Variant: variants[int(flags)%len(variants)], AllowUnknown: flags&8 != 0, Examples: flags&16 != 0, Defaults: flags&32 != 0, AllStreams: flags&64 != 0,
		}
		for _, p := range shared.Validate(tree(text), o) {
			if p.Message == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}
