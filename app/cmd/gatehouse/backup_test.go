package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// TestBackupAndRestore makes backups beside a running service, by command and over
// HTTP, and restores them.
func TestBackupAndRestore(t *testing.T) {
	s := newShell(t)
	home, port := os.Getenv("SVC_DB_HOMEDIR"), strconv.Itoa(harness.FreePort(t))
	t.Setenv("SVC_DB_LISTENPORT", port)
	t.Setenv("SVC_DB_ADMINSECRET", "s3cret")
	t.Setenv("SVC_DB_AUDIT_ENABLED", "false") // the trail would add records
	s.run(0, "bootstrap", "--email", "a@example.com", "--org-id", "one")
	s.run(0, "import", folderWith(t, "a.json", api))
	dir := t.TempDir()
	file, fetched := filepath.Join(dir, "b.db"), filepath.Join(dir, "fetched.db")
	while := serving(t, port)
	s.says(0, "b.db: 4 records, revision 3", "backup", file)
	s.says(1, "b.db is there already", "backup", file)
	s.says(1, "another gatehouse process serves from this file", "restore", file, "--replace")
	for secret, want := range map[string]int{"wrong": 401, "s3cret": 200} {
		code, text := download(t, port, secret)
		if code != want {
			t.Errorf("%s: %d %s", secret, code, text)
		}
		if code == 200 {
			if err := os.WriteFile(fetched, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	while()
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(home, ".backup-*")); len(left) > 0 {
		t.Error("left over:", left)
	}
	s.says(1, "the store is not empty: say --replace", "restore", file)
	s.run(0, "bootstrap", "--email", "b@example.com", "--org-id", "two", "--owner-slug", "two") // after the backup
	for _, f := range []string{file, fetched} {
		s.says(0, "what was there is now …before-restore…restored: 4 records, revision 3", "restore", f, "--replace")
		s.says(0, "all is well: 4 records, 3 rows", "check")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.db")
	for _, damaged := range [][]byte{text[:len(text)/2], []byte("nothing"), {}} {
		if err := os.WriteFile(bad, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s.says(1, "bad.db", "restore", bad, "--replace")
	}
	s.says(0, "all is well: 4 records", "check")
	t.Setenv("SVC_DB_HOMEDIR", t.TempDir())
	s.says(0, "restored: 4 records", "restore", file)
	s.says(1, "gatehouse.key is missing", "serve")
}

// TestNoStore: commands that read stored data are refused if the store does not exist,
// for example because home_dir is mistyped. They create no files there.
func TestNoStore(t *testing.T) {
	s := newShell(t)
	home := filepath.Join(os.Getenv("SVC_DB_HOMEDIR"), "elsewhere")
	t.Setenv("SVC_DB_HOMEDIR", home)
	file := filepath.Join(t.TempDir(), "b.db")
	for _, args := range [][]string{{"backup", file}, {"check"}, {"audit", "verify"}, {"audit", "export"}, {"audit", "checkpoints"}, {"keys", "reset", "--yes"}} {
		s.says(1, "gatehouse: there is no store at "+filepath.Join(home, "gatehouse.db")+": home_dir and storage.main.connection_string say where it is", args...)
	}
	for _, never := range []string{home, file} {
		if _, err := os.Stat(never); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", never, err)
		}
	}
}

// serving runs the service until the function it returns is called.
func serving(t *testing.T, port string) func() {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int)
	var out bytes.Buffer
	go func() { done <- run(ctx, []string{"serve"}, io.Discard, &out) }()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get("http://127.0.0.1:" + port + "/health")
		if err == nil {
			_ = resp.Body.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the service does not start:", err)
		}
	}
	return func() {
		stop()
		if code := <-done; code != 0 {
			t.Errorf("exit code %d\n%s", code, &out)
		}
	}
}

func download(t *testing.T, port, secret string) (int, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1:"+port+"/admin/backup", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("admin-auth", secret)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, text
}
