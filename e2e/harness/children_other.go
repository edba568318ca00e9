//go:build !linux

package harness

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
)

// Children returns the processes that a process has started.
func Children(pid int) (pids []int, err error) {
	text, err := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output()
	if _, none := errors.AsType[*exec.ExitError](err); err != nil && !none {
		return nil, err
	}
	for _, field := range strings.Fields(string(text)) {
		child, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		pids = append(pids, child)
	}
	return pids, nil
}
