package validation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

func TestEndless(t *testing.T) {
	const mock, check = `"mockResponse":{"enabled":true,"fromOASExamples":{"enabled":true}}`, `"validateRequest":{"enabled":true}`
	const schema = `"schema":{"$ref":"#/components/schemas/A"}`
	twice := func(member string) string { // schemas that each contain the next one twice
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, `"S%d":{"type":"object",`+member+`},`, i, i+1, i+1)
		}
		return `"A":{"$ref":"#/components/schemas/S0"},` + b.String() + `"S40":{"type":"string"}`
	}
	for _, c := range []struct{ name, settings, media, schemas string }{
		{"", mock, schema, `"A":{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`},
		{"", `"mockResponse":{"enabled":false,"fromOASExamples":{"enabled":true}}`, schema, `"A":{"type":"array","items":{"$ref":"#/components/schemas/A"}}`},
		{"", `"mockResponse":{"enabled":true,"fromOASExamples":{"enabled":false}}`, schema, `"A":{"type":"array","items":{"$ref":"#/components/schemas/A"}}`},
		{"", mock, `"example":1,` + schema, `"A":{"type":"array","items":{"$ref":"#/components/schemas/A"}}`},
		{"", mock, `"examples":{"a":{"value":1}},` + schema, `"A":{"type":"array","items":{"$ref":"#/components/schemas/A"}}`},
		{"", mock, schema, `"A":{"type":"array","items":{"$ref":"#/components/schemas/A"},"example":[]}`},
		{"", mock, schema, `"A":{"allOf":[{"$ref":"#/components/schemas/A"}]}`},
		{"mockResponse.fromOASExamples", mock, schema, `"A":{"type":"array","items":{"$ref":"#/components/schemas/A"}}`},
		{"mockResponse.fromOASExamples", mock, `"example":null,` + schema, `"A":{"type":["object"],"properties":{"b":{"$ref":"#/components/schemas/B"}}},"B":{"type":"array","items":{"$ref":"#/components/schemas/A"}}`},
		{"mockResponse.fromOASExamples", mock, schema, twice(`"properties":{"a":{"$ref":"#/components/schemas/S%d"},"b":{"$ref":"#/components/schemas/S%d"}}`)},
		{"", check, schema, twice(`"properties":{"a":{"$ref":"#/components/schemas/S%d"},"b":{"$ref":"#/components/schemas/S%d"}}`)},
		{"validateRequest", check, schema, twice(`"allOf":[{"$ref":"#/components/schemas/S%d"},{"$ref":"#/components/schemas/S%d"}]`)},
		{"", check, schema, `"A":{"type":"object","properties":{"a":{"$ref":"#/components/schemas/A"}}}`},
		{"", check, schema, `"A":{"properties":{"a":{"$ref":"#/components/schemas/A"},"name":{"type":"string"}}}`},
		{"", check, schema, `"A":{"properties":{"b":{"$ref":"#/components/schemas/B"},"name":{"allOf":[{"minLength":1}]}}},"B":{"properties":{"a":{"$ref":"#/components/schemas/A"}}}`},
		{"", `"validateRequest":{"enabled":false}`, schema, `"A":{"allOf":[{"$ref":"#/components/schemas/A"}]}`},
		{"validateRequest", check, schema, `"A":{"type":"object","allOf":[{"$ref":"#/components/schemas/A"}]}`},
		{"validateRequest", check, schema, `"A":{"type":"object","properties":{"pet":{"$ref":"#/components/schemas/B"}}},"B":{"type":"object","oneOf":[{"$ref":"#/components/schemas/C"}]},"C":{"allOf":[{"$ref":"#/components/schemas/B"},{"type":"object"}]}`},
		{"validateRequest", check, schema, `"A":{"type":"object","not":{"anyOf":[{"$ref":"#/components/schemas/A"}]}}`},
		{"validateRequest", check, schema, `"A":{"properties":{"a":{"$ref":"#/components/schemas/A"}}}`},
		{"validateRequest", check, schema, `"A":{"additionalProperties":{"$ref":"#/components/schemas/A"},"properties":{"name":{"type":"string"}}}`},
	} {
		document := `{"openapi":"3.0.3","info":{"title":"a","version":"1"},"components":{"schemas":{` + c.schemas + `}},"paths":{"/a":{"post":{"operationId":"o",` +
			`"requestBody":{"content":{"application/json":{` + c.media + `}}},"responses":{"200":{"description":"","content":{"application/json":{` + c.media + `}}}}}}},` +
			`"x-tyk-api-gateway":{"middleware":{"operations":{"o":{` + c.settings + `}}}}}`
		want := ""
		if c.name != "" {
			want = "x-tyk-api-gateway.middleware.operations.o." + c.name
		}
		t.Run(c.schemas, func(t *testing.T) { expect(t, Document(doctest.Node(t, document), false), want) })
	}
}

// Shared parts of operations are visited once, and references are followed once.
func TestEndlessIsQuick(t *testing.T) {
	const n = 10_000
	list := func(item string) string { return strings.Repeat(item+",", n-1) + item }
	var paths, settings, media strings.Builder
	for i := range n {
		fmt.Fprintf(&paths, `"/%d":{"post":{"operationId":"o%d","parameters":[],"requestBody":{"$ref":"#/components/requestBodies/B"},"responses":{"200":{"$ref":"#/components/responses/R"}}}},`, i, i)
		fmt.Fprintf(&settings, `"o%d":{"mockResponse":{"enabled":true,"fromOASExamples":{"enabled":true}},"validateRequest":{"enabled":true}},`, i)
		fmt.Fprintf(&media, `"a/%d":{"schema":{"$ref":"#/components/schemas/A"}},`, i)
	}
	content := `{"description":"","content":{` + media.String() + `"b/b":{}}}`
	d := doctest.Node(t, `{"openapi":"3.0.3","components":{"schemas":{"A":{"type":"array","items":{"$ref":"#/components/schemas/L"}},"L":{"allOf":[`+list(`{"$ref":"#/components/schemas/C"}`)+`]},`+
		`"C":{"$ref":"#/components/schemas/D"},"D":{"$ref":"#/components/schemas/C"}},"requestBodies":{"B":`+content+`},"responses":{"R":`+content+`}},"paths":{`+paths.String()+`"/z":{}},`+
		`"x-tyk-api-gateway":{"middleware":{"operations":{`+settings.String()+`"z":{}}}}}`)
	expect(t, Document(d, false), "")
}

func TestEndlessJSONSchema(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"not":{"$ref":"#"},"a":{"type":"array","items":{"$ref":"#"}}}}`: "",
		`{"$ref":"http://a.example/b"}`: "", `null`: "", `{"definitions":{"a":{"type":"string"}},"allOf":[{"$ref":"#/definitions/a"},{"$ref":"#/definitions/a"}]}`: "",
		`{"$ref":"#"}`: "schema", `{"allOf":[{"$ref":"#"}]}`: "schema", `{"definitions":{"a":{"$ref":"#/definitions/a"}}}`: "schema",
		`{"properties":{"a":{"anyOf":[{"$ref":"#/definitions/b"}]}},"definitions":{"b":{"not":{"oneOf":[{"$ref":"#/definitions/b"}]}}}}`: "schema",
	} {
		if want != "" {
			want = "version_data.versions.v.extended_paths.validate_json.1." + want
		}
		expect(t, Loadable(doctest.Node(t, `{"version_data":{"versions":{"v":{"extended_paths":{"validate_json":[{},{"schema":`+schema+`}]}}}}}`)), want)
	}
}
