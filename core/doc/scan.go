package doc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrSyntax is wrapped by every complaint about text that is not JSON.
var ErrSyntax = errors.New("not valid JSON")

// Check reports why text is not one JSON value of at most maxDepth nested
// arrays and objects (0: any depth). Text must be UTF-8 (RFC 8259, 8.1).
func Check(text []byte, maxDepth int) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return fmt.Errorf("%w: body is empty", ErrSyntax)
	}
	if !utf8.Valid(text) {
		return fmt.Errorf("%w: text is not UTF-8", ErrSyntax)
	}
	if maxDepth > 0 && deeper(text, maxDepth) {
		return fmt.Errorf("%w: nested deeper than %d levels", ErrSyntax, maxDepth)
	}
	if !json.Valid(text) {
		var v json.RawMessage
		if err := json.Unmarshal(text, &v); err != nil {
			return fmt.Errorf("%w: %s", ErrSyntax, err.Error())
		}
	}
	return nil
}

// Repeats reports whether an object in a valid text has two members with one name.
// Decoders differ in what they make of that: ours and those of rules take the last.
func Repeats(text []byte) bool {
	n, err := ParseNode(text)
	if err != nil {
		return false
	}
	written := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i) - 1
		case ':':
			written++
		}
	}
	return written != n.count()
}

// count returns the number of members of all objects in a value.
func (n *Node) count() int {
	all := len(n.names)
	for _, v := range n.nodes {
		all += v.count()
	}
	return all
}

// deeper reports whether brackets outside strings nest deeper than limit.
func deeper(text []byte, limit int) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i) - 1
		case '{', '[':
			if depth++; depth > limit {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// Count returns how many values a JSON text has at most, without reading them: a
// text that is no JSON has a count too. It says what a tree of them would cost.
func Count(text []byte) int {
	n := 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i) - 1
		case '{', '[', ',':
			n++
		}
	}
	return n
}

// stringEnd returns the index after the string that begins at text[i]; for an
// unterminated string it returns len(text).
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); {
		j := bytes.IndexAny(text[i:min(i+16, len(text))], `"\`)
		if j < 0 {
			i = min(i+16, len(text))
			continue
		}
		if i += j; text[i] == '"' {
			return i + 1
		}
		i += 2
	}
	return len(text)
}

// valueEnd returns the index after the value that begins at text[i]. The text
// has passed Check.
func valueEnd(text []byte, i int) int {
	switch text[i] {
	case '"':
		return stringEnd(text, i)
	case '{', '[':
		depth := 0
		for ; i < len(text); i++ {
			switch text[i] {
			case '"':
				i = stringEnd(text, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(text)
	}
	for i < len(text) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(text[i])) {
		i++
	}
	return i
}

// space returns the index of the first byte at or after i that is not white space.
func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// Unquote returns the text of a JSON string literal.
func Unquote(literal []byte) (string, error) {
	if len(literal) >= 2 && literal[0] == '"' && !bytes.ContainsRune(literal, '\\') {
		return string(literal[1 : len(literal)-1]), nil
	}
	var s string
	err := json.Unmarshal(literal, &s)
	return s, err
}

// AppendString appends s as a JSON string literal. Unlike encoding/json it does
// not escape <, > and &, which are ordinary characters in JSON.
func AppendString(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendQuoted(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// appendQuoted appends what encoding/json writes when it does not escape HTML,
// without another copy of a long text.
func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(slices.Grow(b, len(s)+len(s)/16+2), '"')
	from := 0
	for i := 0; i < len(s); {
		c, size := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(s[i:])
		}
		at := strings.IndexByte(escaped, byte(c))
		switch {
		case c < utf8.RuneSelf && at >= 0:
			b = append(append(b, s[from:i]...), '\\', escapes[at])
		case c < ' ':
			b = append(append(b, s[from:i]...), '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c == utf8.RuneError && size == 1:
			b = append(append(b, s[from:i]...), `\ufffd`...)
		case c == '\u2028', c == '\u2029': // ends a line in JavaScript
			b = append(append(b, s[from:i]...), `\u202`...)
			b = append(b, hex[c&15])
		default:
			i += size
			continue
		}
		i += size
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

// escaped are the characters that have a short escape of their own, in the order
// of escapes.
const (
	escaped = "\"\\\b\f\n\r\t"
	escapes = `"\bfnrt`
)
