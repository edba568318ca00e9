package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestChooseSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no redis-server there
	for _, c := range []struct{ engine, want string }{
		{"local", "install Redis (redis-server in PATH)"},
		{"local", "set GATEHOUSE_TEST_REDIS_ADDR"},
		{"local", "redis-server is not installed"},
		{"container", "no container:"},
		{"", "redis-server is not installed"},
		{"", "no container:"},
		{"podman", `GATEHOUSE_TEST_ENGINE is "podman"`},
	} {
		t.Run(c.engine+" "+c.want, func(t *testing.T) {
			t.Setenv(engineVariable, c.engine)
			t.Setenv("GATEHOUSE_TEST_REDIS_IMAGE", "gatehouse-e2e/absent:0")
			_, err := choose(&redis, 1, "")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want %q in it", err, c.want)
			}
		})
	}
}

// fake records how a test ends instead of ending one.
type fake struct {
	testing.TB
	ended string
}

func (f *fake) Helper()              {}
func (f *fake) Name() string         { return "TestX/y" }
func (f *fake) Fatal(...any)         { f.ended = "fatal"; panic(f) }
func (f *fake) Skipf(string, ...any) { f.ended = "skipped"; panic(f) }

// Without a server tests fail, unless leaving them out was requested; a server that
// exists and fails is never a reason to leave a test out.
func TestUnavailable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "missing")
	absent := fmt.Errorf("start an engine: %w", errAbsent)
	for _, c := range []struct {
		file string
		err  error
		want string
	}{{"", absent, "fatal"}, {file, errors.New("it fell over"), "fatal"}, {file, absent, "skipped"}, {file, absent, "skipped"}} {
		t.Setenv(missingVariable, c.file)
		f := &fake{TB: t}
		func() {
			defer func() { _ = recover() }()
			unavailable(f, &redis, c.err)
		}()
		if f.ended != c.want {
			t.Errorf("%+v: %s", c, f.ended)
		}
	}
	const line = "Redis\te2e/harness\tTestX/y\n"
	if text, err := os.ReadFile(file); err != nil || string(text) != line+line {
		t.Errorf("%q %v", text, err)
	}
}

func TestSharedServerFromEnvironment(t *testing.T) {
	own := NewPostgres(t)
	t.Setenv(postgres.external, own.DSN())
	s, err := share(&postgres, externalPostgres)
	if err != nil {
		t.Fatal(err)
	}
	if s.Addr() != own.Addr() || s.DSN() != own.DSN() || s.backend != nil {
		t.Errorf("got %s, want the server of the environment", s.Addr())
	}
	own.Stop(t)
	if _, err := share(&postgres, externalPostgres); err == nil || !strings.Contains(err.Error(), postgres.external) {
		t.Errorf("a server that does not answer gives %v", err)
	}
}

func TestNothingIsMadeOutsideARun(t *testing.T) {
	var w ward
	if _, err := w.owe(func() error { return nil }); !errors.Is(err, errNoRun) {
		t.Errorf("before the run: %v", err)
	}
	w.begin()
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.folder(); !errors.Is(err, errNoRun) {
		t.Errorf("after the run: %v", err)
	}
}

func TestWardPaysOnceAndInReverse(t *testing.T) {
	var w ward
	w.begin()
	var paid []string
	failure := errors.New("failure")
	debt := func(name string, err error) func() error {
		pay, oweErr := w.owe(func() error {
			paid = append(paid, name)
			return err
		})
		if oweErr != nil {
			t.Fatal(oweErr)
		}
		return pay
	}
	debt("a", failure)
	early := debt("b", nil)
	debt("c", nil)
	if err := early(); err != nil {
		t.Fatal(err)
	}
	if err := w.end(); !errors.Is(err, failure) {
		t.Errorf("end gives %v", err)
	}
	if got := strings.Join(paid, ""); got != "bca" {
		t.Errorf("paid %s", got)
	}
}

func TestWithDatabase(t *testing.T) {
	for _, c := range []struct{ dsn, want string }{
		{"postgres://u:p@h:1/old?sslmode=disable", "postgres://u:p@h:1/new?sslmode=disable"},
		{"postgresql://h", "postgresql://h/new"},
		{"host=h dbname=old", "host=h dbname=old dbname=new"},
	} {
		if got := withDatabase(c.dsn, "new"); got != c.want {
			t.Errorf("withDatabase(%q) = %q, want %q", c.dsn, got, c.want)
		}
	}
}
