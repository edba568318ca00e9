//go:build !linux

package harness

import "syscall"

// attributes exist on Linux only; elsewhere a child runs as the current user and outlives a
// killed test.
func attributes(*account, syscall.Signal) *syscall.SysProcAttr { return nil }
