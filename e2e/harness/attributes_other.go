//go:build !linux

package harness

import "syscall"

// attributes are Linux's; elsewhere a child runs as the present user and outlives a killed test.
func attributes(*account, syscall.Signal) *syscall.SysProcAttr { return nil }
