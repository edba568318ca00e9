package config

import (
	"crypto/tls"
	"slices"
	"strings"
)

// PortalSuites returns the cipher suites that the portal can use. Insecure ones are not
// among them.
func PortalSuites() []*tls.CipherSuite { return tls.CipherSuites() }

func suitesHint() string {
	names := []string{}
	for _, suite := range PortalSuites() {
		names = append(names, suite.Name)
	}
	slices.Sort(names)
	return "it is some of " + strings.Join(names, ", ")
}

// suitesFit reports whether the portal supports all of the configured cipher suites.
func suitesFit(s *Settings) bool {
	for _, name := range s.Portal.TLS.CipherSuites {
		if !slices.ContainsFunc(PortalSuites(), func(suite *tls.CipherSuite) bool { return suite.Name == name }) {
			return false
		}
	}
	return true
}

// headersHint shows the form of headers, and which ones are not allowed.
const headersHint = `such as [{"Key":"X-Frame-Options","Value":"DENY"}]; the service sets Content-Length, Content-Type, Connection and Transfer-Encoding itself`

// ownHeaders are headers that the service sets in every response.
var ownHeaders = []string{"Content-Length", "Content-Type", "Connection", "Transfer-Encoding"}

// headersFit reports whether the configured headers can be sent (RFC 9110, 5).
func headersFit(s *Settings) bool {
	for _, h := range s.Portal.ResponseHeaders {
		if len(h) != 2 || !isToken(h["Key"]) || strings.ContainsFunc(h["Value"], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return false
		}
		if _, ok := h["Value"]; !ok {
			return false
		}
		for _, name := range ownHeaders {
			if strings.EqualFold(name, h["Key"]) {
				return false
			}
		}
	}
	return true
}

// isToken reports whether a text is a valid name of a header.
func isToken(text string) bool {
	const others = "!#$%&'*+-.^_`|~"
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(others, r))
	})
}

// levels maps the log levels of the portal to those of the service.
var levels = map[string]string{"debug": LevelDebug, "info": LevelInfo, "warn": LevelWarn, "error": LevelError, "dpanic": LevelError, "panic": LevelError, "fatal": LevelError}
