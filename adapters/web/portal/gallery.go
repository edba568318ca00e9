package portal

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// Bounds of the cached references: their number, and their size in bytes. A short
// description can become a long reference.
const (
	maxDrawn  = 100
	maxWeight = 32 << 20
)

// gallery caches the references that were shown last, by description: parsing a
// description takes far longer than the rest of its page. The zero gallery is empty.
type gallery struct {
	mu     sync.Mutex
	known  map[[sha256.Size]byte]*list.Element
	order  list.List // of *painting, the last shown first
	weight int
}

// painting is one reference, or the error of drawing it.
type painting struct {
	text      [sha256.Size]byte
	weight    int
	once      sync.Once
	reference reference
	err       error
}

// of returns the reference for a description. Concurrent visits wait for the one that
// draws it.
func (g *gallery) of(text string, draw func() (reference, error)) (reference, error) {
	p := g.hung(sha256.Sum256([]byte(text)))
	p.once.Do(func() {
		p.err = errReference // until it is drawn
		p.reference, p.err = draw()
		g.mu.Lock()
		defer g.mu.Unlock()
		if at, known := g.known[p.text]; known && at.Value == any(p) {
			p.weight = p.reference.weight()
			g.weight += p.weight
			g.trim()
		}
	})
	return p.reference, p.err
}

// hung returns the entry for a reference, and marks it as the last shown.
func (g *gallery) hung(text [sha256.Size]byte) *painting {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at, known := g.known[text]; known {
		g.order.MoveToFront(at)
		return at.Value.(*painting)
	}
	if g.known == nil {
		g.known = map[[sha256.Size]byte]*list.Element{}
	}
	p := &painting{text: text}
	g.known[text] = g.order.PushFront(p)
	g.trim()
	return p
}

// trim removes the references that were not shown for longest.
func (g *gallery) trim() {
	for g.order.Len() > maxDrawn || g.weight > maxWeight {
		p := g.order.Remove(g.order.Back()).(*painting)
		delete(g.known, p.text)
		g.weight -= p.weight
	}
}

// weight returns the approximate size of a reference in memory, in bytes.
func (r reference) weight() int {
	const each = 100 // of a field
	n := len(r.Description) + each
	for _, g := range r.Groups {
		for _, c := range g.Operations {
			n += len(c.Description) + each*(2+len(c.Parameters)+len(c.Body))
			for _, a := range c.Responses {
				n += each * (1 + len(a.Fields))
			}
			for _, s := range c.Samples {
				n += len(s.Text) + each
			}
		}
	}
	return n
}
