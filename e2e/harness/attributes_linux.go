package harness

import "syscall"

// attributes runs the child as its owner, detached from the terminal, and ends it when the test
// process ends.
func attributes(owner *account, orphan syscall.Signal) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: orphan}
	if owner != nil {
		attr.Credential = &syscall.Credential{Uid: uint32(owner.uid), Gid: uint32(owner.gid)}
	}
	return attr
}
