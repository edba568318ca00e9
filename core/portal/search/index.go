package search

import (
	"cmp"
	"slices"
	"strings"
)

// Sort is the sort of an entry.
type Sort string

// The sorts of entries.
const (
	Product   Sort = "product"
	API       Sort = "api"
	Operation Sort = "operation"
	Tutorial  Sort = "tutorial"
)

// Entry is an object that a search can find.
type Entry struct {
	Sort   Sort
	Title  string
	Text   string // has less weight than the title
	API    string // the API of the product to which it belongs
	Anchor string // anchor on the page of the API
}

// Limits of the index.
const (
	MaxEntries = 1000    // of a product
	maxTerms   = 20_000  // words of the entries of a product
	maxAll     = 4 << 20 // words of all entries
)

// Weights of words by their place.
const (
	inTitle = 8
	inText  = 3
)

// weights are factors by the sort of the entry.
var weights = map[Sort]int{Product: 4, API: 3, Tutorial: 2, Operation: 2}

// term is a word in an entry.
type term struct {
	word, entry int32
	weight      int32
}

// book is the indexed data of a product.
type book struct {
	entries []Entry
	terms   []term
}

// Index is a search index of products. Concurrent reads are safe; a write must be exclusive.
type Index struct {
	books map[int]*book
	words []string
	ids   map[string]int32
	uses  []int32 // number of terms with each word
	free  []int32
	terms int
}

// New returns an empty index.
func New() *Index { return &Index{books: map[int]*book{}, ids: map[string]int32{}} }

// Put replaces the entries of a product. Entries beyond the limits are left out.
func (x *Index) Put(product int, entries []Entry) {
	x.Drop(product)
	b := &book{entries: entries[:min(len(entries), MaxEntries)]}
	for i, e := range b.entries {
		seen := map[int32]bool{}
		x.note(b, int32(i), e.Title, inTitle*weights[e.Sort], seen)
		x.note(b, int32(i), e.Text, inText*weights[e.Sort], seen)
	}
	x.books[product] = b
}

// note indexes the words of a text that the entry has not had yet.
func (x *Index) note(b *book, entry int32, text string, weight int, seen map[int32]bool) {
	words(cut(text, maxText), func(w word) bool {
		if len(b.terms) >= maxTerms || x.terms >= maxAll {
			return false
		}
		id := x.intern(w.plain)
		if !seen[id] {
			seen[id] = true
			x.uses[id]++
			x.terms++
			b.terms = append(b.terms, term{id, entry, int32(weight)})
		}
		return true
	})
}

func (x *Index) intern(w string) int32 {
	if id, known := x.ids[w]; known {
		return id
	}
	var id int32
	w = strings.Clone(w) // does not keep the text in memory, which may be large
	if n := len(x.free); n > 0 {
		id, x.free = x.free[n-1], x.free[:n-1]
		x.words[id] = w
	} else {
		id = int32(len(x.words))
		x.words, x.uses = append(x.words, w), append(x.uses, 0)
	}
	x.ids[w] = id
	return id
}

// Drop removes a product.
func (x *Index) Drop(product int) {
	b := x.books[product]
	if b == nil {
		return
	}
	delete(x.books, product)
	x.terms -= len(b.terms)
	for _, t := range b.terms {
		if x.uses[t.word]--; x.uses[t.word] == 0 {
			delete(x.ids, x.words[t.word])
			x.words[t.word] = ""
			x.free = append(x.free, t.word)
		}
	}
}

// Hit is a product that answers a question.
type Hit struct {
	Product int
	Entries []Entry // other matching entries of the product, the best first
	score   int
	typed   bool
}

// maxShown is the maximum number of entries in a hit.
const maxShown = 3

// Find returns the products with all words of a query, the best first, out of those that may
// allows. Words with typing errors count only if no allowed product has the words as typed.
// Other products do not affect the result.
func (x *Index) Find(query string, may func(product int) bool) []Hit {
	asked := asked(query)
	if len(asked) == 0 {
		return nil
	}
	answers := x.answers(asked)
	var out []Hit
	typed := false
	for id, b := range x.books {
		if !may(id) {
			continue
		}
		if h, found := b.search(answers, len(asked)); found {
			h.Product = id
			out = append(out, h)
			typed = typed || h.typed
		}
	}
	if typed {
		out = slices.DeleteFunc(out, func(h Hit) bool { return !h.typed })
	}
	slices.SortFunc(out, func(a, b Hit) int { return cmp.Or(b.score-a.score, a.Product-b.Product) })
	return out
}

// answer is how well a word matches each word of a query.
type answer [maxAsked]likeness

// answers are the words of an index that match a word of a query.
type answers struct {
	of  []int32 // by word: index in all; 0: no match
	all []answer
}

// answers compares the words of a query with those of the index.
func (x *Index) answers(asked []string) answers {
	out := answers{of: make([]int32, len(x.words)), all: make([]answer, 1)}
	for id, w := range x.words {
		var all answer
		some := false
		for i, a := range asked {
			if w != "" {
				all[i] = like(a, w)
				some = some || all[i] > unlike
			}
		}
		if some {
			out.of[id] = int32(len(out.all))
			out.all = append(out.all, all)
		}
	}
	return out
}

// search searches for all words of a query in a book. The terms of an entry are consecutive.
func (b *book) search(to answers, n int) (Hit, bool) {
	var best [maxAsked]int
	var most answer
	var entries top
	entry, sum := int32(-1), 0
	for _, t := range b.terms {
		at := to.of[t.word]
		if at == 0 {
			continue
		}
		if t.entry != entry {
			entries.note(b, entry, sum)
			entry, sum = t.entry, 0
		}
		for i, l := range to.all[at][:n] {
			score := int(l) * int(t.weight)
			best[i], most[i] = max(best[i], score), max(most[i], l)
			sum += score
		}
	}
	entries.note(b, entry, sum)
	h := Hit{typed: true}
	for i := range n {
		if most[i] == unlike {
			return h, false
		}
		h.score += best[i]
		h.typed = h.typed && most[i] >= typed
	}
	for _, e := range entries {
		if e.score > 0 {
			h.Entries = append(h.Entries, b.entries[e.entry])
		}
	}
	return h, true
}

// top are the entries with the highest scores, in descending order.
type top [maxShown]struct {
	entry int32
	score int
}

// note inserts an entry according to its score.
func (t *top) note(b *book, entry int32, score int) {
	if entry < 0 || b.entries[entry].Sort == Product {
		return
	}
	for i := range t {
		if score > t[i].score {
			copy(t[i+1:], t[i:])
			t[i].entry, t[i].score = entry, score
			return
		}
	}
}
