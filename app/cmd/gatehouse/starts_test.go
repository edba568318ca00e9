package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/apptest"
)

// hidden is a password that no message may contain.
const hidden = "hunter2-of-the-test"

// endsWithin is enough for a start that fails, also on a busy machine.
const endsWithin = 40 * time.Second

// failure is a start that fails: the files in the home folder, the environment, and the
// expected line.
type failure struct {
	name    string
	files   []string // in the home folder, names and contents in turn
	env     []string // without SVC_DB_
	prepare func(t *testing.T, home string) (env []string)
	code    int
	says    string // the expected parts, separated by …
	only    string // the only command that fails
}

var failures = []failure{
	{name: "unreachable database", env: []string{"STORAGE_MAIN_TYPE=postgres", "STORAGE_MAIN_CONNECTIONSTRING=postgres://u:" + hidden + "@127.0.0.1:1/db"},
		code: 1, says: "storage.main.connection_string: …127.0.0.1:1…refused"},
	{name: "bad connection string", env: []string{"STORAGE_MAIN_TYPE=postgres", "STORAGE_MAIN_CONNECTIONSTRING=postgres://u:" + hidden + "@127.0.0.1:port/db"},
		code: 1, says: "storage.main.connection_string: …cannot be read"},
	{name: "no connection string", env: []string{"STORAGE_MAIN_TYPE=postgres"}, code: 2, says: "storage.main.connection_string: postgres needs it"},
	{name: "unknown storage", env: []string{"STORAGE_MAIN_TYPE=mongo"}, code: 2, says: "storage.main.type: …sqlite, postgres"},
	{name: "home is a file", files: []string{"file", ""}, prepare: func(_ *testing.T, home string) []string {
		return []string{"HOMEDIR=" + filepath.Join(home, "file", "sub")}
	},
		code: 1, says: "home_dir: …not a directory"},
	{name: "database in no folder", prepare: func(*testing.T, string) []string {
		return []string{"STORAGE_MAIN_CONNECTIONSTRING=/dev/null/a.db"}
	},
		code: 1, says: "storage.main.connection_string: …/dev/null…not a directory"},
	{name: "database is a folder", files: []string{"gatehouse.db/x", ""}, code: 1, says: "storage.main.connection_string: …gatehouse.db"},
	{name: "database is none", files: []string{"gatehouse.db", strings.Repeat("no database at all ", 1000)}, code: 1, says: "storage.main.connection_string: …gatehouse.db…not a database"},
	{name: "newer database", prepare: newer, code: 1, says: "storage.main.connection_string: …gatehouse.db…use the newer program"},
	{name: "short key file", files: []string{"gatehouse.key", "short"}, code: 1, says: "gatehouse.key"},
	{name: "key file is a folder", files: []string{"gatehouse.key/x", ""}, code: 1, says: "gatehouse.key"},
	{name: "bad collector", env: []string{"TRACING_OTLPENDPOINT=http://u:" + hidden + "@[::1/x"}, code: 1, says: "tracing.otlp_endpoint: "},
	{name: "bad rules", files: []string{"schemas/dashboard.rego", "package x\n\ndeny {"}, env: []string{"SECURITY_OPENPOLICY_ENABLED=true"}, code: 1, says: "security.open_policy.enabled: …dashboard.rego"},
	{name: "no certificate of Redis", env: []string{"REDISADDRS=127.0.0.1:1", "REDISUSESSL=true", "REDISCAFILE=missing.pem"}, code: 1, says: "redis_ca_file…missing.pem", only: "serve"},
	{name: "bad certificate of Redis", files: []string{"bad.pem", "bad"}, env: []string{"REDISADDRS=127.0.0.1:1", "REDISUSESSL=true", "REDISCERTFILE=bad.pem", "REDISKEYFILE=bad.pem"},
		code: 1, says: "redis_cert_file…bad.pem", only: "serve"},
	{name: "no signing key", env: []string{"REDISADDRS=127.0.0.1:1", "PRIVATEKEYPATH=missing.pem"}, code: 1, says: "private_key_path: …missing.pem", only: "serve"},
	{name: "bad signing key", files: []string{"bad.pem", "bad"}, env: []string{"REDISADDRS=127.0.0.1:1", "PRIVATEKEYPATH=bad.pem"}, code: 1, says: "private_key_path: …", only: "serve"},
	{name: "port is taken", prepare: taken("LISTENPORT"), code: 1, says: "listen_port: …address already in use", only: "serve"},
	{name: "port of metrics is taken", prepare: taken("METRICS_LISTENADDRESS"), code: 1, says: "metrics.listen_address: …address already in use", only: "serve"},
	{name: "no certificate", env: []string{"HTTPSERVEROPTIONS_USESSL=true", "HTTPSERVEROPTIONS_SSLCERTIFICATES=missing.pem"}, code: 1,
		says: "http_server_options.ssl_certificates: …missing.pem", only: "serve"},
	{name: "bad certificate", files: []string{"bad.pem", "bad"}, env: []string{"HTTPSERVEROPTIONS_USESSL=true", `HTTPSERVEROPTIONS_CERTIFICATES=[{"cert_file":"bad.pem","key_file":"bad.pem"}]`},
		code: 1, says: "http_server_options.certificates: …bad.pem", only: "serve"},
	{name: "file in use", prepare: inUse, code: 1, says: "another gatehouse process serves from this file", only: "serve"},
	{name: "bad first access key", env: []string{"BOOTSTRAP_EMAIL=nobody"}, code: 1, says: "bootstrap: ", only: "serve"},
}

// newer creates a database of a later version of the program.
func newer(t *testing.T, home string) []string {
	path := filepath.Join(home, "gatehouse.db")
	if _, err := sqlite.Migrate(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `insert into migration (name, sum) values ('9999_future.sql', 'x')`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return nil
}

// taken listens at the address where the service is to listen.
func taken(variable string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		address := l.Addr().String()
		if variable == "LISTENPORT" {
			_, address, _ = net.SplitHostPort(address)
		}
		return []string{variable + "=" + address}
	}
}

// inUse opens the file in the home folder like a running service.
func inUse(t *testing.T, home string) []string {
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(home, "gatehouse.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return nil
}

// TestStartFailures starts the program in every way that fails. It must end with one
// plain line that names the setting and the cause, without a stack trace.
func TestStartFailures(t *testing.T) {
	binary, empty := program(t), folderWith(t, "a.json", api)
	for _, command := range [][]string{{"serve"}, {"serve", "--supervise"}, {"bootstrap", "--email", "a@example.com"}, {"import", empty}, {"check"}, {"keys", "reset", "--yes"}, {"migrate"}} {
		for _, f := range failures {
			if !f.concerns(command[0]) {
				continue
			}
			t.Run(strings.Join(command[:min(2, len(command))], " ")+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				f.check(t, binary, command)
			})
		}
	}
}

// concerns reports whether a command fails in this case.
func (f failure) concerns(command string) bool {
	switch {
	case f.only != "":
		return f.only == command
	case command == "migrate":
		return strings.HasPrefix(f.says, "storage.") || strings.HasPrefix(f.says, "home_dir")
	case command == "check": // the check reports problems with a file itself
		return slices.Contains(f.env, "STORAGE_MAIN_TYPE=postgres")
	}
	return true
}

func (f failure) check(t *testing.T, binary string, command []string) {
	home := folderWith(t, f.files...)
	env := append([]string{"HOMEDIR=" + home, "LISTENADDRESS=127.0.0.1", "LISTENPORT=0", "ADMINSECRET=" + hidden + "-admin", "NODESECRET=" + hidden + "-node"}, f.env...)
	if f.prepare != nil {
		env = append(env, f.prepare(t, home)...)
	}
	if _, err := os.Stat(filepath.Join(home, "gatehouse.db")); command[0] == "keys" && err != nil { // the command needs a store
		if _, err := sqlite.Migrate(t.Context(), filepath.Join(home, "gatehouse.db")); err != nil {
			t.Fatal(err)
		}
	}
	var out, errOut bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), endsWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, command...)
	cmd.WaitDelay = time.Second
	cmd.Dir, cmd.Stdout, cmd.Stderr = home, &out, &errOut
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for _, e := range env {
		cmd.Env = append(cmd.Env, "SVC_DB_"+e)
	}
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); !ended || cmd.ProcessState.ExitCode() != f.code {
		t.Errorf("exit code %d, want %d; %v", cmd.ProcessState.ExitCode(), f.code, err)
	}
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(errOut.String()), "\n"), func(l string) bool {
		return strings.HasPrefix(l, "time=") || strings.HasPrefix(l, "(`gatehouse config check`")
	})
	if len(lines) != 1 || !apptest.Matches(lines[0], "gatehouse: …"+f.says) || len(lines[0]) > 400 {
		t.Errorf("it says\n%s\nand not one line like %s", strings.Join(lines, "\n"), f.says)
	}
	for _, never := range []string{hidden, "goroutine", "panic", "SIGSEGV", "Usage", "fx.", ".go:"} {
		if strings.Contains(out.String()+errOut.String(), never) {
			t.Errorf("it says %s:\n%s%s", never, &out, &errOut)
		}
	}
}
