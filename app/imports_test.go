package app_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/gatehouse-io/gatehouse/"

// rule says what the packages below a folder may import besides the standard
// library: their own kind, and what is listed. Test files are free.
type rule struct {
	folder string
	own    []string // folders of this module
	others []string // modules; "*" for any
	never  []string // also of the standard library
}

// importRules is the table of docs/architecture.md; the longest matching folder counts.
var importRules = []rule{
	{folder: "core", own: []string{"core"}, never: []string{"context", "net/http", "database/sql", "os", "math/rand", "math/rand/v2", "crypto/rand"}},
	{folder: "ports", own: []string{"core", "ports"}, never: []string{"net/http", "database/sql", "os", "math/rand", "math/rand/v2"}},
	{folder: "adapters/memdb", own: []string{"core", "ports"}, others: []string{"github.com/hashicorp/go-memdb"}},
	{folder: "adapters/sql", own: []string{"core", "ports", "adapters/sql"}, others: []string{"github.com/jackc/pgx/v5", "modernc.org/sqlite"}},
	{folder: "adapters/http", own: []string{"core", "ports", "adapters/http", "adapters/yaml"}, others: []string{"github.com/go-kit/kit"}},
	{folder: "adapters/http/contracttest", own: []string{"core", "ports", "adapters/http", "adapters/yaml"}, others: []string{"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text"}},
	{folder: "adapters/opa", own: []string{"core", "ports"}, others: []string{"github.com/open-policy-agent/opa"}},
	{folder: "adapters/redis", own: []string{"core", "ports"}, others: []string{"github.com/redis/go-redis/v9"}},
	{folder: "adapters/fetch", own: []string{"core", "ports"}},
	{folder: "adapters/yaml", own: []string{"core"}, others: []string{"go.yaml.in/yaml/v3"}},
	{folder: "adapters/openapi", own: []string{"core", "ports"}, others: []string{"github.com/getkin/kin-openapi", "github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text"}},
	{folder: "adapters/crypto", own: []string{"core", "ports"}},
	{folder: "adapters/prometheus", own: []string{"ports"}, others: []string{"github.com/prometheus/client_golang"}},
	{folder: "adapters/otel", own: []string{"ports"}, others: []string{"go.opentelemetry.io/otel"}},
	{folder: "app/registry", own: []string{"core", "ports", "app/guard", "app/crud"}},
	{folder: "app/identity", own: []string{"core", "ports", "app/guard", "app/crud"}},
	{folder: "app/gateway", own: []string{"core", "ports", "app/guard"}},
	{folder: "app/apis", own: []string{"core", "ports", "app/guard", "app/crud"}},
	{folder: "app/policies", own: []string{"core", "ports", "app/guard", "app/crud"}},
	{folder: "app/hooks", own: []string{"core", "ports", "app/crud"}},
	{folder: "app/assets", own: []string{"core", "ports", "app/crud"}},
	{folder: "app/schemas", own: []string{"core", "ports"}},
	{folder: "app/outbound", own: []string{"core", "ports"}},
	{folder: "app/reports", own: []string{"core", "ports"}},
	{folder: "app/upgrade", own: []string{"core", "ports", "app/apis", "app/policies"}},
	{folder: "app/transfer", own: []string{"core", "ports", "app/apis", "app/policies", "app/registry"}},
	{folder: "app/guard", own: []string{"core", "ports"}},
	{folder: "app/crud", own: []string{"core", "ports"}},
	{folder: "app/relay", own: []string{"core", "ports"}},
	{folder: "app/replicated", own: []string{"core", "ports"}},
	{folder: "app/health", own: []string{"core", "ports"}},
	{folder: "app/config", others: []string{"go.yaml.in/yaml/v3"}},
	{folder: "app", own: []string{"core", "ports", "app", "adapters/memdb", "adapters/http", "adapters/crypto", "adapters/openapi", "adapters/yaml"}, others: []string{"go.uber.org/fx"}},
	{folder: "app/serve", own: []string{"core", "ports", "adapters", "app"}, others: []string{"*"}},
	{folder: "app/cmd", own: []string{"app", "core"}, others: []string{"*"}},
	{folder: "docs/generate", own: []string{"app", "adapters/http", "core/access", "core/caps", "ports/operation"}},
	{folder: "e2e", own: []string{"app", "e2e"}, others: []string{"*"}},
	{folder: "e2e/bench", own: []string{"app", "adapters", "ports", "core", "e2e"}, others: []string{"*"}},
}

func ruleOf(folder string) *rule {
	var found *rule
	for i, r := range importRules {
		if within(folder, r.folder) && (found == nil || len(r.folder) > len(found.folder)) {
			found = &importRules[i]
		}
	}
	return found
}

func within(path, folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }

func (r rule) allows(path string) bool {
	if slices.ContainsFunc(r.never, func(p string) bool { return path == p }) {
		return false
	}
	if own, ok := strings.CutPrefix(path, module); ok {
		return slices.ContainsFunc(r.own, func(p string) bool { return within(own, p) })
	}
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
		return true
	}
	return slices.ContainsFunc(r.others, func(p string) bool { return p == "*" || within(path, p) })
}

// TestImports checks who imports whom, so that the rule also holds where the
// linter does not run.
func TestImports(t *testing.T) {
	n := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		n++
		folder := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), "../"))
		r := ruleOf(folder)
		if r == nil {
			t.Errorf("%s: no rule says what %s may import", path, folder)
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range f.Imports {
			if p := strings.Trim(imp.Path.Value, `"`); !r.allows(p) {
				t.Errorf("%s must not import %s", path, p)
			}
		}
		return nil
	})
	if err != nil || n < 50 {
		t.Fatalf("%d files, %v", n, err)
	}
}

// TestImportRules checks that the rules can fail.
func TestImportRules(t *testing.T) {
	for path, folder := range map[string]string{
		"context": "core/doc", module + "ports/store": "core/doc", module + "adapters/sql/sqlite": "app", module + "app": "adapters/memdb",
		"github.com/hashicorp/go-memdb": "ports/store", module + "core/fault": "e2e/scenarios", module + "adapters/opa": "app", "go.uber.org/fx": "app/guard",
	} {
		if ruleOf(folder).allows(path) {
			t.Errorf("%s may import %s", folder, path)
		}
	}
}

// TestMinimalEmbedding checks that a program that embeds the control plane
// without options links no driver and few modules.
func TestMinimalEmbedding(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	modules := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if m := strings.TrimSpace(line); m != "" && m != strings.TrimSuffix(module, "/") {
			modules[m] = true
		}
	}
	// Seven of them check and read OpenAPI documents.
	if len(modules) == 0 || len(modules) > 18 {
		t.Errorf("%d modules, at most 18: %v", len(modules), modules)
	}
	for m := range modules {
		for _, heavy := range []string{"pgx", "sqlite", "redis", "opa", "prometheus", "opentelemetry", "cobra", "testcontainers"} {
			if strings.Contains(m, heavy) {
				t.Errorf("links %s", m)
			}
		}
	}
	t.Logf("%d modules", len(modules))
}
