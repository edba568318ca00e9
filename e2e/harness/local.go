package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// local is a server from programs installed on the machine.
type local struct {
	setup  *program // runs once before the first start; nil: none
	server program
	end    syscall.Signal // shuts the server down for good

	folder string
	out    tail
	child  *child
}

// newLocal finds the programs and creates the server's folder.
func newLocal(svc *service, port int, secret string) (*local, error) {
	folder, err := os.MkdirTemp("", "gatehouse-e2e-")
	if err != nil {
		return nil, err
	}
	l := &local{folder: folder}
	if err := svc.local(l, port, secret); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return l, nil
}

func (l *local) start(ctx context.Context, probe func(context.Context) error) (err error) {
	if l.setup != nil {
		if err := l.prepare(); err != nil {
			return err
		}
		l.setup = nil
	}
	if l.child, err = spawn(l.server, &l.out); err != nil {
		return err
	}
	return await(ctx, probe, l.child.ended)
}

func (l *local) prepare() error {
	setup, err := spawn(*l.setup, &l.out)
	if err != nil {
		return err
	}
	<-setup.done
	if setup.err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(l.setup.path), setup.err)
	}
	return nil
}

func (l *local) kill(context.Context) error {
	l.child.kill()
	return nil
}

// remove ends the server with its own signal, so that it releases its system resources.
func (l *local) remove(context.Context) (string, error) {
	if l.child != nil {
		_ = l.child.end(l.end, lingerLimit) // the exit status of a discarded server does not matter
	}
	return l.out.String(), os.RemoveAll(l.folder)
}

// find looks for a program in PATH and then in more folders, given as patterns.
func find(name string, patterns ...string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, pattern := range patterns {
		matches, err := filepath.Glob(filepath.Join(pattern, name))
		if err != nil {
			return "", err
		}
		if len(matches) > 0 {
			return matches[len(matches)-1], nil
		}
	}
	return "", fmt.Errorf("%s is not installed", name)
}

// stepDown returns the account for a server that refuses to run as root; nil when the test does
// not run as root. The account becomes the owner of the folder.
func stepDown(name, folder string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, uidErr := strconv.Atoi(u.Uid)
	gid, gidErr := strconv.Atoi(u.Gid)
	if err := errors.Join(uidErr, gidErr, os.Chown(folder, uid, gid)); err != nil {
		return nil, err
	}
	return &account{uid: uid, gid: gid}, nil
}
