package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apptest"
)

// TestLostKey: the program refuses to start without the key that the store was written
// with, in whichever way the key was lost, and says what to do. It creates no new key.
func TestLostKey(t *testing.T) {
	for encrypted, says := range map[string]struct{ missing, other string }{
		"false": {"has users whose access keys it protects: put the file back…`gatehouse keys reset`", "the access keys of all users are protected with another encryption key: restore"},
		"true":  {"the records in …gatehouse.db are encrypted with it: put the file back…nothing can be read without it", "the stored records are encrypted with another key: restore"},
	} {
		t.Run(encrypted, func(t *testing.T) {
			s := newShell(t)
			t.Setenv("SVC_DB_LISTENPORT", "0")
			t.Setenv("SVC_DB_ENCRYPTATREST", encrypted)
			file := filepath.Join(os.Getenv("SVC_DB_HOMEDIR"), "gatehouse.key")
			s.run(0, "bootstrap", "--email", "a@example.com", "--access-key", strings.Repeat("a", 32))
			key, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"serve"}, {"bootstrap", "--email", "a@example.com"}, {"import", folderWith(t, "a.json", api)}} {
				s.says(1, "gatehouse: the key file …gatehouse.key is missing, and …"+says.missing, args...)
			}
			if encrypted == "true" {
				s.says(1, says.missing, "keys", "reset", "--yes")
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("the key file was made anew")
			}
			if err := os.WriteFile(file, []byte("another key\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			s.says(1, "the key file …gatehouse.key: "+says.other, "serve")
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			t.Setenv("SVC_DB_ENCRYPTIONKEYS", "changed")
			s.says(1, "encryption_keys: "+says.other, "serve")
			t.Setenv("SVC_DB_ENCRYPTIONKEYS", "changed,"+strings.TrimSpace(string(key)))
			s.says(0, strings.Repeat("a", 32), "bootstrap", "--email", "a@example.com")
		})
	}
}

// TestEncryptedByDefault: the files have nothing of an imported API in plain text, and
// with the key everything can be read.
func TestEncryptedByDefault(t *testing.T) {
	s := newShell(t)
	s.run(0, "bootstrap", "--email", "a@example.com", "--org-id", "one")
	s.run(0, "import", folderWith(t, "a.json", strings.ReplaceAll(api, "up.example", "user:hunter2@up.example")))
	files, err := filepath.Glob(filepath.Join(os.Getenv("SVC_DB_HOMEDIR"), "*"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if text, err := os.ReadFile(f); err != nil || strings.Contains(string(text), "hunter2") {
			t.Error(f, "shows the password", err)
		}
	}
	s.says(0, "all is well: 4 records", "check")
}

// TestResetKeys gives new access keys to users whose access keys are lost.
func TestResetKeys(t *testing.T) {
	s := newShell(t)
	t.Setenv("SVC_DB_ENCRYPTATREST", "false") // otherwise the documents would be lost too
	t.Setenv("SVC_DB_LISTENPORT", "0")
	s.run(0, "bootstrap", "--email", "a@example.com", "--org-id", "one", "--access-key", strings.Repeat("a", 32))
	if err := os.Remove(filepath.Join(os.Getenv("SVC_DB_HOMEDIR"), "gatehouse.key")); err != nil {
		t.Fatal(err)
	}
	s.says(1, "say --yes", "keys", "reset")
	text := s.run(0, "keys", "reset", "--yes")
	fields := strings.Fields(text)
	if !apptest.Matches(text, "one …a@example.com …users with a new access key: 1") || len(fields) < 4 || len(fields[3]) != 32 {
		t.Fatal(text)
	}
	s.says(0, "access key    "+fields[3], "bootstrap", "--email", "a@example.com", "--org-id", "one")
	s.says(0, "users with a new access key: 0", "keys", "reset", "--yes")
}
