package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// binaryVariable names an existing build of the program.
const binaryVariable = "GATEHOUSE_TEST_BINARY"

var sharedBinary = sync.OnceValues(buildGatehouse)

// Binary returns the path of the gatehouse program: the one that GATEHOUSE_TEST_BINARY names, or
// one that the first call builds from this module, statically linked; it exists until Run ends.
func Binary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(binaryVariable); path != "" {
		return path
	}
	path, err := sharedBinary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func buildGatehouse() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	folder, err := session.folder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "gatehouse")
	return path, build(root, "./app/cmd/gatehouse", path)
}

// build compiles a main package of the module in dir into the file out, with the settings of the
// tests, so that packages compiled for these are reused.
func build(dir, pkg, out string) error {
	cmd := exec.Command("go", "build", "-o", out, pkg)
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, output)
	}
	return nil
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	file := strings.TrimSpace(string(out))
	if file == "" || file == os.DevNull {
		return "", errors.New("the tests do not run inside a Go module; set " + binaryVariable)
	}
	return filepath.Dir(file), nil
}
