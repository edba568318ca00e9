package yaml

import (
	"bytes"
	"fmt"

	port "github.com/gatehouse-io/gatehouse/ports/yaml"
)

// By which factor aliases may enlarge a text, and a minimum for small ones.
const (
	aliasFactor = 16
	aliasBytes  = 64 << 10
	aliasValues = 2_000
)

// quoting is what JSON adds to a value, in bytes: quotes, and a comma.
const quoting = 3

// marks is the maximum number of marks per value in texts as people and programs write
// them: a member of a flow mapping has a colon and a comma.
const marks = 2

// Weigh implements the port.
func (Codec) Weigh(text []byte, most port.Limits) (port.Limits, error) {
	l := port.Limits{Bytes: len(text), Values: Count(text)}
	if l.Values > marks*most.Values {
		return l, fmt.Errorf("%w: it holds more than %d values", port.ErrLarge, most.Values)
	}
	if anchored(text) {
		l = port.Limits{Bytes: min(most.Bytes, aliasFactor*l.Bytes+aliasBytes), Values: min(most.Values, aliasFactor*l.Values+aliasValues)}
	}
	return l, nil
}

// Count returns how many marks a YAML text has: characters that may begin or separate
// values. The library makes at most two nodes for each mark, of about 170 bytes; the
// limit must be checked before the library parses the text.
func Count(text []byte) int {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return len(text) // UTF-16: the characters below have other bytes beside them
	}
	n := 1
	for i, c := range text {
		switch c {
		case ',', '[', '{', ':', '?':
			n++
		case '-': // begins an item only before white space, or a line break beyond ASCII
			if i+1 == len(text) || text[i+1] <= ' ' || text[i+1] >= 0x80 {
				n++
			}
		}
	}
	return n
}

// anchored reports whether a text may contain anchors, which aliases repeat.
func anchored(text []byte) bool {
	for i := bytes.IndexByte(text, '&'); i >= 0; {
		if i == 0 || text[i-1] <= ' ' || text[i-1] >= 0x80 || bytes.IndexByte([]byte("[{,:"), text[i-1]) >= 0 {
			return true
		}
		next := bytes.IndexByte(text[i+1:], '&')
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

// spend subtracts values, and their text as JSON, from what is left.
func (r *reader) spend(values int, text string) error {
	r.left.Values -= values
	r.left.Bytes -= values*quoting + len(text)
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"', c == '\\', c == '\n', c == '\t', c == '\r':
			r.left.Bytes--
		case c < ' ':
			r.left.Bytes -= 5 // \u0000
		}
	}
	switch {
	case r.left.Values < 0:
		return fmt.Errorf("%w: aliases make more than %d values", port.ErrLarge, r.limits.Values)
	case r.left.Bytes < 0:
		return fmt.Errorf("%w: aliases make more than %d bytes", port.ErrLarge, r.limits.Bytes)
	}
	return nil
}
