package doc

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote returns the text of a JSON string literal.
func Unquote(literal []byte) (string, error) {
	text, err := unquote(literal, false)
	return string(text), err
}

// unquote is Unquote that returns a slice of a literal without escapes, which may be megabytes
// long. An owned literal is overwritten with its text, which is never longer.
func unquote(literal []byte, owned bool) ([]byte, error) {
	if len(literal) >= 2 && literal[0] == '"' && bytes.IndexByte(literal, '\\') < 0 {
		return literal[1 : len(literal)-1], nil
	}
	if end, ok := validString(literal, 0); !ok || end != len(literal) || !utf8.Valid(literal) {
		var s string
		err := json.Unmarshal(literal, &s)
		return []byte(s), err
	}
	text := literal[1 : len(literal)-1]
	i := bytes.IndexByte(text, '\\')
	out := text[:i]
	if !owned {
		out = append(make([]byte, 0, len(text)), out...)
	}
	for i < len(text) {
		if text[i] != '\\' {
			end := run(text, i)
			out, i = append(out, text[i:end]...), end
			continue
		}
		if at := strings.IndexByte(escapes, text[i+1]); at >= 0 {
			out, i = append(out, escaped[at]), i+2
			continue
		}
		if text[i+1] == '/' {
			out, i = append(out, '/'), i+2
			continue
		}
		r := escapedUnit(text[i:])
		if i += 6; utf16.IsSurrogate(r) { // half of a character; without the other half it is invalid
			if r = utf16.DecodeRune(r, escapedUnit(text[i:])); r != utf8.RuneError {
				i += 6
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out, nil
}

// escapedUnit returns the code unit of \uXXXX at the beginning of text, or -1.
func escapedUnit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// AppendString appends s as a JSON string literal. Unlike encoding/json it does
// not escape <, > and &, which are ordinary characters in JSON.
func AppendString[T string | []byte](b []byte, s T) []byte {
	return append(AppendEscaped(append(b, '"'), s), '"')
}

// AppendEscaped appends s in the form between the quotes of a JSON string literal. A long text
// can be appended in pieces, if no piece begins within a character.
func AppendEscaped[T string | []byte](b []byte, s T) []byte {
	i := 0
	for i < len(s) && plain(s[i]) {
		i++
	}
	if i == len(s) {
		return append(b, s...)
	}
	return appendEscaped(b, s)
}

// plain reports whether a byte is a character that needs no escape.
func plain(c byte) bool { return c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf }

// appendEscaped appends the same as encoding/json without HTML escapes, without another copy
// of a long text.
func appendEscaped[T string | []byte](b []byte, s T) []byte {
	const hex = "0123456789abcdef"
	b = slices.Grow(b, len(s)+len(s)/16+2)
	from := 0
	for i := 0; i < len(s); {
		if plain(s[i]) {
			i++
			continue
		}
		c, size := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
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
	return append(b, s[from:]...)
}

// escaped are the characters with a short escape, in the order of escapes.
const (
	escaped = "\"\\\b\f\n\r\t"
	escapes = `"\bfnrt`
)
