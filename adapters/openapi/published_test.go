package openapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gatehouse-io/gatehouse/core/doc"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// publishedFile reads a schema that gateways publish, from data/schemas/oas in the
// folder GATEHOUSE_CONTRACT_DIR. These files must not be copied into the project.
func publishedFile(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv("GATEHOUSE_CONTRACT_DIR")
	if dir == "" {
		t.Skip("GATEHOUSE_CONTRACT_DIR is not set: the comparison with published schemas is left out, see docs/wire/README.md#published-files")
	}
	text, err := os.ReadFile(filepath.Join(dir, "data", "schemas", "oas", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// published joins the schema of the host document and that of the extension.
func published(t *testing.T, host, ext string) *jsonschema.Schema {
	t.Helper()
	read := func(name string) (m object) {
		if err := json.Unmarshal(publishedFile(t, name), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	h, x := read(host), read(ext)
	definitions, _ := h["definitions"].(object)
	if definitions == nil {
		definitions = object{}
		h["definitions"] = definitions
	}
	for name, d := range x["definitions"].(object) {
		definitions[name] = everyItem(d)
	}
	delete(x, "definitions")
	delete(x, "$schema")
	h["properties"].(object)[extension] = everyItem(x)
	delete(h, "id")
	delete(h, "$id")
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	s, err := compile(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// everyItem turns a schema for the first item of an array into one for all items, as in
// our schema.
func everyItem(v any) any {
	switch v := v.(type) {
	case object:
		for name, member := range v {
			if list, ok := member.([]any); ok && name == "items" && len(list) == 1 {
				member = list[0]
			}
			v[name] = everyItem(member)
		}
	case []any:
		for i := range v {
			v[i] = everyItem(v[i])
		}
	}
	return v
}

// mutants yields a document with one value dropped or replaced, or one member added.
func mutants(text []byte, yield func(what string, d *doc.Node)) {
	values := []*doc.Node{
		doc.NewString("5s"), doc.NewInt(-1), doc.NewArray(doc.NewInt(1)),
	}
	d, err := doc.ParseNode(text)
	if err != nil {
		return
	}
	yield("as it is", d)
	var visit func(n *doc.Node, path string)
	visit = func(n *doc.Node, path string) {
		if n.Is(doc.TypeArray) {
			for _, item := range n.Items() {
				visit(item, path+"[]")
			}
		}
		for _, name := range n.Names() {
			old := n.Get(name)
			here := path + "." + name
			for _, v := range values {
				n.Set(name, v)
				yield(here+" = "+string(v.JSON()), d)
			}
			n.Set(name, old)
			visit(old, here)
			n.Delete(name)
			yield(here+" dropped", d)
			n.Set(name, old)
		}
		if n.Is(doc.TypeObject) {
			n.Set("surprise", doc.NewInt(1))
			yield(path+" + surprise", d)
			n.Delete("surprise")
		}
	}
	visit(d, "")
}

// deliberate lists intended differences of our schema, as parts of a location.
var deliberate = []string{
	"eventHandlers",                  // names that gateways drop are optional; types are checked
	"batchProcessing",                // must be an object
	"fromOASExamples",                // must be an object with known members
	"trafficLogs.plugins",            // members of every plugin are known
	"Plugins = [1]", "plugins = [1]", // a plugin is an object
	"scopes = [1]", "extraMetadata = [1]", // items are texts
	"loadBalancing.targets",   // the condition is not checked by gateways either
	"securitySchemes.oauth2",  // a rule looks at values, where the block is on
	"jwksURIs[] + surprise",   // unknown members are refused
	"customClaimValidation",   // by name of the claim
	"customKeyLifetime",       // unknown members are refused
	"oauth.clientCredentials", // unknown members are refused
	"oauth.password",          // unknown members are refused
}

// In 3.1 gateways check schemas when they load the document; we check them at once.
var deliberate31 = []string{"components.schemas.", ".schema"}

// completed adds the required members of every API to a document.
func completed(t *testing.T, text []byte, version string) *doc.Node {
	t.Helper()
	d, err := doc.ParseNode(text)
	if err != nil {
		t.Fatal(err)
	}
	d.Put(doc.NewString(version), "openapi")
	for _, path := range [][]string{{"info", "name"}, {"server", "listenPath", "value"}, {"upstream", "url"}} {
		if path = append([]string{extension}, path...); d.Get(path...).Text() == "" {
			d.Put(doc.NewString("/x"), path...)
		}
	}
	if active := []string{extension, "info", "state", "active"}; d.Get(active...) == nil {
		d.Put(doc.NewBool(true), active...)
	}
	return d
}

// TestAgreesWithPublished compares verdicts with those of the schemas that gateways
// publish, on recorded documents with one mistake each.
func TestAgreesWithPublished(t *testing.T) {
	inputs := slices.DeleteFunc(vectors(t, "oas_to_classic.json"), func(c vector) bool {
		return !strings.HasPrefix(c.Name, "whole-") && !strings.HasPrefix(c.Name, "sweep-") // the others are parts of these
	})
	v := New()
	for _, c := range []struct {
		version, host, ext string
		lenient            bool
	}{
		{"3.0.3", "3.0.json", "x-tyk-api-gateway.json", true},
		{"3.0.3", "3.0.json", "x-tyk-api-gateway.strict.json", false},
		{"3.1.0", "3.1.json", "x-tyk-api-gateway.json", true},
	} {
		theirs := published(t, c.host, c.ext)
		n, seen := 0, map[string]bool{}
		for _, in := range inputs {
			d := completed(t, in.Input, c.version)
			if theirs.Validate(plain(d)) != nil && !c.lenient {
				continue // all of its mutants would differ
			}
			mutants(d.JSON(), func(what string, d *doc.Node) {
				meant := func(part string) bool { return strings.Contains(what, part) }
				if seen[what] || slices.ContainsFunc(deliberate, meant) || c.version == "3.1.0" && slices.ContainsFunc(deliberate31, meant) {
					return
				}
				seen[what] = true
				n++
				ours, err := v.form(d, port.Options{AllowUnknown: c.lenient}), theirs.Validate(plain(d))
				if (ours == nil) != (err == nil) {
					t.Errorf("%s %s, %s: ours %v, theirs %v", c.version, c.ext, in.Name+what, ours, err)
				}
			})
		}
		if n < 1000 {
			t.Errorf("%s %s: only %d documents compared", c.version, c.ext, n)
		}
	}
}
