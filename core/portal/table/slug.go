package table

import (
	"strings"
	"unicode"
)

// maxSlug is how many characters of a name get into an address.
const maxSlug = 100

// Slug makes the part of an address out of a name: letters and digits in lower case, with
// one hyphen between words; "" when the name has none.
func Slug(name string) string {
	var b strings.Builder
	written, gap := 0, false
	for _, r := range strings.ToLower(name) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = written > 0
			continue
		}
		if gap {
			b.WriteByte('-')
			written++
		}
		if written >= maxSlug {
			break
		}
		b.WriteRune(r)
		written, gap = written+1, false
	}
	return strings.TrimSuffix(b.String(), "-")
}

// IsSegment reports whether a text can be one part of an address as it is written: browsers
// take "." and ".." away before they ask.
func IsSegment(text string) bool {
	return text != "." && text != ".." && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`/?#%\`, r)
	})
}
