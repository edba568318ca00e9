package portal

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	adapter "github.com/gatehouse-io/gatehouse/adapters/render"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/ports/render"
)

// printed matches what the theme in testdata prints of each object of a view and each
// attribute.
var printed = regexp.MustCompile(`⟦([\w/]+)\.(\w+)⟧([^⟦]*)⟦⟧`)

var inQuotes = regexp.MustCompile("`([^`]+)`")

// documentedRows returns a table of the page about themes: the first column, and the names
// in the others.
func documentedRows(t *testing.T, heading string) map[string][][]string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/wire/portal-content.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n| "+heading+" |")
	if !found {
		t.Fatal("there is no table of", heading)
	}
	out := map[string][][]string{}
	for _, line := range strings.Split(rest, "\n")[2:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		var cells [][]string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			var names []string
			for _, m := range inQuotes.FindAllStringSubmatch(cell, -1) {
				names = append(names, m[1])
			}
			cells = append(cells, names)
		}
		out[cells[0][0]] = cells[1:]
	}
	return out
}

// everything is the theme in testdata that uses all features.
func everything(t *testing.T) (out []theme.Source) {
	t.Helper()
	const root = "testdata/theme"
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, theme.Extension) {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		out = append(out, theme.Source{Name: strings.TrimSuffix(filepath.ToSlash(name), theme.Extension), Text: string(text), HTML: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fill sets all fields in a value to non-zero values.
func fill(v reflect.Value, depth int) {
	switch {
	case depth > 5:
	case v.Kind() == reflect.Struct: // also an embedded one, which cannot be set itself
		for i := range v.NumField() {
			fill(v.Field(i), depth+1)
		}
	case !v.CanSet():
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case v.Kind() == reflect.String:
		v.SetString("2026-01-02 03:04")
	case v.CanInt():
		v.SetInt(7)
	case v.CanFloat():
		v.SetFloat(7)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	}
}

func filled[T any]() *T {
	out := new(T)
	fill(reflect.ValueOf(out).Elem(), 0)
	return out
}

// objects are examples of the objects in themes, by their documented names.
func objects() map[string][]any {
	app, regular, viewer := filled[client](), *filled[product](), filled[user]()
	app.settle()
	regular.IsDocumentationOnly, regular.AuthTypes = false, []authMethod{"token"} // an API type that is not an authentication method
	schema, described := *filled[api](), *filled[api]()
	schema.Document, schema.Address, described.Document, described.Address = "graphqlSDL", "", "oas", ""
	admin, person := filled[user](), &member{user: *filled[user]()}
	admin.Role, viewer.Role, person.viewer = "super-admin", "consumer-admin", viewer
	return map[string][]any{
		"app": {app}, "credential": {app.Credentials[0]}, "access_request": {app.AccessRequests[0]}, "product": {*filled[product](), regular},
		"api": {*filled[api](), schema, described}, "plan": {*filled[plan]()}, "cart_item": {*filled[item]()}, "client_type": {*filled[clientType]()}, "certificate": {*filled[certificate]()},
		"user": {viewer, admin}, "invite": {person}, "post": {*filled[article]()},
	}
}

// TestThemeObjects compares the objects of templates with the documentation: each
// documented attribute and method exists, and is not empty unless it is documented as
// empty. The theme in testdata prints all of them.
func TestThemeObjects(t *testing.T) {
	all, templates := objects(), everything(t)
	rows := documentedRows(t, "object")
	if len(rows) != len(all) {
		t.Errorf("%d objects are documented, and %d are known", len(rows), len(all))
	}
	v := &visit{server: &server{}, r: httptest.NewRequest("GET", "/", nil)}
	for name, row := range rows {
		said := map[string]string{}
		for _, one := range all[name] {
			text, err := adapter.Engine{}.Render(t.Context(), render.Job{Templates: templates, Name: theme.Partials + name, Data: one, Functions: v.functions()})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range printed.FindAllStringSubmatch(string(text), -1) {
				if m[1] == name && (said[m[2]] == "" || said[m[2]] == "0") {
					said[m[2]] = m[3]
				}
			}
		}
		for _, attribute := range row[0] {
			first, _, _ := strings.Cut(attribute, ".")
			value, shown := said[first]
			empty := len(row) > 1 && slices.Contains(row[1], attribute)
			if nothing := value == "" || value == "0"; !shown || nothing != empty {
				t.Errorf("%s.%s: %q, in the theme: %v, documented as empty: %v", name, attribute, value, shown, empty)
			}
			delete(said, first)
		}
		for attribute := range said {
			t.Errorf("%s.%s is not documented", name, attribute)
		}
	}
}

// TestThemeFunctions states that the theme in testdata calls every function of pages.
func TestThemeFunctions(t *testing.T) {
	var text strings.Builder
	for _, s := range everything(t) {
		text.WriteString(s.Text)
	}
	v := &visit{server: &server{}, r: httptest.NewRequest("GET", "/", nil)}
	names := []string{"trim", "lower", "date", "add", "sub", "dict", "merge", "safe", "safe_md", "raw", "yield", "render", "SplitStrings", "StringsContains", "TruncateString", "FormatTime"}
	for name := range v.functions() {
		if name != "AssetURL" { // it is for our own assets, and the default theme uses it
			names = append(names, name)
		}
	}
	for _, name := range names {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(text.String()) {
			t.Errorf("no template calls %s", name)
		}
	}
}
