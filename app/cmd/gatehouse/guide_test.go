package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// program returns the path of the program: the one in GATEHOUSE_TEST_BINARY, or one
// that is built for the test.
func program(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("GATEHOUSE_TEST_BINARY"); path != "" {
		return path
	}
	path := filepath.Join(t.TempDir(), "gatehouse")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestGuide runs the guide word for word: every block marked sh runs in one bash. A
// line "# → text" says what the commands since the last such line print; … in it stands
// for any text.
func TestGuide(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the guide is not tested: it needs %s, and there is none", tool)
		}
	}
	docs, err := filepath.Abs("../../../docs")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(docs, "guide-from-files.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir, port := t.TempDir(), strconv.Itoa(harness.FreePort(t))
	if err := os.Symlink(docs, filepath.Join(dir, "docs")); err != nil {
		t.Fatal(err)
	}
	guide := apptest.ReadGuide(string(text))
	if len(guide.Promises) < 5 {
		t.Fatal("the guide promises nothing")
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n"+strings.ReplaceAll(guide.Script, "127.0.0.1:3000", "127.0.0.1:"+port))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program(t))+":"+os.Getenv("PATH"), "SVC_DB_LISTENPORT="+port)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v after\n%s\n%s", err, out, &errOut)
	}
	for _, broken := range guide.Broken(string(out)) {
		t.Error(broken)
	}
}
