// Package label checks texts that are shown to users as names and identifiers, in lists, on
// pages and in log lines.
package label

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Turns reports whether a character changes the direction of the text after it, or ends such a
// change: U+202A to U+202E, and U+2066 to U+2069. A name with such a character can look like
// another name, together with the text beside it. Joiners and marks do not count, because
// scripts need them within words.
func Turns(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// InPath reports whether an identifier of up to most characters can be used in a path, and is
// displayed correctly.
func InPath(id string, most int) bool {
	bad := func(r rune) bool { return r < ' ' || r == 0x7f || r == '/' || Turns(r) }
	return id != "" && id != "." && id != ".." && utf8.ValidString(id) && utf8.RuneCountInString(id) <= most && !strings.ContainsFunc(id, bad)
}

// Flaw returns the problem of a name, or "". A name that equals before, the stored one, is
// accepted.
func Flaw(name, before string) string {
	at := strings.IndexFunc(name, Turns)
	if at < 0 || name == before {
		return ""
	}
	r, _ := utf8.DecodeRuneInString(name[at:])
	return fmt.Sprintf("must not have the character U+%04X: it changes the direction of text, so that another name is shown", r)
}
