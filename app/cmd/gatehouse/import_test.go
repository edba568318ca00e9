package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apptest"
)

// shell runs commands with a store in a folder of its own.
type shell struct{ t *testing.T }

func newShell(t *testing.T) shell {
	t.Helper()
	t.Setenv("SVC_DB_HOMEDIR", t.TempDir())
	return shell{t}
}

// run runs a command and returns its output, with errors last.
func (s shell) run(wantCode int, args ...string) string {
	s.t.Helper()
	var out, errOut bytes.Buffer
	if code := run(s.t.Context(), args, &out, &errOut); code != wantCode {
		s.t.Errorf("%v: exit code %d, want %d\n%s%s", args, code, wantCode, &out, &errOut)
	}
	return out.String() + errOut.String()
}

// says runs a command whose output must have the parts of a pattern, in order.
func (s shell) says(wantCode int, pattern string, args ...string) {
	s.t.Helper()
	if text := s.run(wantCode, args...); !apptest.Matches(text, pattern) {
		s.t.Errorf("%v says\n%s\nand not %s", args, text, pattern)
	}
}

// folderWith creates a folder of files. pairs are names and contents in turn.
func folderWith(t *testing.T, pairs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(pairs); i += 2 {
		path := filepath.Join(dir, pairs[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(pairs[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const api = `{"api_id":"a","name":"A","active":true,"proxy":{"listen_path":"/a/","target_url":"http://up.example/"}}`

func TestImportCommand(t *testing.T) {
	s := newShell(t)
	dir := folderWith(t, "a.json", api, "README.md", "hi", ".git/config.json", "{", "p/policies.json", `{"gold":{"rate":1,"per":1}}`)
	s.says(1, "there is not exactly one organisation…--org…gatehouse bootstrap", "import", dir)
	s.run(0, "bootstrap", "--email", "a@example.com", "--org-id", "one")
	s.says(0, "would be created: API a (A)…would be created: policy gold…nothing was stored…"+
		"left out: .git: is hidden…left out: README.md…note: p/policies.json: gold.name: is missing…checking 2 of 2: gold", "import", "--dry-run", dir)
	s.says(0, "would be created: API a (A)…stored: 2 created, 0 changed in organisation one…checking 1 of 2…storing 2 of 2", "import", "--org", "one", "--yes", dir)
	s.says(0, "unchanged: 1 API…unchanged: 1 policy…nothing was stored", "import", dir)
	s.says(1, "there is no such organisation", "import", "--org", "two", dir)
	s.run(0, "bootstrap", "--email", "b@example.com", "--org-id", "two", "--owner-slug", "two")
	s.says(1, "not exactly one", "import", dir)
	s.says(1, "problem: a.json: api_id: Found API with the same ID…nothing was stored", "import", "--org", "two", dir)
	s.says(0, "stored: 1 created", "import", "--org", "two", folderWith(t, "p/policies.json", `{"gold":{"rate":1,"per":1}}`))
}

func TestImportRefusals(t *testing.T) {
	s := newShell(t)
	s.run(0, "bootstrap", "--email", "a@example.com")
	s.says(1, "no such file", "import", filepath.Join(t.TempDir(), "none"))
	s.says(1, "nothing to import", "import", folderWith(t, "README.md", "hi"))
	s.says(1, "arg", "import")
	bad := folderWith(t, "a.json", api, "b.json", `{`, "c.json", `{"listen_port":1}`)
	s.says(1, "problem: b.json: not valid JSON…problem: c.json: is none of what can be imported…nothing was stored: 2 problems", "import", "--yes", bad)
	worse := folderWith(t, "a.json", api, "b.json", strings.ReplaceAll(api, `"/a/"`, `"a"`), "policies.json", `{"x":{"rate":"fast","per":1}}`)
	s.says(1, `problem: b.json: api_id: the API "a" is in a.json already…problem: policies.json: x.rate: must be a number…nothing was stored: 2 problems`, "import", "--yes", worse)
	worst := folderWith(t, "a.json", api, "b.json", strings.NewReplacer(`"/a/"`, `"b"`, `"a"`, `"b"`).Replace(api), "policies.json", `{"x":{"rate":"fast","per":1}}`)
	s.says(1, `problem: b.json: proxy.listen_path: Listen path…problem: policies.json: x.rate: must be a number…nothing was stored: 2 problems`, "import", "--yes", worst)
	s.says(0, "would be created: API a (A)", "import", "--dry-run", folderWith(t, "a.json", api)) // nothing of that was stored
	s.says(0, "policies.json (policy by id)…--dry-run…--org…--yes", "import", "--help")
	t.Setenv("SVC_DB_STORAGE_MAIN_TYPE", "memory")
	s.says(1, "storage.main.type is memory", "import", folderWith(t, "a.json", api))
}
