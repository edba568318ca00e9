// Package weburl reads addresses that clients choose.
package weburl

import (
	"errors"
	"net/url"
	"strconv"
)

var errPort = errors.New("the port of an address is a number from 1 to 65535")

// Parse is url.Parse for addresses that are to be called: it refuses ports that no host has.
func Parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil && u.Port() != "" && !IsPort(u.Port()) {
		err = errPort
	}
	return u, err
}

// IsPort reports whether a text is the number of a port.
func IsPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// Absolute reports whether a text is an http or https address with a host.
func Absolute(text string) bool {
	u, err := Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}
