package search

import (
	"strings"
	"unicode/utf8"
)

// likeness is how well a word of a text matches a word of a query.
type likeness uint8

// A higher value is a better match. Values below typed have at least one typing error.
const (
	unlike  likeness = 0
	mistype likeness = 2 // the whole word, with typing errors
	starts  likeness = 1 // the beginning of a longer word, with typing errors
	inside  likeness = 4
	typed   likeness = inside // this and better: no typing error
	begins  likeness = 7
	same    likeness = 10
)

// minInside is the minimum length of a word that is also searched inside other words.
const minInside = 3

// like compares a word of a query with a word of a text. In longer words it tolerates a few
// letters that are wrong, missing, added or swapped with a neighbour.
func like(asked, text string) likeness {
	switch {
	case asked == text:
		return same
	case strings.HasPrefix(text, asked):
		return begins
	case len(asked) >= minInside && strings.Contains(text, asked):
		return inside
	}
	n, most := utf8.RuneCountInString(asked), 2
	switch {
	case n < 4:
		return unlike
	case n < 8:
		most = 1
	}
	if utf8.RuneCountInString(text) < n-most {
		return unlike
	}
	whole, start := distance(asked, text, n, most)
	switch {
	case whole <= most:
		return mistype
	case start <= most:
		return starts
	}
	return unlike
}

// distance returns the number of typing errors between two words, and that between the first
// word and the nearest beginning of the second one. Numbers greater than most are not exact.
func distance(asked, text string, n, most int) (whole, start int) {
	var a, b [maxWord]rune
	m := 0
	for i, r := range []rune(asked) {
		a[i] = r
	}
	for _, r := range text {
		if b[m] = r; m+1 == len(b) {
			break
		}
		m++
	}
	longer := m > n+most
	m = min(m, n+most) // the rest has no effect
	var rows [3][maxWord + 1]int
	for j := range m + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= n; i++ {
		now, last, before := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		now[0] = i
		least := i
		for j := 1; j <= m; j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
			least = min(least, now[j])
		}
		if least > most {
			return least, least
		}
	}
	end := &rows[n%3]
	start = end[m]
	for j := max(0, n-most); j <= m; j++ {
		start = min(start, end[j])
	}
	if whole = end[m]; longer {
		whole = most + 1
	}
	return whole, start
}
