//go:build linux

package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// bounded writes until the system refuses to let any file of the process grow, and prints the
// errors of the store, before and after the limit is lifted.
func bounded(path string) {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	var limit syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit)
	small := limit
	small.Cur = 1 << 20
	_ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small)
	for i := 0; err == nil && i < 1000; i++ {
		_, err = s.Update(ctx, acme, func(w store.Writer) error {
			return items.Insert(ctx, w, item{ID: fmt.Sprint(i), Org: "a", Name: fmt.Sprint(i) + strings.Repeat("x", 8000)})
		})
	}
	trouble := s.Trouble(ctx)
	fmt.Println(errors.Is(err, store.ErrFile), errors.Is(err, store.ErrUnavailable), errors.Is(trouble, store.ErrFile))
	_ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	fmt.Println(s.Trouble(ctx))
	os.Exit(0)
}

// TestBoundedFiles: a store whose files may not grow reports that nothing can be written.
// Formerly the probe passed while each write failed.
func TestBoundedFiles(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), boundedOf+"="+filepath.Join(t.TempDir(), "gatehouse.db"))
	out, err := child.Output()
	if got := string(out); got != "true true true\n<nil>\n" || err != nil {
		t.Error(got, err)
	}
}
