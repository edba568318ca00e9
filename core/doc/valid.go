package doc

import (
	"bytes"
	"encoding/binary"
)

// deepest is how many arrays and objects may be nested at all, as in encoding/json.
const deepest = 10_000

// validValue returns the index after the value at i of a UTF-8 text, and whether it is
// one. It says what json.Valid says, several times as fast: large bodies are mostly
// strings, which json.Valid reads byte by byte.
func validValue(text []byte, i, depth int) (int, bool) {
	switch c := byteAt(text, i); c {
	case '"':
		return validString(text, i)
	case '{', '[':
		return validItems(text, i, depth+1, c == '{')
	case 't':
		return i + 4, bytes.HasPrefix(text[i:], []byte("true"))
	case 'f':
		return i + 5, bytes.HasPrefix(text[i:], []byte("false"))
	case 'n':
		return i + 4, bytes.HasPrefix(text[i:], []byte("null"))
	}
	return validNumber(text, i)
}

// validItems is validValue for an array or an object.
func validItems(text []byte, i, depth int, named bool) (int, bool) {
	end := text[i] + 2 // ] and } come two after [ and {
	if i = space(text, i+1); depth > deepest {
		return i, false
	}
	if byteAt(text, i) == end {
		return i + 1, true
	}
	var ok bool
	for ; ; i = space(text, i+1) {
		if named {
			if byteAt(text, i) != '"' {
				return i, false
			}
			if i, ok = validString(text, i); !ok {
				return i, false
			}
			if i = space(text, i); byteAt(text, i) != ':' {
				return i, false
			}
			i = space(text, i+1)
		}
		if i, ok = validValue(text, i, depth); !ok {
			return i, false
		}
		switch i = space(text, i); byteAt(text, i) {
		case end:
			return i + 1, true
		case ',':
		default:
			return i, false
		}
	}
}

// validString is validValue for a string.
func validString(text []byte, i int) (int, bool) {
	if byteAt(text, i) != '"' {
		return i, false
	}
	for i = run(text, i+1); i < len(text); i = run(text, i) {
		switch {
		case text[i] == '"':
			return i + 1, true
		case text[i] != '\\':
			return i, false // a control character
		case byteAt(text, i+1) == 'u':
			if escapedUnit(text[i:]) < 0 {
				return i, false
			}
			i += 6
		case bytes.IndexByte([]byte(escapes+"/"), byteAt(text, i+1)) >= 0:
			i += 2
		default:
			return i, false
		}
	}
	return i, false
}

// validNumber is validValue for a number.
func validNumber(text []byte, i int) (int, bool) {
	if byteAt(text, i) == '-' {
		i++
	}
	from := i
	if i = digits(text, i); i == from || text[from] == '0' && i > from+1 {
		return i, false
	}
	if byteAt(text, i) == '.' {
		from = i + 1
		if i = digits(text, from); i == from {
			return i, false
		}
	}
	if c := byteAt(text, i); c == 'e' || c == 'E' {
		if i++; byteAt(text, i) == '+' || byteAt(text, i) == '-' {
			i++
		}
		from = i
		if i = digits(text, from); i == from {
			return i, false
		}
	}
	return i, true
}

// digits returns the index of the first byte at or after i that is no digit.
func digits(text []byte, i int) int {
	for c := byteAt(text, i); '0' <= c && c <= '9'; c = byteAt(text, i) {
		i++
	}
	return i
}

// run returns the index of the first byte at or after i that means something in a
// string: a quote, a backslash, or a control character, which may not stand there.
// It looks at eight bytes at once.
func run(text []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		if ((w-ones*' ')&^w|(quote-ones)&^quote|(slash-ones)&^slash)&highs != 0 {
			break
		}
	}
	for i < len(text) && text[i] >= ' ' && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}
