package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// missingVariable names a file that records tests which were left out because a server is not
// available. Without it such tests fail: tests are left out only on request.
const missingVariable = "GATEHOUSE_TEST_MISSING"

// errAbsent means that this machine cannot provide a server.
var errAbsent = errors.New("this machine cannot have it")

// unavailable ends a test whose server cannot be used. If the machine cannot provide the server
// and leaving out is requested, the test is left out; otherwise it fails.
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

// LeaveOut ends a test for another missing requirement, such as a browser, in the same way.
func LeaveOut(t testing.TB, what string, why error) {
	t.Helper()
	unavailable(t, &service{name: what}, fmt.Errorf("%w: %w", errAbsent, why))
}

// note appends one line; several processes may call it concurrently.
func note(file, server, pkg, test string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\t%s\t%s\n", server, pkg, test)
	return errors.Join(err, f.Close())
}

// packageName returns the name of the package whose tests run: `go test` runs them in its folder.
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
