package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFresh: the committed files are what the sources build, in any folder.
func TestFresh(t *testing.T) {
	if err := run("..", true, "", new(bytes.Buffer)); err != nil {
		t.Error(err)
	}
	copied := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.CopyFS(copied, os.DirFS("..")); err != nil {
		t.Fatal(err)
	}
	if err := run(copied, true, "", new(bytes.Buffer)); err != nil {
		t.Errorf("another folder makes other files: %v", err)
	}
}

// TestStale: files that the sources do not build, unlisted packages, and a folder that
// would change the result are refused.
func TestStale(t *testing.T) {
	for name, c := range map[string]struct {
		change func(root string) error
		want   string
	}{
		"a source":     {func(r string) error { return os.WriteFile(r+"/src/style.css", []byte("body{color:red}"), 0o644) }, "stale"},
		"a built file": {func(r string) error { return os.WriteFile(r+"/dist/console.js", []byte("x"), 0o644) }, "stale"},
		"one too many": {func(r string) error { return os.WriteFile(r+"/dist/more.js", []byte("x"), 0o644) }, "made of nothing"},
		"a package":    {func(r string) error { return os.WriteFile(r+"/vendor/more.js", []byte("x"), 0o644) }, "is not in build/vendor.json"},
		"node_modules": {func(r string) error { return os.Mkdir(r+"/node_modules", 0o755) }, "remove it"},
		"a version": {func(r string) error {
			return os.WriteFile(r+"/vendor/preact/package.json", []byte(`{"version":"1.0.0"}`), 0o644)
		}, "build/vendor.json says"},
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "console")
			if err := os.CopyFS(root, os.DirFS("..")); err != nil {
				t.Fatal(err)
			}
			if err := c.change(root); err != nil {
				t.Fatal(err)
			}
			if err := run(root, true, "", new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
