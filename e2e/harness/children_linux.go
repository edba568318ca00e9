package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Children returns the processes that a process has started.
func Children(pid int) (pids []int, err error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				return nil, err
			}
			pids = append(pids, child)
		}
	}
	return pids, nil
}
