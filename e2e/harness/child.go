package harness

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// outputLimit is how much of a program's last output is kept.
const outputLimit = 1 << 20

// lingerLimit is how long descendants of a killed program may keep its output open.
const lingerLimit = 10 * time.Second

// program says how to start a child process.
type program struct {
	path   string
	args   []string
	env    []string // the whole environment
	dir    string
	owner  *account       // nil for the present user
	orphan syscall.Signal // the signal to the child when the test process dies
}

// account is an OS user.
type account struct{ uid, gid int }

// child is a started program.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the child and all processes that hold its output have ended
	err  error         // its exit error; valid after done
}

// parent runs functions on one OS thread that never ends. Linux sends the parent-death signal when
// the thread that started the child ends, which may be long before the process does.
var parent = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// spawn starts a program; its output goes to out.
func spawn(p program, out *tail) (*child, error) {
	cmd := exec.Command(p.path, p.args...)
	cmd.Env, cmd.Dir = p.env, p.dir
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = lingerLimit
	cmd.SysProcAttr = attributes(p.owner, p.orphan)
	started := make(chan error)
	parent() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		if err := cmd.Wait(); !errors.Is(err, exec.ErrWaitDelay) {
			c.err = err
		}
	}()
	return c, nil
}

// ended returns an error once the child has ended.
func (c *child) ended(context.Context) error {
	select {
	case <-c.done:
		if c.err == nil {
			return errors.New("it ended by itself")
		}
		return fmt.Errorf("it ended by itself: %w", c.err)
	default:
		return nil
	}
}

// kill kills the child and waits until it has ended.
func (c *child) kill() {
	_ = c.cmd.Process.Kill() // fails only if it has already ended
	<-c.done
}

// end sends a signal and waits; a child that ignores it is killed, which is an error.
func (c *child) end(signal syscall.Signal, limit time.Duration) error {
	_ = c.cmd.Process.Signal(signal) // fails only if it has already ended
	select {
	case <-c.done:
		return c.err
	case <-time.After(limit):
		c.kill()
		return errors.New("it did not end in time and was killed")
	}
}

// tail is a writer that keeps the last outputLimit bytes.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write never fails.
func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, p...)
	if len(w.kept) > 2*outputLimit {
		w.kept = append([]byte(nil), w.kept[len(w.kept)-outputLimit:]...)
	}
	return len(p), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.kept[max(0, len(w.kept)-outputLimit):])
}
