// Package weburl parses addresses from clients.
package weburl

import (
	"errors"
	"net/url"
	"strconv"
)

var errPort = errors.New("the port of an address is a number from 1 to 65535")

// Parse is url.Parse for addresses that will be called: it also refuses port 0 and ports that
// are too large.
func Parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil && u.Port() != "" {
		if n, failed := strconv.ParseUint(u.Port(), 10, 16); failed != nil || n == 0 {
			err = errPort
		}
	}
	return u, err
}

// Absolute reports whether a text is an http or https address with a host.
func Absolute(text string) bool {
	u, err := Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}
