package app_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/gatehouse-io/gatehouse/"

// rule says what the files of a folder may import besides the standard library.
// Folders are written as the go command does: "core/..." is core and all below it.
type rule struct {
	folder string
	own    []string // folders of this module
	others []string // modules; "*" for any
	never  []string // parts of the standard library, with all below: keys of reasons
	tests  bool     // test files are not free
}

// everywhere is what a row needs to allow any module.
var everywhere = []string{"*"}

// inner are the folders that everything but core may use.
var inner = []string{"core/...", "ports/..."}

// with returns the inner folders and more.
func with(more ...string) []string { return append(slices.Clip(inner), more...) }

// importRules is the table of docs/architecture.md. A folder that has no row may
// import nothing but the standard library.
var importRules = []rule{
	{folder: "core/...", own: []string{"core/..."}, never: []string{"context", "net/http", "database/sql", "os", "math/rand", "crypto/rand"}},
	// How long to wait between attempts, ports/retry, is not our domain.
	{folder: "ports/...", own: inner, others: []string{"github.com/cenkalti/backoff/v5"}, never: []string{"net/http", "database/sql", "os", "math/rand"}},
	{folder: "adapters/memdb", own: inner, others: []string{"github.com/hashicorp/go-memdb"}},
	{folder: "adapters/sql", own: inner},
	{folder: "adapters/sql/analytics", own: inner},
	{folder: "adapters/records", own: inner, others: []string{"github.com/tinylib/msgp", "google.golang.org/protobuf"}},
	{folder: "adapters/sql/analytics/analyticstest", own: []string{"adapters/sql/analytics"}}, // for tests and benchmarks
	{folder: "adapters/sql/postgres", own: with("adapters/sql"), others: []string{"github.com/jackc/pgx/v5"}},
	{folder: "adapters/sql/sqlite", own: with("adapters/sql"), others: []string{"modernc.org/sqlite"}},
	{folder: "adapters/http", own: inner, others: []string{"github.com/go-kit/kit"}},
	{folder: "adapters/http/contracttest", others: []string{"github.com/santhosh-tekuri/jsonschema/v6"}},
	{folder: "adapters/gzip", own: inner},
	{folder: "adapters/gzip/quick", others: []string{"github.com/klauspost/compress"}},
	{folder: "adapters/web/console", own: inner},
	{folder: "adapters/web/portal", own: with("adapters/web/portal/viewers"), others: []string{"github.com/yuin/goldmark", "github.com/microcosm-cc/bluemonday", "golang.org/x/net/html"}},
	{folder: "adapters/web/portal/viewers"},
	{folder: "adapters/web/portal/viewers/build", own: []string{"adapters/web/pack"}},
	{folder: "adapters/web/pack"},
	{folder: "adapters/web/console/build", own: []string{"adapters/web/pack"}, others: []string{"github.com/evanw/esbuild"}},
	{folder: "adapters/render", own: inner},
	{folder: "adapters/files/record", own: inner},
	{folder: "adapters/files/folder", own: inner},
	{folder: "adapters/files/s3", own: inner, others: []string{"github.com/minio/minio-go/v7"}},
	{folder: "adapters/files/s3/s3test"},
	{folder: "adapters/logfile", own: inner},
	{folder: "adapters/opa", own: inner, others: []string{"github.com/open-policy-agent/opa"}},
	{folder: "adapters/redis", own: inner, others: []string{"github.com/redis/go-redis/v9"}},
	{folder: "adapters/fetch", own: inner, others: []string{"github.com/coder/websocket"}},
	{folder: "adapters/fetch/fetchtest", own: []string{"ports/fetch"}},
	{folder: "adapters/dashboard/...", own: inner},
	{folder: "adapters/registration", own: inner},
	{folder: "adapters/oidc", own: inner, others: []string{"github.com/coreos/go-oidc/v3", "golang.org/x/oauth2"}},
	{folder: "adapters/gateway/local", own: with("adapters/gateway/keyhash")},
	{folder: "adapters/gateway/keyhash", own: inner},
	{folder: "adapters/gateway/remote", own: with("adapters/gateway/keyhash"), others: []string{"github.com/sony/gobreaker/v2"}},
	{folder: "adapters/yaml", own: inner, others: []string{"go.yaml.in/yaml/v3"}},
	{folder: "adapters/graphql", own: inner, others: []string{"github.com/vektah/gqlparser/v2"}},
	{folder: "adapters/openapi", own: inner, others: []string{"github.com/getkin/kin-openapi", "github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text"}},
	{folder: "adapters/crypto", own: inner},
	{folder: "adapters/mail", own: inner, others: []string{"github.com/wneessen/go-mail"}},
	{folder: "adapters/mail/mailtest"},
	{folder: "adapters/argon2", own: inner, others: []string{"golang.org/x/crypto"}},
	{folder: "adapters/prometheus", own: []string{"ports/..."}, others: []string{"github.com/prometheus/client_golang"}},
	{folder: "adapters/otel", own: []string{"ports/..."}, others: []string{"go.opentelemetry.io/otel"}},
	{folder: "app/registry", own: with("app/guard", "app/crud")},
	{folder: "app/identity", own: with("app/guard", "app/crud")},
	{folder: "app/rulebook", own: with("app/identity")},
	{folder: "app/signon", own: inner},
	{folder: "app/session", own: with("app/guard", "app/crud", "app/identity", "app/signon")},
	{folder: "app/gateway", own: with("app/guard")},
	{folder: "app/apis", own: with("app/crud")},
	{folder: "app/apis/forms", own: with("app/apis")},
	{folder: "app/apis/rows", own: with("app/apis")},
	{folder: "app/apis/pairing", own: with("app/apis")},
	{folder: "app/apis/versioning", own: with("app/apis", "app/apis/forms", "app/apis/pairing", "app/apis/rows")},
	{folder: "app/apis/documents", own: with("app/apis", "app/apis/forms", "app/apis/pairing", "app/apis/rows", "app/apis/versioning")},
	{folder: "app/apis/classic", own: with("app/apis", "app/apis/forms", "app/apis/rows", "app/apis/versioning")},
	{folder: "app/apis/oas", own: with("app/apis", "app/apis/documents", "app/apis/forms", "app/apis/rows", "app/apis/versioning")},
	{folder: "app/apis/streams", own: with("app/apis", "app/apis/documents", "app/apis/forms", "app/apis/rows", "app/apis/versioning")},
	{folder: "app/apis/mcp", own: with("app/apis", "app/apis/documents", "app/apis/forms", "app/apis/pairing", "app/apis/rows", "app/apis/versioning")},
	{folder: "app/apis/datagraph", own: with("app/apis/documents", "app/apis/rows", "app/apis/versioning")},
	{folder: "app/apis/cache", own: with("app/apis", "app/apis/rows")},
	{folder: "app/apis/migrate", own: with("app/apis", "app/apis/forms", "app/apis/rows", "app/apis/versioning")},
	{folder: "app/apis/importing", own: with("app/apis", "app/apis/forms", "app/apis/pairing")},
	// For tests.
	{folder: "app/apptest", own: with("app/guard", "app/crud", "app/portal", "adapters/memdb", "adapters/crypto", "adapters/http/...", "adapters/yaml")},
	{folder: "app/apis/apistest", own: with("app/...", "adapters/...")},
	{folder: "app/certificates", own: with("app/apis", "app/intents", "app/reports")},
	{folder: "app/oauth", own: with("app/apis", "app/intents")},
	{folder: "app/policies", own: with("app/guard", "app/crud")},
	{folder: "app/keys", own: with("app/crud", "app/intents", "app/policies")},
	{folder: "app/resources/...", own: with("app/crud")},
	{folder: "app/portal/...", own: with("app/guard", "app/crud", "app/delivery", "app/intents", "app/lease", "app/signon", "app/portal/...")},
	{folder: "app/schemas", own: inner},
	{folder: "app/governance", own: inner},
	{folder: "app/outbound", own: inner},
	{folder: "app/reports", own: inner},
	{folder: "app/analytics", own: inner},
	{folder: "app/upgrade", own: with("app/apis", "app/policies", "app/crud")},
	{folder: "app/transfer", own: with("app/apis/importing", "app/policies", "app/registry")},
	{folder: "app/audit", own: with("app/guard", "app/crud")},
	{folder: "app/past", own: with("app/crud")},
	{folder: "app/collector", own: with("app/lease")},
	{folder: "app/delivery", own: with("app/crud", "app/lease")},
	{folder: "app/intents", own: with("app/crud", "app/lease")},
	{folder: "app/guard", own: inner},
	{folder: "app/crud", own: inner},
	{folder: "app/relay", own: with("app/lease")},
	{folder: "app/installation", own: with("app/intents")},
	{folder: "app/lease", own: inner},
	{folder: "app/replicated", own: inner},
	{folder: "app/health", own: inner},
	{folder: "app/config", others: []string{"go.yaml.in/yaml/v3"}},
	{folder: "app", own: with("app/...", "adapters/memdb", "adapters/files/record", "adapters/http", "adapters/dashboard/...", "adapters/gateway/...", "adapters/crypto", "adapters/gzip", "adapters/openapi", "adapters/yaml"), others: []string{"go.uber.org/fx"}},
	{folder: "app/serve", own: with("adapters/...", "app/..."), others: everywhere},
	{folder: "app/cmd/gatehouse", own: []string{"core/...", "app/..."}, others: everywhere},
	{folder: "docs/generate", own: []string{"app", "app/config", "adapters/http", "core/access", "core/api/classic", "core/caps", "core/doc", "core/policy", "core/shape", "ports/operation"}},
	// Clients from outside.
	{folder: "e2e/gatewaysim", own: []string{"app/...", "e2e/..."}, others: everywhere, tests: true},
	{folder: "e2e/idp", own: []string{"e2e/gatewaysim"}, others: everywhere},
	{folder: "e2e/growth"},
	// Charts need traffic: tables as gateways' pump leaves them, without a gateway and a pump.
	{folder: "e2e/browser", own: []string{"e2e/harness"}, others: everywhere},
	{folder: "e2e/demo", own: []string{"app/...", "e2e/...", "adapters/sql/analytics/...", "adapters/sql/sqlite"}, others: everywhere},
	{folder: "e2e/portal", own: []string{"app/...", "e2e/...", "adapters/mail/mailtest"}, others: everywhere, tests: true},
	{folder: "e2e/console", own: []string{"app/...", "e2e/...", "adapters/sql/analytics/...", "adapters/sql/sqlite"}, others: everywhere},
	{folder: "e2e/harness", own: []string{"app/...", "e2e/..."}, others: everywhere, tests: true},
	{folder: "e2e/scenarios", own: []string{"app/...", "e2e/...", "adapters/mail/mailtest", "adapters/files/s3/s3test"}, others: everywhere, tests: true},
	// Their tests need more: the store's types for broken stores, trees of JSON for
	// what is sent at random.
	{folder: "e2e/linear", own: []string{"app/...", "e2e/..."}, others: everywhere},
	{folder: "e2e/contract", own: []string{"app/...", "e2e/..."}, others: everywhere},
	// Benchmarks measure the store itself, not only its HTTP face.
	{folder: "e2e/bench", own: with("adapters/...", "app/...", "e2e/..."), others: everywhere},
}

// reasons say why parts of the standard library are out of place in core and ports.
var reasons = map[string]string{
	"context": "core computes and does not wait", "net/http": "this is no transport", "database/sql": "this is no storage",
	"os": "there is no input or output here", "math/rand": "chance is an argument", "crypto/rand": "chance is an argument",
}

// covers reports whether a folder is what a pattern stands for.
func covers(pattern, folder string) bool {
	tree, ok := strings.CutSuffix(pattern, "/...")
	return folder == tree || ok && strings.HasPrefix(folder, tree+"/")
}

func (r rule) allows(path string) bool {
	if slices.ContainsFunc(r.never, func(p string) bool { return covers(p+"/...", path) }) {
		return false
	}
	if own, ok := strings.CutPrefix(path, module); ok {
		return slices.ContainsFunc(r.own, func(p string) bool { return covers(p, own) })
	}
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
		return true
	}
	return slices.ContainsFunc(r.others, func(p string) bool { return p == "*" || covers(p+"/...", path) })
}

// ruleOf returns the row of a folder, or the closed one.
func ruleOf(rules []rule, folder string) *rule {
	i := slices.IndexFunc(rules, func(r rule) bool { return covers(r.folder, folder) })
	if i < 0 {
		return &rule{}
	}
	return &rules[i]
}

// checkImports returns what is wrong with the imports of a module and with the rows
// about them, and how many files there are.
func checkImports(rules []rule, module fs.FS) (problems []string, files int, err error) {
	used := map[string]bool{}
	err = fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		files++
		folder := path.Dir(name)
		r := ruleOf(rules, folder)
		used[r.folder] = true
		if strings.HasSuffix(name, "_test.go") && !r.tests {
			return nil
		}
		text, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range f.Imports {
			switch p := strings.Trim(imp.Path.Value, `"`); {
			case r.allows(p):
			case r.folder == "":
				problems = append(problems, name+" must not import "+p+": "+folder+" has no row in importRules")
			default:
				problems = append(problems, name+" must not import "+p)
			}
		}
		return nil
	})
	for i, r := range rules {
		if !used[r.folder] {
			problems = append(problems, "the row "+r.folder+" has no files")
		}
		for _, other := range rules[:i] {
			if covers(r.folder, strings.TrimSuffix(other.folder, "/...")) || covers(other.folder, strings.TrimSuffix(r.folder, "/...")) {
				problems = append(problems, "the rows "+other.folder+" and "+r.folder+" are about the same folder")
			}
		}
	}
	return problems, files, err
}

// TestImports checks who imports whom, so that the table also holds where the
// linter does not run.
func TestImports(t *testing.T) {
	problems, files, err := checkImports(importRules, os.DirFS(".."))
	if err != nil || files < 50 {
		t.Fatalf("%d files, %v", files, err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

// TestImportRules checks that the rows can refuse.
func TestImportRules(t *testing.T) {
	for path, folder := range map[string]string{
		"context": "core/doc", "os/exec": "ports/store", module + "ports/store": "core/doc", module + "adapters/sql/sqlite": "app", module + "app": "adapters/memdb",
		"github.com/hashicorp/go-memdb": "ports/store", "math/rand/v2": "core/doc", module + "core/fault": "e2e/scenarios", module + "adapters/opa": "app", "go.uber.org/fx": "app/guard",
		module + "core/tenant": "app/unheard", "go.uber.org/zap": "app/apis/unheard", "modernc.org/sqlite": "adapters/sql/postgres", "golang.org/x/texture": "adapters/openapi",
	} {
		if ruleOf(importRules, folder).allows(path) {
			t.Errorf("%s may import %s", folder, path)
		}
	}
}

// TestImportCheck checks that the check sees what is wrong, with the module itself
// and with the table.
func TestImportCheck(t *testing.T) {
	file := func(imports string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("package x\n" + imports)} }
	rules := []rule{{folder: "core/...", own: []string{"core/..."}}, {folder: "app", own: []string{"core/..."}}, {folder: "e2e", tests: true}}
	sound := fstest.MapFS{
		"core/doc/doc.go": file(`import "` + module + `core/fault"`), "app/app.go": file(`import "os"`), "app/app_test.go": file(`import "go.uber.org/fx"`),
		"e2e/e2e_test.go": file(`import "testing"`), "app/new/new.go": file(`import "os"`), "app/new/new_test.go": file(`import "` + module + `core/doc"`),
	}
	for name, c := range map[string]struct {
		files fstest.MapFS
		row   string
		want  string
	}{
		"nothing":                             {},
		"a folder without a row, own":         {files: fstest.MapFS{"app/new/more.go": file(`import "` + module + `core/doc"`)}, want: "app/new has no row"},
		"a folder without a row, third party": {files: fstest.MapFS{"app/new/more.go": file(`import "go.uber.org/fx"`)}, want: "app/new has no row"},
		"a folder of the first level":         {files: fstest.MapFS{"tools/main.go": file(`import "` + module + `app"`)}, want: "tools has no row"},
		"what the row does not allow":         {files: fstest.MapFS{"app/more.go": file(`import "go.uber.org/fx"`)}, want: "app/more.go must not import go.uber.org/fx"},
		"a test file that is not free":        {files: fstest.MapFS{"e2e/more_test.go": file(`import "` + module + `core/doc"`)}, want: "e2e/more_test.go must not import"},
		"a row without a folder":              {row: "app/gone", want: "the row app/gone has no files"},
		"a row for what another one is about": {files: fstest.MapFS{"core/a/a.go": file("")}, row: "core/a", want: "the rows core/... and core/a are about the same folder"},
		"a row twice":                         {row: "app", want: "the rows app and app are about the same folder"},
		"a row for all folders below a row's": {row: "app/...", want: "the rows app and app/... are about the same folder"},
	} {
		t.Run(name, func(t *testing.T) {
			files, table := maps.Clone(sound), slices.Clone(rules)
			maps.Copy(files, c.files)
			if c.row != "" {
				table = append(table, rule{folder: c.row})
			}
			problems, _, err := checkImports(table, files)
			if all := strings.Join(problems, "\n"); err != nil || !strings.Contains(all, c.want) || c.want == "" && all != "" {
				t.Errorf("%v\n%s\nwant %s", err, all, c.want)
			}
		})
	}
}

// TestZones: the command knows all time zones, wherever it runs; programs that embed the
// control plane decide that for themselves.
func TestZones(t *testing.T) {
	for folder, want := range map[string]bool{"./cmd/gatehouse": true, ".": false} {
		out, err := exec.Command("go", "list", "-deps", folder).Output()
		if has := slices.Contains(strings.Fields(string(out)), "time/tzdata"); err != nil || has != want {
			t.Errorf("%s links time/tzdata: %t %v", folder, has, err)
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
	// Seven of them check and read OpenAPI documents. One, without dependencies of its
	// own, knows how long to wait between attempts.
	if len(modules) == 0 || len(modules) > 19 {
		t.Errorf("%d modules, at most 19: %v", len(modules), modules)
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
