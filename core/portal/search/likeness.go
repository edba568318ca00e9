package search

import (
	"strings"
	"unicode/utf8"
)

// likeness says how well a word of a text answers a word of a question.
type likeness uint8

// From worst to best. What is not typed has at least one typing error.
const (
	unlike  likeness = 0
	mistype likeness = 2 // as a whole, with typing errors
	starts  likeness = 1 // as the beginning of a longer word, with typing errors
	inside  likeness = 4
	typed   likeness = inside // and better: no typing error
	begins  likeness = 7
	same    likeness = 10
)

// minInside is how long a word is that is also looked for inside of others.
const minInside = 3

// like compares a word of a question with a word of a text. In longer words it forgives a few
// letters that are wrong, missing, too many, or in the order of their neighbours.
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

// distance counts the typing errors between two words, and those between the first and the
// beginning of the second that is nearest to it. Counts beyond most are not exact.
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
	m = min(m, n+most) // what comes after has no say
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
