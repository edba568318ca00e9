package openapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/openapi"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/shape/shapetest"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// places walks a JSON schema and calls visit with each place that documents can have.
func places(root, schema map[string]any, at string, visit func(string)) {
	if ref, ok := schema["$ref"].(string); ok {
		definitions := root["definitions"].(map[string]any)
		schema = definitions[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any)
	}
	if at != "" {
		visit(at)
	}
	below := func(name string, v any) {
		if inner, ok := v.(map[string]any); ok {
			places(root, inner, strings.TrimPrefix(at+name, "."), visit)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, v := range properties {
		below("."+name, v)
	}
	patterns, _ := schema["patternProperties"].(map[string]any)
	for _, v := range patterns {
		below(".{}", v)
	}
	below(".{}", schema["additionalProperties"])
	below("[]", schema["items"])
	some, _ := schema["anyOf"].([]any)
	for _, v := range some {
		below("", v)
	}
}

// TestExtensionType checks that the type of the extension, which follows from the table
// of conversions, has exactly the places of the schema.
func TestExtensionType(t *testing.T) {
	var known, schema []string
	oas.ExtensionType().Walk(func(at shape.Place, _ shape.Type) { known = append(known, at.String()) })
	for _, variant := range []port.Variant{port.OAS, port.MCP} {
		text, err := openapi.New().Schema(variant, "3.0")
		if err != nil {
			t.Fatal(err)
		}
		var root map[string]any
		if err := json.Unmarshal(text, &root); err != nil {
			t.Fatal(err)
		}
		extension := root["properties"].(map[string]any)[oas.ExtensionKey].(map[string]any)
		places(root, extension, "", func(at string) { schema = append(schema, at) })
	}
	if len(schema) < 500 {
		t.Fatalf("%d places", len(schema))
	}
	for _, at := range schema {
		if !slices.Contains(known, at) {
			t.Errorf("the table lacks %s", at)
		}
	}
	for _, at := range known {
		if at != "" && at != "middleware.global.pluginConfig.data.value.{}" && !slices.Contains(schema, at) {
			t.Errorf("the schema lacks %s", at)
		}
	}
}

// TestMisspeltExtension misspells every member of the extension: each is refused, with
// or without unknown members, and reported with its right spelling.
func TestMisspeltExtension(t *testing.T) {
	v := openapi.New()
	n := 0
	for c := range shapetest.Misspelt(feed.DocumentType()) {
		if c.Place[0] != oas.ExtensionKey || len(c.Place) < 2 {
			continue
		}
		n++
		d, err := doc.ParseNode([]byte(c.Text))
		if err != nil {
			t.Fatal(err)
		}
		d.Set("openapi", doc.NewString("3.0.3"))
		variant := port.OAS
		if strings.HasPrefix(strings.ToLower(c.Path), oas.ExtensionKey+".middleware.mcp") {
			variant = port.MCP
		}
		problems := v.Validate(d, port.Options{Variant: variant, AllowUnknown: n%2 == 0})
		if !slices.ContainsFunc(problems, func(p port.Problem) bool { return strings.HasPrefix(p.Message, "must be spelled ") }) {
			t.Errorf("%s: %v", c.Text, problems)
		}
	}
	if n < 1500 {
		t.Errorf("only %d documents", n)
	}
}
