package imports_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/description/imports"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// vector is one recorded conversion.
type vector struct {
	Name     string
	Input    *doc.Node
	Settings struct {
		Query    string
		Existing *doc.Node
	}
	Output struct {
		OAS   *doc.Node
		Error *struct{ Stage string }
	}
}

func vectors(t *testing.T, name string) []vector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../api/testdata/vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []vector
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func parseQuery(t *testing.T, query string) imports.Settings {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return imports.ParseSettings(func(name string) (string, bool) { return values.Get(name), values.Has(name) })
}

func checkVector(t *testing.T, v vector, err error) {
	t.Helper()
	if v.Output.Error != nil {
		if err == nil {
			t.Fatalf("want a refusal, got %s", v.Input.JSON())
		}
		if fault.KindOf(err) != fault.Invalid {
			t.Fatalf("want an Invalid fault, got %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if !v.Input.Equal(v.Output.OAS) {
		t.Fatalf("got  %s\nwant %s", v.Input.JSON(), v.Output.OAS.JSON())
	}
}

func TestImportVectors(t *testing.T) {
	for _, v := range vectors(t, "import.json") {
		t.Run(v.Name, func(t *testing.T) {
			s := parseQuery(t, v.Settings.Query)
			checkVector(t, v, imports.Import(v.Input, s))
			if v.Output.Error == nil {
				checkVector(t, v, imports.Import(v.Input, s)) // a second import changes nothing
			}
		})
	}
}

func TestPatchVectors(t *testing.T) {
	for _, v := range vectors(t, "patch.json") {
		t.Run(v.Name, func(t *testing.T) {
			s := parseQuery(t, v.Settings.Query)
			checkVector(t, v, imports.Patch(v.Input, v.Settings.Existing, s))
			if v.Output.Error == nil {
				checkVector(t, v, imports.Patch(v.Input, v.Input.Clone(), s))
			}
		})
	}
}
