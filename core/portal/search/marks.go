package search

import "strings"

// Piece is a part of a displayed text; Hit says that it matches the query.
type Piece struct {
	Text string `json:"Text"`
	Hit  bool   `json:"Hit"`
}

// maxExcerpt is the maximum length of a displayed text in bytes, and beforeHit how many of
// them are before the first match.
const (
	maxExcerpt = 200
	beforeHit  = 60
)

// Marked splits a text into matching words and the text between them. A long text is cut
// around the first match.
func Marked(text, query string) []Piece {
	asked := asked(query)
	var hits []word
	typed := false
	words(cut(text, maxText), func(w word) bool {
		l := unlike
		for _, a := range asked {
			l = max(l, like(a, w.plain))
		}
		switch {
		case l >= inside && !typed:
			typed, hits = true, append(hits[:0], w) // words with typing errors count only without exact matches
		case l >= inside, l > unlike && !typed:
			hits = append(hits, w)
		}
		return true
	})
	from, to := window(text, hits)
	out := []Piece{}
	add := func(part string, hit bool) {
		if part != "" {
			out = append(out, Piece{part, hit})
		}
	}
	at := from
	for _, h := range hits {
		if h.from >= at && h.to <= to {
			add(text[at:h.from], false)
			add(text[h.from:h.to], true)
			at = h.to
		}
	}
	add(text[at:to], false)
	if from > 0 {
		out = append([]Piece{{Text: "… "}}, out...)
	}
	if to < len(text) {
		add(" …", false)
	}
	return out
}

// window returns the displayed part of a text. It begins and ends between words, if there are
// spaces.
func window(text string, hits []word) (from, to int) {
	if len(text) <= maxExcerpt {
		return 0, len(text)
	}
	if len(hits) > 0 && hits[0].from > beforeHit {
		from = len(cut(text, hits[0].from-beforeHit))
		if space := strings.IndexByte(text[from:hits[0].from], ' '); space >= 0 {
			from += space + 1
		}
	}
	to = from + len(cut(text[from:], maxExcerpt))
	if space := strings.LastIndexByte(text[from:to], ' '); to < len(text) && space > maxExcerpt/2 {
		to = from + space
	}
	return from, to
}
