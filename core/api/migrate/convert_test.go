package migrate_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/migrate"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

// TestConvert reads pairs of files: x.in.json has a classic definition, x.out.json the
// migration result or the field of the refusal.
func TestConvert(t *testing.T) {
	files, _ := filepath.Glob("testdata/convert/*.in.json")
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".in.json"), func(t *testing.T) {
			classic := load(t, file)
			got := outcome(t, classic)
			if !identical(classic, load(t, file)) {
				t.Errorf("the input became %s", classic.JSON())
			}
			golden(t, strings.Replace(file, ".in.", ".out.", 1), got, (*doc.Node).Equal)
		})
	}
}

func outcome(t *testing.T, classic *doc.Node) *doc.Node {
	out := doc.NewObject()
	r, err := migrate.Convert(classic, numbered())
	if err != nil {
		e, ok := errors.AsType[*fault.Error](err)
		if !ok || e.Kind != fault.Invalid || e.Message == "" {
			t.Fatalf("refused by %v", err)
		}
		out.Put(doc.NewString(e.Field), "error", "field")
		out.Put(doc.NewString(e.Message), "error", "message")
		return out
	}
	for _, v := range all(r) {
		settles(t, v)
	}
	out.Set("base", shown(r.Base))
	children := doc.NewArray()
	for _, v := range r.Versions {
		children.Append(shown(v))
	}
	out.Set("versions", children)
	out.Set("notes", doc.NewStrings(r.Notes))
	return out
}

// TestConvertIsBounded: each child repeats the whole API without its versions, so an API with
// many versions would become gigabytes.
func TestConvertIsBounded(t *testing.T) {
	for n, refused := range map[int]bool{20: false, 30: true} {
		versions := doc.NewObject()
		for i := range n {
			versions.Set(fmt.Sprint("v", i), doc.NewObject())
		}
		def := doctest.Node(t, `{"name":"a","api_id":"a","config_data":{"x":"`+strings.Repeat("x", 3<<20)+`"},"version_data":{"not_versioned":false}}`)
		def.Put(versions, "version_data", "versions")
		_, err := migrate.Convert(def, numbered())
		if e, ok := errors.AsType[*fault.Error](err); ok != refused || refused && e.Code != "migrate.too_large" {
			t.Errorf("%d versions: %v", n, err)
		}
	}
}

// TestConvertRepeats: each cached path has the response codes of the API three times, and each
// method of an endpoint has its own entry; 60 KB would become gigabytes.
func TestConvertRepeats(t *testing.T) {
	text := func(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	actions := doc.NewObject()
	for i := range 5000 {
		actions.Set(fmt.Sprint("M", i), doctest.Node(t, `{"action":"no_action"}`))
	}
	for name, c := range map[string]struct {
		paths   string // extended paths
		codes   int
		refused bool
	}{
		"few cached paths":  {`"cache":[` + text(`"/p"`, 100) + `]`, 1000, false},
		"many cached paths": {`"cache":[` + text(`"/p"`, 1000) + `]`, 1000, true},
		"short path":        {`"ignored":[{"path":"/p","method_actions":` + string(actions.JSON()) + `}]`, 1, false},
		"long path":         {`"ignored":[{"path":"/` + strings.Repeat("p", 20_000) + `","method_actions":` + string(actions.JSON()) + `}]`, 1, true},
	} {
		def := doctest.Node(t, `{"name":"a","api_id":"a","cache_options":{"cache_response_codes":[`+text("200", c.codes)+
			`]},"version_data":{"not_versioned":true,"versions":{"v":{"use_extended_paths":true,"extended_paths":{`+c.paths+`}}}}}`)
		_, err := migrate.Convert(def, numbered())
		if e, ok := errors.AsType[*fault.Error](err); ok != c.refused || c.refused && e.Code != "migrate.too_large" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestConvertIsLinear: endpoints with a mock response are looked up in a map, and an action is
// not copied with the other actions of its entry.
func TestConvertIsLinear(t *testing.T) {
	api := func(entries string) string {
		return `{"name":"a","api_id":"a","version_data":{"not_versioned":true,"versions":{"v":{"use_extended_paths":true,"extended_paths":{"white_list":[` + entries + `]}}}}}`
	}
	growth.Linear(t, 500, func(n int) func() {
		var entries []string
		for i := range n {
			entries = append(entries, fmt.Sprintf(`{"path":"/p%d","method_actions":{"GET":{"action":"reply","code":200}}}`, i))
		}
		def := doctest.Node(t, api(strings.Join(entries, ",")))
		return func() { convert(t, def) }
	})
	growth.Linear(t, 200, func(n int) func() {
		var actions []string
		for i := range n {
			actions = append(actions, fmt.Sprintf(`"M%d":{"action":"no_action"}`, i))
		}
		def := doctest.Node(t, api(`{"path":"/p","method_actions":{`+strings.Join(actions, ",")+`}}`))
		return func() { convert(t, def) }
	})
}

func convert(t *testing.T, def *doc.Node) {
	t.Helper()
	if _, err := migrate.Convert(def, numbered()); err != nil {
		t.Fatal(err)
	}
}

func shown(v migrate.Version) *doc.Node {
	n := doc.NewObject()
	n.Set("name", doc.NewString(v.Name))
	n.Set("base_id", doc.NewString(v.BaseID))
	n.Set("classic", v.Classic)
	n.Set("oas", v.OAS)
	return n
}

func all(r migrate.Result) []migrate.Version { return append([]migrate.Version{r.Base}, r.Versions...) }

func FuzzConvert(f *testing.F) {
	files, _ := filepath.Glob("testdata/convert/*.in.json")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		classic, err := doc.ParseNode([]byte(text))
		if err != nil {
			return
		}
		before := classic.JSON()
		r, err := migrate.Convert(classic, numbered())
		if !bytes.Equal(classic.JSON(), before) {
			t.Errorf("the input became %s", classic.JSON())
		}
		if err != nil {
			return
		}
		for _, v := range all(r) {
			settles(t, v)
		}
		migrate.Promote(migrate.Stage(r), classic)
	})
}

// settles tests that the document of a migration expresses the definition: extracting it again
// changes nothing.
func settles(t *testing.T, v migrate.Version) {
	t.Helper()
	once := oas.Extract(v.OAS, v.Classic, oas.Options{})
	twice := oas.Extract(v.OAS, once, oas.Options{})
	if !once.Equal(twice) {
		t.Errorf("extracted again\n %s\nbecame\n %s", once.JSON(), twice.JSON())
	}
}

func TestSkip(t *testing.T) {
	for text, key := range map[string]string{
		`{"protocol":"tcp"}`: "is_tcp", `{"protocol":"TLS"}`: "is_tcp",
		`{"is_oas":true}`: "already_migrated", `{"graphql":{"enabled":true}}`: "is_graphql",
		`{"proxy":{"target_url":"wss://chat.test"}}`: "is_websocket", `{"protocol":"ws"}`: "is_websocket",
		`{"protocol":"https","graphql":{"enabled":false},"proxy":{"target_url":"http://wss.test"}}`: "", `{}`: "",
	} {
		got, message := migrate.Skip(doctest.Node(t, text), false)
		if got != key || (message == "") != (key == "") {
			t.Errorf("%s: %q (%s), want %q", text, got, message, key)
		}
	}
	if key, _ := migrate.Skip(doctest.Node(t, `{"is_oas":true}`), true); key != "is_streams" {
		t.Errorf("a streams API: %q", key)
	}
}
