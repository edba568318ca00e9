package harness

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// errNoRun means that no code would clean up what is about to be created.
var errNoRun = errors.New("the package needs a TestMain that calls harness.Run, or the run is over")

// ward holds what must be cleaned up before the test process ends.
type ward struct {
	mu     sync.Mutex
	active bool
	owed   []*debt
}

// debt is one cleanup; it runs once, at the first request.
type debt struct {
	once   sync.Once
	remove func() error
	err    error
}

var session ward

// Run runs the tests of a package, then removes every server, container and folder that the harness
// created for them, also after an interrupt. It returns the exit code for os.Exit.
func Run(m *testing.M) int {
	session.begin()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupts
		_ = session.end()
		os.Exit(130)
	}()
	code := m.Run()
	if err := session.end(); err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		code = max(code, 1)
	}
	return code
}

func (w *ward) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.active = true
}

// end runs all cleanups, the latest first.
func (w *ward) end() error {
	w.mu.Lock()
	owed := w.owed
	w.active, w.owed = false, nil
	w.mu.Unlock()
	var errs []error
	for _, d := range slices.Backward(owed) {
		errs = append(errs, d.pay())
	}
	return errors.Join(errs...)
}

// owe registers the cleanup of an object before it is created, so that an interrupt finds it; the
// returned function runs the cleanup at once instead of at the end.
func (w *ward) owe(remove func() error) (func() error, error) {
	d := &debt{remove: remove}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.active {
		return nil, errNoRun
	}
	w.owed = append(w.owed, d)
	return func() error {
		err := d.pay()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.owed = slices.DeleteFunc(w.owed, func(o *debt) bool { return o == d })
		return err
	}, nil
}

// folder creates a temporary folder that is removed at the end of the run.
func (w *ward) folder() (string, error) {
	path, err := os.MkdirTemp("", "gatehouse-e2e-")
	if err != nil {
		return "", err
	}
	if _, err := w.owe(func() error { return os.RemoveAll(path) }); err != nil {
		return "", errors.Join(err, os.RemoveAll(path))
	}
	return path, nil
}

func (d *debt) pay() error {
	d.once.Do(func() { d.err = d.remove() })
	return d.err
}
