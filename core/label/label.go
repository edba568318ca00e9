// Package label knows which texts can stand for a thing where people read them: names and
// identifiers, in lists, on pages and in lines of logs.
package label

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Turns reports whether a character changes the direction of the text behind it, or ends such a
// change: U+202A to U+202E, and U+2066 to U+2069. With one of them a name is shown as another
// one, together with what stands beside it. Joiners and marks, which scripts need within
// words, are none.
func Turns(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// InPath reports whether an identifier of up to most characters can be addressed in a path, and is
// shown as what it is.
func InPath(id string, most int) bool {
	bad := func(r rune) bool { return r < ' ' || r == 0x7f || r == '/' || Turns(r) }
	return id != "" && id != "." && id != ".." && utf8.ValidString(id) && utf8.RuneCountInString(id) <= most && !strings.ContainsFunc(id, bad)
}

// Flaw says what is wrong with a name, or "". One that is stored already, before, stays.
func Flaw(name, before string) string {
	at := strings.IndexFunc(name, Turns)
	if at < 0 || name == before {
		return ""
	}
	for _, r := range name[at:] { // the first one
		return fmt.Sprintf("must not have the character U+%04X: it changes the direction of text, so that another name is shown", r)
	}
	return ""
}
