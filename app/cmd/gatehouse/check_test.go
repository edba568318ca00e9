package main

import (
	"database/sql"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/redis"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/analytics"
)

// TestCheckReaders: the check reports that a pump takes records from the lists of the
// gateways.
func TestCheckReaders(t *testing.T) {
	s := newShell(t)
	t.Setenv("SVC_DB_LISTENPORT", "0")
	s.run(0, "bootstrap", "--email", "a@example.com", "--org-id", "one")
	addr := harness.NewRedis(t).Addr()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SVC_DB_REDISHOST", host)
	t.Setenv("SVC_DB_REDISPORT", port)
	t.Setenv("SVC_DB_ANALYTICS_COLLECT", "true")
	s.says(0, "all is well", "check")
	client, err := redis.Open(redis.Config{Addrs: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := redis.NewClaims(client).Share(t.Context(), analytics.Lists()[1], time.Minute); err != nil {
		t.Fatal(err)
	}
	s.says(0, "analytics: another program, most likely tyk-pump, takes records from analytics-tyk-system-analytics: … stop one of them…all is well", "check")
	t.Setenv("SVC_DB_REDISPORT", "1")
	s.says(0, "analytics: Redis does not say …all is well", "check")
}

// TestCheckCommand: the check finds nothing in a healthy store, and names damaged
// records.
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
	s.says(1, `damaged: user …damaged: api … of organisation "one": the document is not valid JSON…damaged: change_log 2 …there is damage: 3 findings`, "check")
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
