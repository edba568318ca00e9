package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
)

// holderOf is the environment variable with the file that a child, this test binary run again,
// serves from.
const holderOf = "GATEHOUSE_TEST_HOLD"

// boundedOf is the environment variable with the file of a child whose files may not grow.
const boundedOf = "GATEHOUSE_TEST_BOUND"

func TestMain(m *testing.M) {
	if path := os.Getenv(holderOf); path != "" {
		hold(path)
	}
	if path := os.Getenv(boundedOf); path != "" {
		bounded(path)
	}
	os.Exit(m.Run())
}

// hold serves from a file until it is killed.
func hold(path string) {
	_, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
	fmt.Println(err)
	select {}
}

// TestOneServicePerFile refuses a second service on a file, under any name, and lets others
// open it beside the first.
func TestOneServicePerFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "gatehouse.db"), filepath.Join(dir, "link.db")
	first := open(t, path)
	if !first.Alone() {
		t.Error("the first one is not alone")
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		_, err := sqlite.Open(t.Context(), sqlite.Config{Path: name})
		if !errors.Is(err, sqlite.ErrInUse) || !strings.Contains(err.Error(), fmt.Sprintf("(process %d): stop it first", os.Getpid())) {
			t.Errorf("%s: %v", name, err)
		}
	}
	beside, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Beside: true})
	if err != nil || beside.Alone() {
		t.Fatal(err)
	}
	if err := beside.Close(); err != nil {
		t.Error(err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); !errors.Is(err, sqlite.ErrInUse) {
		t.Errorf("after another has come and gone: %v", err)
	}
}

// TestHardLinks refuses a file with a second name, during service and after it: one name's log
// is unknown under the other.
func TestHardLinks(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "gatehouse.db"), filepath.Join(t.TempDir(), "link.db")
	first := open(t, path)
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	refused := func(name string, beside bool) {
		t.Helper()
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: name, Beside: beside})
		if !errors.Is(err, sqlite.ErrTwoNames) {
			t.Errorf("%s, beside %t: %v", name, beside, err)
		}
		if err == nil {
			_ = s.Close()
		}
		if _, err := os.Stat(link + "-wal"); err == nil {
			t.Error("a second log was begun")
		}
	}
	refused(link, false)
	refused(link, true)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	refused(path, false)
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	open(t, path)
}

// TestLockDiesWithItsProcess takes over from a process that was killed.
func TestLockDiesWithItsProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), holderOf+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "<nil>\n" {
		t.Fatal(line, err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); !errors.Is(err, sqlite.ErrInUse) {
		t.Error(err)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	open(t, path)
}
