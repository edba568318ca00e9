package console_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// described is the part of the description that tests need.
type described struct {
	Resources []resource `json:"x-resources"`
	Paths     map[string]map[string]struct {
		ID          string     `json:"operationId"`
		Permission  permission `json:"x-permission"`
		RequestBody struct {
			Content map[string]struct {
				Example json.RawMessage `json:"example"`
			} `json:"content"`
		} `json:"requestBody"`
	} `json:"paths"`
}

type resource struct {
	Name, Title, Surface, ID, Label string
	Operations                      map[string]string
}

// operation returns method and path of an operation, and the example of its body.
func (d *described) operation(id string) (method, path, example string) {
	for path, methods := range d.Paths {
		for method, o := range methods {
			if o.ID == id && id != "" {
				return strings.ToUpper(method), path, string(o.RequestBody.Content["application/json"].Example)
			}
		}
	}
	return "", "", ""
}

// describe decodes the description as the console does.
func (w *world) describe() *described {
	w.t.Helper()
	_, text := w.try(http.MethodGet, "/api/openapi.json", "", key)
	d := new(described)
	must(w.t, json.Unmarshal(text, d))
	d.Resources = slices.DeleteFunc(d.Resources, func(r resource) bool { return r.Surface != "management" })
	slices.SortFunc(d.Resources, func(a, b resource) int { return strings.Compare(a.Name, b.Name) })
	return d
}

// populate creates a record of each resource with an example, and returns their
// identifiers by name of the resource.
func (w *world) populate(d *described) map[string]string {
	w.t.Helper()
	made := map[string]string{}
	order := func(r resource) int { return slices.Index([]string{"policies", "hooks", "apis", "apis.oas"}, r.Name) }
	all := slices.Clone(d.Resources)
	slices.SortStableFunc(all, func(a, b resource) int { return order(b) - order(a) })
	for _, r := range all {
		method, path, example := d.operation(r.Operations["create"])
		if example == "" || strings.Contains(path, "{") {
			continue
		}
		status, text := w.try(method, path, example, key)
		if status >= 300 {
			continue // the example names missing records
		}
		var a map[string]any
		_ = json.Unmarshal(text, &a)
		for _, name := range []string{"ID", "id", "_id", "key_id", "Meta", "Message"} {
			if id, ok := a[name].(string); ok && made[r.Name] == "" {
				made[r.Name] = id
			}
		}
	}
	return made
}

// TestEveryResource: each resource in the description has a list, a form, a document and,
// if there are such operations, a way to change and to delete a record. New resources are
// tested automatically.
func TestEveryResource(t *testing.T) {
	w := newWorld(t)
	d := w.describe()
	made := w.populate(d)
	if len(made) < 8 {
		t.Fatalf("examples made only %v", slices.Sorted(maps.Keys(made)))
	}
	b := w.signIn(t)
	b.Expect("/api/activity", "/api/examples", "/api/notifications")
	for _, r := range d.Resources {
		if r.Operations["list"] != "" {
			b.lists(r)
		}
		if id := made[r.Name]; id != "" && r.Operations["get"] != "" {
			b.reads(r, id)
			if r.Operations["replace"] != "" && r.Label == "name" && r.Name != "service-accounts" { // whose names cannot be changed
				b.changes(r)
			}
			if r.Operations["delete"] != "" {
				b.deletes()
			}
		}
	}
}

// lists shows a list, searches for a word that is in no record, and goes back.
func (b *tab) lists(r resource) {
	b.T.Helper()
	b.visit(r.Name)
	b.Wait("document.querySelector('h1') && !document.querySelector('.loading')")
	b.Wait("location.hash === " + quote("#/"+r.Name) + " && document.querySelector('table, .empty, .trouble')")
}

// reads shows a record in each view.
func (b *tab) reads(r resource, id string) {
	b.T.Helper()
	b.visit(r.Name + "/" + id)
	b.Wait("document.querySelector('section.read dl, section.read .soft') && location.hash.startsWith(" + quote("#/"+r.Name+"/") + ")")
	if r.Operations["replace"] == "" {
		return
	}
	b.Click("Form")
	b.Wait("document.querySelector('section.form .field, section.form .group')")
	b.Click("Document")
	b.Wait("document.querySelector('.cm-content')?.innerText.length > 2")
	if value[string](b, "document.querySelector('.trouble, .wrong')?.innerText ?? ''") != "" {
		b.T.Errorf("%s: %s", r.Name, value[string](b, "document.querySelector('.trouble, .wrong').innerText"))
	}
}

// changes renames the record that is shown.
func (b *tab) changes(r resource) {
	b.T.Helper()
	b.Click("Form")
	b.Fill("Name", "Renamed "+r.Name)
	b.Click("Review and save…")
	b.See("Save these changes?")
	b.Click("Save")
	b.Wait("!document.querySelector('dialog[open]') && document.querySelector('h1').innerText === " + quote("Renamed "+r.Name))
}

// deletes deletes the record that is shown.
func (b *tab) deletes() {
	b.T.Helper()
	b.Click("More")
	b.Click("Delete…")
	b.Wait("document.querySelector('dialog[open]') && !document.querySelector('dialog .loading')")
	b.Click("Delete")
	b.Wait("!document.querySelector('dialog[open]') && !location.hash.includes('/', 2)")
}
