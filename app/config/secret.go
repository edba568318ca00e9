package config

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
)

// mask is printed in place of a secret. Its length does not depend on that of the
// secret.
const mask = "********"

// Secret is a text that prints as asterisks with fmt, slog, JSON and YAML. An empty
// secret prints as empty text, so that one sees that it is missing.
type Secret string

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String returns asterisks, or nothing for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString is String in quotes.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// Format prints String for every verb: without it, a verb that does not fit a string
// (%d) would print the secret in fmt's error text.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalJSON implements json.Marshaler with String.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// MarshalYAML implements yaml.Marshaler with String.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// LogValue implements slog.LogValuer with String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Address is the address of another system: a URL, a file path or a list of key=value
// pairs for PostgreSQL. A password in it is masked when it is printed with fmt, slog,
// JSON or YAML.
type Address string

// Reveal returns the address with its password.
func (a Address) Reveal() string { return string(a) }

// String returns the address with passwords masked. In doubt it masks more: in a
// malformed URL, whose password may have unescaped slashes or at signs, everything up
// to the last at sign counts as user and password.
func (a Address) String() string {
	start := urlStart.FindStringIndex(string(a))
	if start == nil {
		return pairParam.ReplaceAllString(string(a), "${1}"+mask)
	}
	scheme, rest := string(a[:start[1]]), string(a[start[1]:])
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user, password, _ := strings.Cut(rest[:at], ":")
		if password != "" {
			user += ":" + mask
		}
		rest = user + rest[at:]
	}
	return scheme + urlParam.ReplaceAllString(rest, "${1}"+mask)
}

// GoString is String in quotes.
func (a Address) GoString() string { return fmt.Sprintf("%q", a.String()) }

// Format prints String for every verb.
func (a Address) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, a.String()) }

// MarshalJSON implements json.Marshaler with String.
func (a Address) MarshalJSON() ([]byte, error) { return json.Marshal(a.String()) }

// MarshalYAML implements yaml.Marshaler with String.
func (a Address) MarshalYAML() (any, error) { return a.String(), nil }

// LogValue implements slog.LogValuer with String.
func (a Address) LogValue() slog.Value { return slog.StringValue(a.String()) }

// passwordKey matches the name of a parameter for a secret, up to its equals sign:
// password, sslpassword, _auth_pass; but not passfile, which is a path.
const passwordKey = `(?is)([\w.-]*(?:password|passwd|pwd|pass|secret|token)\s*=\s*)`

var (
	urlStart = regexp.MustCompile(`^\s*[A-Za-z][\w+.-]*://`)
	urlParam = regexp.MustCompile(passwordKey + `[^&]*`)
	// A value of the key=value form is quoted, with backslash escapes, or ends at
	// unescaped white space. A quote that is never closed masks the rest.
	pairParam = regexp.MustCompile(passwordKey + `(?:'(?:[^'\\]|\\.)*(?:'|\\?$)|(?:[^'\s\\]|\\.|\\$)(?:[^\s\\]|\\.|\\$)*)`)
)
