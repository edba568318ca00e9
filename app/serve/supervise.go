//go:build unix

package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// Pauses before a child that ended without having served is started again: the first
// one, and the longest one after doubling.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
)

// badSettings is the exit code for settings that cannot work: a restart would not help.
const badSettings = 2

// checkSettingsTime bounds the check of settings before a child is replaced.
const checkSettingsTime = 10 * time.Second

// Supervise opens the sockets of the service and runs it as a child that accepts
// connections from them. A child that ends unexpectedly is started again; connections
// wait meanwhile and none is refused. If a child ends before any child has served, the
// supervisor ends too.
//
// SIGTERM and SIGINT stop the child, a second one kills it. SIGHUP replaces the child by
// the program that is then on the disk, which reads the settings again, unless that
// program reports that the settings cannot work. The child, and the check of the
// settings, get the flags.
func Supervise(ctx context.Context, s config.Settings, log *slog.Logger, flags ...string) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(signals)
	given, err := inherit()
	if err != nil {
		return err
	}
	l, err := openSockets(ctx, s, given.sockets)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	v := &supervisor{log: log, args: append([]string{"serve", "--supervise"}, flags...), signals: signals, unfit: func() (bool, error) { return unfit(ctx, flags) }}
	for _, socket := range l.all() {
		tcp, ok := socket.(*net.TCPListener)
		if !ok {
			return errors.New(variableCount + ": expected TCP sockets")
		}
		f, err := tcp.File()
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		v.sockets = append(v.sockets, f)
	}
	return v.run()
}

// supervisor runs one child after the other.
type supervisor struct {
	log     *slog.Logger
	args    []string
	sockets []*os.File
	signals <-chan os.Signal
	unfit   func() (bool, error) // reports whether the settings cannot work

	stopping, replacing bool
	everServed          bool
}

// run returns when no child is to be started any more.
func (v *supervisor) run() error {
	for pause := time.Duration(0); v.wait(pause); {
		c, err := v.start()
		if err != nil && !v.everServed {
			return err
		}
		if err != nil { // the system has too many processes, or the program is just being replaced
			v.log.Error("the service cannot be started; trying again, and connections wait", "error", err)
			pause = longer(pause)
			continue
		}
		v.watch(c)
		code := c.state.ExitCode()
		if status, ok := c.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			code = 128 + int(status.Signal()) // as shells report it
		}
		if v.final(c, code) {
			if code != 0 {
				return &Ended{Code: code}
			}
			return nil
		}
		if v.replacing {
			v.log.Info("the service is started anew")
		} else {
			v.log.Error("the service has ended unasked and is started again; connections wait", "how", c.state.String(), "had_served", c.served)
		}
		pause = longer(pause)
		if c.served || v.replacing {
			pause = 0
		}
		v.everServed, v.replacing = v.everServed || c.served, false
	}
	return nil
}

func longer(pause time.Duration) time.Duration { return min(max(2*pause, firstPause), longestPause) }

// final reports whether no other child must be started.
func (v *supervisor) final(c *watched, code int) bool {
	switch {
	case v.stopping:
		return true
	case v.replacing:
		return false
	}
	if code == 0 || !v.everServed && !c.served {
		return true
	}
	if code != badSettings || c.served {
		return false
	}
	unfit, err := v.unfit() // otherwise it was a crash, which has the same exit code
	return unfit && err == nil
}

// replaceable reports whether the child may be replaced: with invalid settings, the
// running child is kept.
func (v *supervisor) replaceable() bool {
	unfit, err := v.unfit()
	if unfit || err != nil {
		v.log.Error("the service is not replaced, and goes on with the settings that it has: the new ones cannot work or be checked; correct them and send SIGHUP again", "error", err)
	}
	return !unfit && err == nil
}

// unfit reports whether the program on the disk says that the settings cannot work.
// That program prints the reason.
func unfit(ctx context.Context, flags []string) (bool, error) {
	path, err := os.Executable()
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkSettingsTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{"config", "check"}, flags...)...)
	cmd.Stderr = os.Stderr
	err = cmd.Run()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return e.ExitCode() == badSettings, nil
	}
	return false, err
}

// wait pauses, and reports whether to continue: a signal other than SIGHUP ends it.
func (v *supervisor) wait(pause time.Duration) bool {
	over := time.After(pause)
	for {
		select {
		case sig := <-v.signals:
			if sig != syscall.SIGHUP {
				return false
			}
		case <-over:
			return true
		}
	}
}

// watched is a running child.
type watched struct {
	cmd *exec.Cmd

	ended  chan struct{} // closed when the child has ended; the fields below are valid then
	state  *os.ProcessState
	served bool
}

// start starts a child in a process group of its own, so that signals from a terminal
// reach it only once, through this process.
func (v *supervisor) start() (*watched, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	theirAlive, alive, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	served, theirServed, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirAlive.Close(), alive.Close())
	}
	cmd := exec.Command(path, v.args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), variableChild+"=1", variableCount+"="+strconv.Itoa(len(v.sockets)))
	cmd.ExtraFiles = append(append(cmd.ExtraFiles, v.sockets...), theirAlive, theirServed)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	_, _ = theirAlive.Close(), theirServed.Close()
	if err != nil {
		return nil, errors.Join(err, alive.Close(), served.Close())
	}
	c := &watched{cmd: cmd, ended: make(chan struct{})}
	go func() { // the child's end of the pipe is closed when the child ends, if not before
		n, _ := served.Read(make([]byte, 1))
		c.served = n == 1
		_ = cmd.Wait() // the error is in the state as well
		c.state = cmd.ProcessState
		_, _ = alive.Close(), served.Close()
		close(c.ended)
	}()
	return c, nil
}

// watch forwards signals until the child has ended. The first one asks the child to
// stop.
func (v *supervisor) watch(c *watched) {
	asked := false
	for {
		select {
		case <-c.ended:
			return
		case sig := <-v.signals:
			if sig == syscall.SIGHUP && !asked && !v.replaceable() {
				continue
			}
			again := v.stopping
			v.replacing = v.replacing || sig == syscall.SIGHUP
			v.stopping = v.stopping || sig != syscall.SIGHUP
			switch {
			case !asked:
				_ = c.cmd.Process.Signal(syscall.SIGTERM) // fails only if the child has ended already
				asked = true
			case again && sig != syscall.SIGHUP:
				_ = c.cmd.Process.Kill() // as above
			}
		}
	}
}
