package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFresh: the committed files match the list.
func TestFresh(t *testing.T) {
	if err := run("..", true, ""); err != nil {
		t.Error(err)
	}
}

// TestStale: packages and licences that are not in the list are refused.
func TestStale(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"a file":    {"packages/more.js", "x", "is not in build/vendor.json"},
		"a version": {"packages/redoc/package.json", `{"version":"1.0.0"}`, "build/vendor.json says"},
		"licences":  {"licences.txt", "x", "stale"},
	} {
		root := filepath.Join(t.TempDir(), "viewers")
		if err := os.CopyFS(root, os.DirFS("..")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, c.file), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := run(root, true, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
