package serve

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// Environment variables that say what a process inherits: the first two are set by
// systemd (sd_listen_fds(3)), the last by Supervise.
const (
	variableCount = "LISTEN_FDS"
	variableFor   = "LISTEN_PID"
	variableChild = "GATEHOUSE_SUPERVISED"
)

// Ended is the end of a supervised service, which has logged the reason itself.
type Ended struct{ Code int }

// Error implements error.
func (e *Ended) Error() string { return fmt.Sprintf("the service ended with code %d", e.Code) }

// Supervised reports whether this process is the child of a supervisor.
func Supervised() bool { return os.Getenv(variableChild) != "" }

// firstGiven is the descriptor of the first inherited socket.
const firstGiven = 3

// inheritance is what this process inherits.
type inheritance struct {
	sockets []net.Listener
	alive   *os.File // ends when the supervisor ends; nil without one
	served  *os.File // tells the supervisor that the service responds to requests; nil without one
}

// inherit returns what this process inherits. It works only once, so that child
// processes do not inherit it by mistake.
func inherit() (inheritance, error) {
	count, mine, child := os.Getenv(variableCount), os.Getenv(variableFor), os.Getenv(variableChild) != ""
	for _, name := range []string{variableCount, variableFor, variableChild, "LISTEN_FDNAMES"} {
		_ = os.Unsetenv(name)
	}
	if !child && mine != strconv.Itoa(os.Getpid()) {
		return inheritance{}, nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 {
		return inheritance{}, fmt.Errorf("%s: expected the number of sockets that were passed", variableCount)
	}
	var out inheritance
	for fd := range n {
		var l net.Listener
		err := os.ErrInvalid
		if f := os.NewFile(uintptr(firstGiven+fd), "socket "+strconv.Itoa(firstGiven+fd)); f != nil {
			l, err = net.FileListener(f)
			err = errors.Join(err, f.Close()) // the listener has a descriptor of its own
		}
		if err != nil {
			return inheritance{}, errors.Join(fmt.Errorf("%s: descriptor %d is no socket that listens: %w", variableCount, firstGiven+fd, err), closeAll(out.sockets))
		}
		out.sockets = append(out.sockets, l)
	}
	if child {
		out.alive = os.NewFile(uintptr(firstGiven+n), "supervisor")
		out.served = os.NewFile(uintptr(firstGiven+n+1), "served")
	}
	return out, nil
}
