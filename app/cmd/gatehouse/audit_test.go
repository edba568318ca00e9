package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// TestAuditCommands verifies and exports the trail of a service.
func TestAuditCommands(t *testing.T) {
	s := newShell(t)
	port := strconv.Itoa(harness.FreePort(t))
	t.Setenv("SVC_DB_LISTENPORT", port)
	s.run(0, "bootstrap", "--email", "a@example.com", "--org-id", "one")
	serving(t, port)()
	s.says(0, "all is well: 2 records", "audit", "verify")
	dir := t.TempDir()
	file := func(name string, args ...string) (path, text string) {
		var out, problems bytes.Buffer
		if code := run(t.Context(), args, &out, &problems); code != 0 {
			t.Fatal(args, code, &problems)
		}
		path, text = filepath.Join(dir, name), out.String()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path, text
	}
	trail, text := file("trail", "audit", "export")
	if !strings.Contains(text, `"org_id":"one"`) || !strings.Contains(text, `"operation":"bootstrap"`) {
		t.Error(text)
	}
	kept, _ := file("kept", "audit", "checkpoints")
	_, key := file("key", "audit", "checkpoints", "--keys")
	key = strings.TrimSpace(key)
	s.says(0, "all is well: 2 records", "audit", "verify", trail)
	s.says(0, "all is well: 2 records", "audit", "verify", "--checkpoints", kept)
	forged := filepath.Join(dir, "forged")
	if err := os.WriteFile(forged, []byte(strings.Replace(text, `"kind":"user"`, `"kind":"usex"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.says(1, "record 2: the record was changed…the trail is not as it was written: 1 finding", "audit", "verify", forged)
	s.says(1, "the trail was cut: it ends with 0", "audit", "verify", empty, "--checkpoints", kept)
	s.says(1, "is no checkpoint", "audit", "verify", "--checkpoints", trail)
	s.says(1, "--public-key is for a FILE", "audit", "verify", "--public-key", key)
	s.says(1, "expected name:base64", "audit", "verify", trail, "--public-key", "x")
	s.says(0, "", "audit", "export", "--org-id", "other")
	t.Setenv("SVC_DB_AUDIT_SIGNINGKEYS", "short")
	s.says(1, "audit.signing_keys: crypto: secret 1 of 1 has less than 16", "audit", "verify")
	signing, log := filepath.Join(dir, "signing.key"), filepath.Join(dir, "audit.log")
	if err := os.WriteFile(signing, []byte("a key that only signs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SVC_DB_AUDIT_SIGNINGKEYS", "file:"+signing)
	t.Setenv("SVC_DB_AUDIT_PATH", log)
	s.says(0, "all is well: 2 records", "audit", "verify") // signed by the key that is derived from the other one
	serving(t, port)()
	s.run(0, "bootstrap", "--email", "b@example.com", "--org-id", "two")
	serving(t, port)()
	if text, err := os.ReadFile(log); err != nil || strings.Count(string(text), "\noperation: bootstrap\n") != 2 || !strings.Contains(string(text), "\norg_id: two\n") {
		t.Errorf("%s %v", text, err)
	}
	later, _ := file("later", "audit", "export")
	_, own := file("own", "audit", "checkpoints", "--keys")
	s.says(0, "all is well: 4 records", "audit", "verify")
	s.says(0, "all is well: 4 records", "audit", "verify", later, "--public-key", key, "--public-key", strings.TrimSpace(own))
	s.says(1, "which signed the checkpoint, is not known", "audit", "verify", later, "--public-key", key)
	t.Setenv("SVC_DB_AUDIT_SIGNINGKEYS", "another key that signs,a key that only signs")
	s.says(0, "all is well: 4 records", "audit", "verify")
	t.Setenv("SVC_DB_HOMEDIR", t.TempDir()) // an auditor has neither the store nor the secret
	s.says(0, "all is well: 2 records", "audit", "verify", trail, "--public-key", key)
	t.Setenv("SVC_DB_STORAGE_MAIN_TYPE", "memory")
	s.says(1, "there is no audit trail", "audit", "verify")
}
