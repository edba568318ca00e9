package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
)

// TestCheckCommand finds nothing in a healthy store, and names what is damaged.
func TestCheckCommand(t *testing.T) {
	s := newShell(t)
	t.Setenv("SVC_DB_LISTENPORT", "0")
	path := filepath.Join(os.Getenv("SVC_DB_HOMEDIR"), "gatehouse.db")
	s.run(0, "bootstrap", "--email", "a@example.com", "--org-id", "one")
	s.run(0, "import", folderWith(t, "a.json", api))
	s.says(0, "all is well: 4 records, 3 rows of the change log", "check")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{`update record set doc = '{' where kind = 'api'`, `update record set doc = '{"id":7}' where kind = 'user'`,
		`update change_log set body = '' where last = 2`} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s.says(1, `damaged: api … of organisation "one": the document is not valid JSON…damaged: user …damaged: change_log 2 …there is damage: 3 findings`, "check")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	s.says(1, "damaged: the file: …there is damage:", "check")
	s.says(1, "gatehouse: …open …gatehouse.db: the database file is damaged (…): restore a backup with `gatehouse restore FILE`", "serve")
	t.Setenv("SVC_DB_STORAGE_MAIN_TYPE", "memory")
	s.says(1, "nothing to check", "check")
}
