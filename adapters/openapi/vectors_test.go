package openapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

type vector struct {
	Name     string
	Input    json.RawMessage
	Settings struct{ Schema port.Variant }
	Output   struct {
		Schema    bool      `json:"schema_valid"`
		Parse     bool      `json:"parse_valid"`
		Document  bool      `json:"document_valid"`
		Classic   bool      `json:"classic_valid"`
		Locations *[]string `json:"schema_locations"`
	}
}

func vectors(t testing.TB, file string) []vector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../core/api/testdata/vectors", file))
	if err != nil {
		t.Fatal(err)
	}
	var list []vector
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestVectors(t *testing.T) {
	v := New()
	for _, c := range vectors(t, "validate.json") {
		t.Run(c.Name, func(t *testing.T) {
			o := port.Options{Variant: c.Settings.Schema, AllowUnknown: true}
			d, err := doc.ParseNode(c.Input)
			if err != nil {
				t.Fatal(err)
			}
			form := v.form(d, o)
			if (len(form) == 0) != c.Output.Schema {
				t.Errorf("schema: %v", form)
			}
			if want := c.Output.Locations; want != nil && len(*want) > 0 {
				var got []string
				for _, p := range form {
					got = append(got, p.Field)
				}
				slices.Sort(got)
				slices.Sort(*want)
				if got = slices.Compact(got); !slices.Equal(got, *want) {
					t.Errorf("locations: %q, want %q", got, *want)
				}
			}
			members, err := doc.ParseObject(c.Input)
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := load(members)
			if (err == nil) != c.Output.Parse {
				t.Errorf("parse: %v", err)
			}
			found := append(validation.OpenAPI(d), validation.Document(d, o.Variant == port.MCP)...)
			if err == nil { // documents that the schema refuses may also be refused by gateways for OpenAPI's rules
				found = append(found, relations(parsed)...)
			}
			if (len(found) == 0) != c.Output.Document {
				t.Errorf("document: %v", found)
			}
			classic := validation.Loadable(oas.Extract(d, nil, oas.Options{MCP: o.Variant == port.MCP}))
			if (len(classic) == 0) != c.Output.Classic {
				t.Errorf("classic: %v", classic)
			}
		})
	}
}
