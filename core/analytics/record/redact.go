package record

import (
	"encoding/base64"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/redact"
)

// Level says how much of a message is stored.
type Level string

// The levels, from everything to nothing.
const (
	All     Level = "all"     // messages as sent, with their credentials
	Bodies  Level = "bodies"  // messages, without the credentials in URL and headers
	Headers Level = "headers" // the same, without bodies
	Nothing Level = "none"
)

// Redact removes the parts of a record's messages that a level does not allow.
func (r *Record) Redact(keep Level) {
	if keep == All {
		return
	}
	for _, message := range []*string{&r.RawRequest, &r.RawResponse} {
		if *message == "" {
			continue
		}
		if *message = Hide(*message, r.APIKey, nil, keep == Bodies); keep == Nothing {
			*message = ""
		}
	}
}

// Hide returns a message without the credentials in its URL and headers, and without the key
// of the call. message and result are in base64, as gateways report it. Hide removes values
// with names that usually hold secrets, and with one of names, because APIs choose where their
// keys are sent. If message cannot be decoded the result is empty, because it could contain
// anything.
func Hide(message, key string, names []string, body bool) string {
	text, err := base64.StdEncoding.DecodeString(message)
	if err != nil {
		return ""
	}
	own := map[string]bool{}
	for _, name := range names {
		own[redact.Fold(name)] = true
	}
	head, rest, whole := strings.Cut(string(text), "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	lines[0] = hideParams(redact.Text(lines[0]), own)
	for i, line := range lines[1:] {
		name, _, ok := strings.Cut(line, ":")
		switch {
		case !ok:
			lines[i+1] = redact.Hidden // folded, or not a header
		case redact.Name(name), own[redact.Fold(name)]:
			lines[i+1] = name + ": " + redact.Hidden
		default:
			lines[i+1] = redact.Text(line)
		}
	}
	out := strings.Join(lines, "\r\n")
	if whole {
		out += "\r\n\r\n"
	}
	if body {
		out += rest
	}
	if len(key) >= shortKey {
		out = strings.ReplaceAll(out, key, redact.Hidden)
	}
	return base64.StdEncoding.EncodeToString([]byte(out))
}

// shortKey is the minimum length of a key that is searched for in a message. Messages never
// contain hashes of keys.
const shortKey = 8

// hideParams returns a request line without the values of query parameters with these names.
func hideParams(line string, names map[string]bool) string {
	before, query, ok := strings.Cut(line, "?")
	if !ok || len(names) == 0 {
		return line
	}
	query, after, _ := strings.Cut(query, " ")
	params := strings.Split(query, "&")
	for i, p := range params {
		if name, _, valued := strings.Cut(p, "="); valued && names[redact.Fold(name)] {
			params[i] = name + "=" + redact.Hidden
		}
	}
	return strings.TrimSuffix(before+"?"+strings.Join(params, "&")+" "+after, " ")
}
