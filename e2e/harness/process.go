package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// How long a program may take to become ready, and to end after SIGTERM.
const (
	readyLimit = time.Minute
	endLimit   = 30 * time.Second
)

// inherited are the only variables that a process gets from the test's environment, so that
// settings on a developer's machine do not affect the program. The GO variables are for coverage
// and race reports.
var inherited = []string{"PATH", "HOME", "TMPDIR", "GOCOVERDIR", "GORACE", "GOTRACEBACK"}

// Command says how to start a program.
type Command struct {
	Path  string   // the program, for example Binary(t)
	Args  []string // without the program's name
	Env   []string // NAME=value; besides these it gets PATH, HOME and TMPDIR
	Dir   string   // working folder; empty for the test's
	Ready string   // URL that answers 200 as soon as the program is ready; empty: do not wait
}

// Process is a program under test that can be killed and restarted. It ends with the test.
type Process struct {
	program program
	ready   string
	out     tail

	mu    sync.Mutex
	child *child
}

// StartProcess starts a program and returns when it is ready. If the test fails, the end of the
// program's output is shown.
func StartProcess(t testing.TB, c Command) *Process {
	t.Helper()
	env := append([]string(nil), c.Env...)
	for _, name := range inherited {
		if value, set := os.LookupEnv(name); set {
			env = append([]string{name + "=" + value}, env...)
		}
	}
	p := &Process{ready: c.Ready, program: program{
		path: c.Path, args: c.Args, env: env, dir: c.Dir, orphan: syscall.SIGKILL,
	}}
	kill, err := session.owe(func() error {
		p.Kill()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = kill()
		if t.Failed() {
			t.Logf("last output of %s:\n%s", filepath.Base(c.Path), p.Logs())
		}
	})
	p.Start(t)
	return p
}

// Start starts the program again with the same arguments after Kill or Stop, and returns when it is
// ready.
func (p *Process) Start(t testing.TB) {
	t.Helper()
	if err := p.start(); err != nil {
		t.Fatalf("start %s: %v", filepath.Base(p.program.path), err)
	}
}

func (p *Process) start() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child != nil && p.child.ended(context.Background()) == nil {
		return errors.New("it is running")
	}
	if p.child, err = spawn(p.program, &p.out); err != nil || p.ready == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyLimit)
	defer cancel()
	return await(ctx, p.answers, p.child.ended)
}

// Kill ends the program with SIGKILL and returns when it has ended. It does nothing if the program
// has already ended. It may be called from any goroutine.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child != nil {
		p.child.kill()
		p.child = nil
	}
}

// SignalChild sends a signal to the one process that the program itself has started. It does not
// wait for the effect.
func (p *Process) SignalChild(t testing.TB, signal os.Signal) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child == nil {
		t.Fatal("the program does not run")
	}
	pids, err := Children(p.child.cmd.Process.Pid)
	if err != nil || len(pids) != 1 {
		t.Fatalf("the program has the children %v, want one; %v", pids, err)
	}
	if child, err := os.FindProcess(pids[0]); err != nil || child.Signal(signal) != nil {
		t.Fatalf("the child %d takes no signal; %v", pids[0], err)
	}
}

// Signal sends a signal and does not wait for the effect.
func (p *Process) Signal(t testing.TB, signal os.Signal) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child == nil {
		t.Fatal("the program does not run")
	}
	if err := p.child.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the program with SIGTERM and waits for it; the test fails when that takes longer than
// 30 s or the exit code is not 0.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	p.end(t, syscall.SIGTERM)
}

// Wait is Stop without a signal, for a program that is already ending.
func (p *Process) Wait(t testing.TB) {
	t.Helper()
	p.end(t, syscall.Signal(0))
}

func (p *Process) end(t testing.TB, signal syscall.Signal) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.child == nil {
		return
	}
	if err := p.child.end(signal, endLimit); err != nil {
		t.Errorf("stop %s: %v", filepath.Base(p.program.path), err)
	}
	p.child = nil
}

// Logs returns the last megabyte of the program's standard output and error, over all its starts.
func (p *Process) Logs() string { return p.out.String() }

func (p *Process) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.ready, nil)
	if err != nil {
		return err
	}
	req.Close = true // a kept connection would outlive the program
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", p.ready, res.Status)
	}
	return nil
}
