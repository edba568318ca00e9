package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// missingVariable names a file in which tests are noted that were left out because a server cannot
// be had. Without it such tests fail: only who asks for it runs a part of the tests.
const missingVariable = "GATEHOUSE_TEST_MISSING"

// errAbsent is the failure of a server that this machine cannot have.
var errAbsent = errors.New("this machine cannot have it")

// unavailable ends a test whose server cannot be used: a server that cannot be had leaves the test
// out where that is asked for, anything else fails it.
func unavailable(t testing.TB, svc *service, err error) {
	t.Helper()
	file := os.Getenv(missingVariable)
	if file == "" || !errors.Is(err, errAbsent) {
		t.Fatal(err)
	}
	if err := note(file, svc.name, packageName(), t.Name()); err != nil {
		t.Fatal(err)
	}
	t.Skipf("left out: no %s: %v", svc.name, err)
}

// LeaveOut ends a test that needs something else that this machine cannot have, such as a
// browser: as a server that cannot be had.
func LeaveOut(t testing.TB, what string, why error) {
	t.Helper()
	unavailable(t, &service{name: what}, fmt.Errorf("%w: %w", errAbsent, why))
}

// note appends one line; several processes may do so at once.
func note(file, server, pkg, test string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\t%s\t%s\n", server, pkg, test)
	return errors.Join(err, f.Close())
}

// packageName names the package whose tests run: `go test` runs them in its folder.
func packageName() string {
	dir, err := os.Getwd()
	root, more := moduleRoot()
	if err != nil || more != nil {
		return dir
	}
	if rel, err := filepath.Rel(root, dir); err == nil {
		return filepath.ToSlash(rel)
	}
	return dir
}
