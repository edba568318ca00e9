package browser

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// deafened is the environment variable with the browser that a process should become.
const deafened = "GATEHOUSE_TEST_BROWSER_DEAFENED"

// Other packages start containers while pages load. Each container adds network interfaces.
// The kernel reports them to the browser, which then aborts its requests, even on loopback
// (ERR_NETWORK_CHANGED). No flag of the browser prevents that. So this program blocks, for
// itself, the socket for such reports, and then becomes the browser.
func init() { //nolint:gochecknoinits // the tests of a package have no other way to become a browser than before they begin
	browser := os.Getenv(deafened)
	if browser == "" {
		return
	}
	_ = os.Unsetenv(deafened)
	runtime.LockOSThread()
	err := denyNetlink()
	if err == nil {
		err = syscall.Exec(browser, append([]string{browser}, os.Args[1:]...), os.Environ()) //nolint:gosec // The tests name their browser.
	}
	fmt.Fprintf(os.Stderr, "the browser %s does not start: %v\n", browser, err)
	os.Exit(1)
}

// deaf returns the program and environment for a browser that is not told about network
// interfaces. Without root the browser needs a sandbox of its own, which would not start under
// the filter; then the program is the browser itself.
func deaf(browser string) (program string, env []string) {
	if self, err := os.Executable(); err == nil && os.Geteuid() == 0 {
		return self, []string{deafened + "=" + browser}
	}
	return browser, nil
}

// denyNetlink refuses sockets of the family AF_NETLINK for this thread and the program that it
// becomes.
func denyNetlink() error {
	const number, family = 0, 16 // offsets in struct seccomp_data: the call, its first argument
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 3, K: unix.SYS_SOCKET},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: family},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.AF_NETLINK},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))); errno != 0 {
		return errno
	}
	return nil
}
