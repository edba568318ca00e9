package search

import (
	"cmp"
	"slices"
	"strings"
)

// Sort says what an entry is.
type Sort string

// The sorts of entries.
const (
	Product   Sort = "product"
	API       Sort = "api"
	Operation Sort = "operation"
	Tutorial  Sort = "tutorial"
)

// Entry is something that can be found.
type Entry struct {
	Sort   Sort
	Title  string
	Text   string // counts less than the title
	API    string // which API of the product it belongs to
	Anchor string // where on the page of the API
}

// Bounds of what is remembered.
const (
	MaxEntries = 1000    // of a product
	maxTerms   = 20_000  // words of the entries of a product
	maxAll     = 4 << 20 // words of all entries
)

// Weights of words by where they stand.
const (
	inTitle = 8
	inText  = 3
)

// weights multiply those of words by the sort of their entry.
var weights = map[Sort]int{Product: 4, API: 3, Tutorial: 2, Operation: 2}

// term is a word of an entry.
type term struct {
	word, entry int32
	weight      int32
}

// book is what is remembered about a product.
type book struct {
	entries []Entry
	terms   []term
}

// Index remembers the words of products. It is not for use by several goroutines, unless
// all of them only read.
type Index struct {
	books map[int]*book
	words []string
	ids   map[string]int32
	uses  []int32 // of each word, by terms
	free  []int32
	terms int
}

// New returns an index that remembers nothing.
func New() *Index { return &Index{books: map[int]*book{}, ids: map[string]int32{}} }

// Put remembers the entries of a product in place of those it had. What is beyond the
// bounds is left out.
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

// note remembers the words of a text that the entry has not had yet.
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
	w = strings.Clone(w) // the text that it stands in may be large
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

// Drop forgets a product.
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
	Entries []Entry // those besides the product itself that say so, the best first
	score   int
	typed   bool
}

// maxShown is how many entries of a product a hit has.
const maxShown = 3

// Find returns the products, out of those that may be found, in which all words of a
// question stand, the best first. Words with typing errors count only when nothing that may
// be found has the words as they are typed: what may not be found has no say.
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

// answer is how well a word answers each word of a question.
type answer [maxAsked]likeness

// answers are the words of an index that answer something.
type answers struct {
	of  []int32 // by word; 0: nothing
	all []answer
}

// answers compares the words of a question with those of the index.
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

// search looks for all words of a question in a book. The words of an entry are beside each
// other.
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

// top are the entries with the highest scores, the highest first.
type top [maxShown]struct {
	entry int32
	score int
}

// note puts an entry where its score belongs.
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
