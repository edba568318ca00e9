package record

import (
	"encoding/base64"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/redact"
)

// Level says how much of messages is kept.
type Level string

// The levels, from all to nothing.
const (
	All     Level = "all"     // messages as they were sent, with the credentials they hold
	Bodies  Level = "bodies"  // messages, without the credentials in address and headers
	Headers Level = "headers" // the same, without bodies
	Nothing Level = "none"
)

// Redact leaves of the messages of a record what a level allows.
func (r *Record) Redact(keep Level) {
	if keep == All {
		return
	}
	for _, message := range []*string{&r.RawRequest, &r.RawResponse} {
		if *message == "" {
			continue
		}
		text, err := base64.StdEncoding.DecodeString(*message)
		if err != nil || keep == Nothing {
			*message = "" // a text that is no message could hold anything
			continue
		}
		*message = base64.StdEncoding.EncodeToString([]byte(censor(string(text), r.APIKey, keep == Bodies)))
	}
}

// shortKey is how long a key is at least that is looked for in a message. Hashes of keys
// are in none.
const shortKey = 8

// censor returns an HTTP message without credentials.
func censor(message, key string, body bool) string {
	head, rest, whole := strings.Cut(message, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	lines[0] = redact.Text(lines[0])
	for i, line := range lines[1:] {
		name, _, ok := strings.Cut(line, ":")
		switch {
		case !ok:
			lines[i+1] = redact.Hidden // folded, or no header
		case redact.Name(name):
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
	return out
}
