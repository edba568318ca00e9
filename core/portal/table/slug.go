package table

import (
	"strings"
	"unicode"
)

// maxSlug is the maximum length of a slug in characters.
const maxSlug = 100

// Slug makes a URL segment from a name: letters and digits in lower case, with one hyphen
// between words; "" if the name has none.
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

// IsSegment reports whether a text can be a URL segment without escaping. Browsers remove "."
// and ".." before they send a request.
func IsSegment(text string) bool {
	return text != "." && text != ".." && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`/?#%\`, r)
	})
}
