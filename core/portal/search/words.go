// Package search finds products by the words in their names, their descriptions, and the
// operations in their documentation. It tolerates typing errors
// (docs/wire/portal-showcase.md#search).
package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of texts and queries.
const (
	MaxQuery = 200 // characters of a query that count
	maxAsked = 10  // words of a query that count
	maxWord  = 64  // bytes of a word
	maxText  = 8 << 10
)

// word is a word of a text: its position, and its form for comparisons.
type word struct {
	from, to int
	plain    string
}

// words yields the words of a text: runs of letters and digits, and the parts of camel-case
// names such as createOrder.
func words(text string, yield func(word) bool) {
	start, before := -1, rune(0)
	end := func(at int) bool {
		from := start
		start = -1
		return from < 0 || at-from > maxWord || yield(word{from, at, strings.ToLower(text[from:at])})
	}
	for at, r := range text {
		switch letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r); {
		case !letter:
			if !end(at) {
				return
			}
		case start >= 0 && unicode.IsUpper(r) && unicode.IsLower(before):
			if !end(at) {
				return
			}
			start = at
		case start < 0:
			start = at
		}
		before = r
	}
	end(len(text))
}

// asked returns the words of a query without duplicates.
func asked(query string) (out []string) {
	seen := map[string]bool{}
	words(cut(query, MaxQuery*utf8.UTFMax), func(w word) bool {
		if !seen[w.plain] {
			seen[w.plain] = true
			out = append(out, w.plain)
		}
		return len(out) < maxAsked
	})
	return out
}

// cut shortens a text to at most most bytes, between characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Plain removes the tags of HTML, roughly: for indexing, not for display.
func Plain(html string) string {
	html = cut(html, 4*maxText)
	if !strings.Contains(html, "<") {
		return html
	}
	var b strings.Builder
	for html != "" && b.Len() < maxText {
		before, rest, tag := strings.Cut(html, "<")
		b.WriteString(before)
		if !tag {
			break
		}
		b.WriteByte(' ')
		if _, html, tag = strings.Cut(rest, ">"); !tag {
			break
		}
	}
	return b.String()
}
