package contract_test

import (
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// maxGenerated is the maximum nesting depth of generated values.
const maxGenerated = 5

var words = []string{"", "a", "orders", "/orders/", "https://example.com/a", "000000000000000000000001", "GET", "Default", "ü", "2026-01-02T03:04:05Z", "500ms", "active"}

// generate generates a value that follows a schema of the file, as far as it is
// specified.
func generate(s *openapi3.Schema, rng *rand.Rand, depth int) any {
	if s == nil {
		return words[rng.IntN(len(words))]
	}
	if s.Example != nil && rng.IntN(3) == 0 {
		return s.Example
	}
	if len(s.Enum) > 0 {
		return s.Enum[rng.IntN(len(s.Enum))]
	}
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf} {
		if len(list) > 0 {
			return generate(list[rng.IntN(len(list))].Value, rng, depth)
		}
	}
	switch {
	case len(s.AllOf) > 0:
		return generateAll(s.AllOf, rng, depth)
	case s.Type.Is("boolean"):
		return rng.IntN(2) == 0
	case s.Type.Is("integer"):
		return rng.IntN(200) - 50
	case s.Type.Is("number"):
		return float64(rng.IntN(2000)-500) / 8
	case s.Type.Is("array"):
		return generateItems(s, rng, depth)
	case s.Type.Is("string"):
		return words[rng.IntN(len(words))]
	}
	return generateObject(s, rng, depth)
}

// generateAll merges the members of all schemas.
func generateAll(all openapi3.SchemaRefs, rng *rand.Rand, depth int) any {
	out := map[string]any{}
	for _, ref := range all {
		if o, ok := generate(ref.Value, rng, depth).(map[string]any); ok {
			maps.Copy(out, o)
		}
	}
	return out
}

func generateItems(s *openapi3.Schema, rng *rand.Rand, depth int) any {
	out := []any{}
	if s.Items != nil && depth < maxGenerated {
		for range rng.IntN(3) {
			out = append(out, generate(s.Items.Value, rng, depth+1))
		}
	}
	return out
}

// generateObject generates all required members and some of the others.
func generateObject(s *openapi3.Schema, rng *rand.Rand, depth int) any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		required := slices.Contains(s.Required, name)
		if required || depth < maxGenerated && rng.IntN(1+depth) == 0 {
			out[name] = generate(s.Properties[name].Value, rng, depth+1)
		}
	}
	if more := s.AdditionalProperties.Schema; more != nil && depth < maxGenerated {
		for range rng.IntN(3) {
			out[words[1+rng.IntN(len(words)-1)]] = generate(more.Value, rng, depth+1)
		}
	}
	return out
}
