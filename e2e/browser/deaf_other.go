//go:build !linux

package browser

// deaf tells which program to start, and with which environment. Only on Linux a browser can
// be kept from hearing of network interfaces.
func deaf(browser string) (program string, env []string) { return browser, nil }
