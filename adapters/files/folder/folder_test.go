package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/files/folder"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/ports/files"
	"github.com/gatehouse-io/gatehouse/ports/files/filestest"
)

// TestStorage runs the suite of all storages.
func TestStorage(t *testing.T) {
	filestest.Run(t, folder.New(filepath.Join(t.TempDir(), "public", "system")))
}

// TestLinks states that symbolic links do not lead out of the folder.
func TestLinks(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.png"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(inside, "default")); err != nil {
		t.Skip("no symbolic links here")
	}
	s := folder.New(inside)
	if have, err := s.Open(t.Context(), file.Content{Place: file.Place{Name: "default/secret.png", Size: 6}}); err == nil {
		t.Errorf("read %q outside", have)
	}
	if _, err := s.Keep(t.Context(), "default/new.png", []byte("x")); err == nil {
		t.Error("wrote outside")
	}
	if err := s.Drop(t.Context(), "default/secret.png"); err == nil {
		t.Error("removed outside")
	}
	if _, err := os.Stat(filepath.Join(outside, "secret.png")); err != nil {
		t.Error(err)
	}
}

// TestUnfinished states that an unfinished file from a crash is not a content, that only
// its owner can read files, and that dropping the name removes the rest.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	s, left := folder.New(dir), filepath.Join(dir, "default", "products", "7.png.part")
	if _, err := s.Keep(t.Context(), "default/products/6.png", []byte("whole")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "default", "products", "6.png")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(left, []byte("ha"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), file.Content{Place: file.Place{Name: "default/products/7.png", Size: 4}}); !errors.Is(err, files.ErrAbsent) {
		t.Error(err)
	}
	if err := s.Drop(t.Context(), "default/products/7.png"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Error("the unfinished file is still there")
	}
}
