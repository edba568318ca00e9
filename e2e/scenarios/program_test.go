package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// output is the result of one run of the program.
type output struct {
	code        int
	out, errOut string
}

// run runs one command line in a temporary folder.
func run(t *testing.T, env environment, args ...string) output {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(t.Context(), harness.Binary(t), args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = append(env.list(), "PATH="+os.Getenv("PATH")), t.TempDir(), &out, &errOut
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	return output{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// want fails the test for another exit code or a missing text.
func (o output) want(t *testing.T, code int, texts ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d", o.code, code)
	}
	for _, text := range texts {
		if !strings.Contains(o.out+o.errOut, text) {
			t.Errorf("%q is missing", text)
		}
	}
	if t.Failed() {
		t.Logf("standard output:\n%s\nstandard error:\n%s", o.out, o.errOut)
	}
}

func TestVersion(t *testing.T) {
	o := run(t, environment{}, "version")
	o.want(t, 0, "gatehouse ")
	if o.errOut != "" || strings.Count(o.out, "\n") != 1 {
		t.Errorf("%q and %q", o.out, o.errOut)
	}
	run(t, environment{}, "no-such-command").want(t, 1, "no-such-command")
}

func TestConfigCheck(t *testing.T) {
	env := onPostgres(t.TempDir(), "postgres://gatehouse:pass-of-the-database@127.0.0.1:5432/gatehouse")
	env = env.with(environment{"REDISADDRS": "127.0.0.1:6379", "REDISPASSWORD": "pass-of-redis"}).bootstrapping()
	good := run(t, env, "config", "check")
	good.want(t, 0, "log_level: warn")
	for _, hidden := range []string{adminSecret, nodeSecret, keySecret, accessKey, "pass-of-the-database", "pass-of-redis"} {
		if strings.Contains(good.out+good.errOut, hidden) {
			t.Errorf("%q is shown", hidden)
		}
	}
	bad := run(t, env.with(environment{"STORAGE_MAIN_TYPE": "mongo", "LISTENPORT": "high", "LIMITS_MAXDEPTH": "deep"}), "config", "check")
	bad.want(t, 2, "storage.main.type", "listen_port", "limits.max_depth", "problem")
	level := run(t, env.with(environment{"LOGLEVEL": "loud"}), "config", "check")
	level.want(t, 0, "log_level: info", "warning")
	run(t, env, "config", "check", "--debug").want(t, 0, "log_level: debug")
	run(t, env.with(environment{"LISTENPORT": "high"}), "serve").want(t, 2, "listen_port")
}

// Settings can come from a file; the environment takes precedence.
func TestConfigFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gatehouse.yaml")
	if err := os.WriteFile(file, []byte("listen_port: 4000\nlog_level: warn\nstorage:\n  main:\n    type: memory\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, environment{"LISTENPORT": "4001"}, "config", "check", "--conf", file).
		want(t, 0, "listen_port: 4001", "log_level: warn", "type: memory")
	run(t, environment{}, "config", "check", "--conf", file+".missing").want(t, 2, "gatehouse.yaml.missing")
}

func TestMigrate(t *testing.T) {
	for name, env := range map[string]environment{
		"sqlite": onSQLite(t.TempDir()), "postgres": onPostgres(t.TempDir(), harness.Database(t)),
	} {
		first := run(t, env, "migrate")
		first.want(t, 0, "applied")
		second := run(t, env, "migrate")
		second.want(t, 0, "was there")
		if strings.Contains(second.out, "applied") || strings.Count(first.out, "\n") != strings.Count(second.out, "\n") {
			t.Errorf("%s: first\n%s\nsecond\n%s", name, first.out, second.out)
		}
	}
	run(t, onSQLite(t.TempDir()).with(environment{"STORAGE_MAIN_TYPE": "memory"}), "migrate").want(t, 1, "memory")
}

// bootstrapped is what `bootstrap --json` prints.
type bootstrapped struct {
	OrgID     string `json:"org_id"`
	UserID    string `json:"user_id"`
	AccessKey string `json:"access_key"`
	Created   bool   `json:"created"`
}

func bootstrap(t *testing.T, env environment) (b bootstrapped) {
	t.Helper()
	o := run(t, env, "bootstrap", "--email", adminEmail, "--json")
	o.want(t, 0)
	if err := json.Unmarshal([]byte(o.out), &b); err != nil {
		t.Fatalf("%v in %q", err, o.out)
	}
	return b
}

func TestBootstrap(t *testing.T) {
	for name, env := range map[string]environment{
		"sqlite": onSQLite(t.TempDir()), "postgres": onPostgres(t.TempDir(), harness.Database(t)),
	} {
		first := bootstrap(t, env)
		if !first.Created || first.OrgID == "" || first.UserID == "" || len(first.AccessKey) != 32 {
			t.Errorf("%s: first %+v", name, first)
		}
		again := first
		again.Created = false
		if second := bootstrap(t, env); second != again {
			t.Errorf("%s: second %+v, first %+v", name, second, first)
		}
		run(t, env, "bootstrap", "--email", adminEmail).want(t, 0, "there already", "curl", first.AccessKey)
	}
	run(t, onSQLite(t.TempDir()), "bootstrap").want(t, 1, "--email")
}
