package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLostKey refuses to start without the key that the store was written with,
// whatever way it was lost, and says what to do; nothing takes its place.
func TestLostKey(t *testing.T) {
	s := newShell(t)
	t.Setenv("SVC_DB_LISTENPORT", "0")
	file := filepath.Join(os.Getenv("SVC_DB_HOMEDIR"), "gatehouse.key")
	s.run(0, "bootstrap", "--email", "a@example.com", "--access-key", strings.Repeat("a", 32))
	key, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	missing := "gatehouse: the key file …gatehouse.key is missing, and …gatehouse.db has users whose access keys it protects: put the file back…`gatehouse keys reset`"
	for _, args := range [][]string{{"serve"}, {"bootstrap", "--email", "a@example.com"}, {"import", folderWith(t, "a.json", api)}} {
		s.says(1, missing, args...)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the key file was made anew")
	}
	if err := os.WriteFile(file, []byte("another key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.says(1, "the key file …gatehouse.key: the access keys of all users are protected with another encryption key: restore", "serve")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SVC_DB_ENCRYPTIONKEYS", "changed")
	s.says(1, "encryption_keys: the access keys of all users are protected with another encryption key: restore", "serve")
	t.Setenv("SVC_DB_ENCRYPTIONKEYS", "changed,"+strings.TrimSpace(string(key)))
	s.says(0, strings.Repeat("a", 32), "bootstrap", "--email", "a@example.com")
}

// TestResetKeys starts over for those whose access keys are lost.
func TestResetKeys(t *testing.T) {
	s := newShell(t)
	t.Setenv("SVC_DB_LISTENPORT", "0")
	s.run(0, "bootstrap", "--email", "a@example.com", "--org-id", "one", "--access-key", strings.Repeat("a", 32))
	if err := os.Remove(filepath.Join(os.Getenv("SVC_DB_HOMEDIR"), "gatehouse.key")); err != nil {
		t.Fatal(err)
	}
	s.says(1, "say --yes", "keys", "reset")
	text := s.run(0, "keys", "reset", "--yes")
	fields := strings.Fields(text)
	if !matches(text, "one …a@example.com …users with a new access key: 1") || len(fields) < 4 || len(fields[3]) != 32 {
		t.Fatal(text)
	}
	s.says(0, "access key    "+fields[3], "bootstrap", "--email", "a@example.com", "--org-id", "one")
	s.says(0, "users with a new access key: 0", "keys", "reset", "--yes")
}
