package doc

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrSyntax is wrapped by every error about text that is not JSON.
var ErrSyntax = errors.New("not valid JSON")

// Errors about JSON of a wrong type.
var (
	ErrNoObject = errors.New("an object is wanted")
	// ErrNoPatch is the error of ApplyPatch for a patch that is not a list of operations, or is
	// too long.
	ErrNoPatch = errors.New("a JSON patch is an array of operations")
)

// Check returns an error unless text is one JSON value with at most maxDepth nested arrays and
// objects (0: any depth). Text must be UTF-8 (RFC 8259, 8.1).
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
	if end, ok := validValue(text, space(text, 0), 0); !ok || space(text, end) < len(text) {
		var v json.RawMessage
		if err := json.Unmarshal(text, &v); err != nil {
			return fmt.Errorf("%w: %s", ErrSyntax, err.Error())
		}
	}
	return nil
}

// Repeats reports whether an object in a valid text has two members with the same name.
// Decoders differ in how they handle this: ours and those of rules take the last.
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

// Count returns the maximum number of values in a JSON text without parsing it; an invalid
// text has a count too. It estimates the cost of a tree.
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
	for i = run(text, i+1); i < len(text); i = run(text, i) {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			i += 2
		default:
			i++
		}
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

// deepest is the maximum nesting of arrays and objects, the same as in encoding/json.
const deepest = 10_000

// validValue returns the index after the value at i of a UTF-8 text, and whether it is valid.
// It agrees with json.Valid and is several times faster: large bodies are mostly strings,
// which json.Valid reads byte by byte.
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
	// A number.
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

// validItems is validValue for an array or an object.
func validItems(text []byte, i, depth int, named bool) (int, bool) {
	end := text[i] + 2 // ] and } are two after [ and {
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

// digits returns the index of the first byte at or after i that is not a digit.
func digits(text []byte, i int) int {
	for c := byteAt(text, i); '0' <= c && c <= '9'; c = byteAt(text, i) {
		i++
	}
	return i
}

// run returns the index of the first special byte at or after i in a string: a quote, a
// backslash, or a control character, which is invalid. It checks eight bytes at once.
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
