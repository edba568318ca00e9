package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
)

// TestSecondService: a second service on the same file is refused with one line, but
// commands work beside the first one.
func TestSecondService(t *testing.T) {
	s := newShell(t)
	t.Setenv("SVC_DB_LISTENPORT", "0")
	first, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(os.Getenv("SVC_DB_HOMEDIR"), "gatehouse.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	s.says(1, "gatehouse: open …gatehouse.db: another gatehouse process serves from this file (process …): stop it first", "serve")
	s.says(0, "admin …made", "bootstrap", "--email", "a@example.com", "--org-id", "one")
	s.says(0, "stored: 1 created", "import", folderWith(t, "a.json", api))
	s.says(0, "was there", "migrate")
	if head, err := first.Head(t.Context()); err != nil || head == 0 {
		t.Errorf("the service that runs sees revision %d, %v", head, err)
	}
}
