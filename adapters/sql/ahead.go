package sql

import (
	"bytes"
	"crypto/rand"
	"slices"
	"sync/atomic"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// made is a long text in parts as their columns take them. It is made beside the writer,
// which then only stores it.
type made struct {
	name   string // see contents
	first  int    // number of the first part
	bodies [][]byte
	sizes  []int // of the parts before they were sealed
}

// add makes the next part.
func (m *made) add(s *Store, plain []byte) error {
	body, err := s.packPart(nil, plain, partPlace(m.name, m.first+len(m.bodies)))
	m.bodies, m.sizes = append(m.bodies, body), append(m.sizes, len(plain))
	return err
}

// aheadMost is how many bytes of texts are made ahead at once, for all organisations. What
// is beyond that is made with the writer, a part at a time: texts that are made ahead are
// in memory once more, for as long as their units wait.
const aheadMost = 32 << 20

// ahead counts them.
type ahead struct{ bytes atomic.Int64 }

func (a *ahead) take(n int64) bool {
	if a.bytes.Add(n) <= aheadMost {
		return true
	}
	a.bytes.Add(-n)
	return false
}

// makeAhead makes the long texts of a plan, if there is room. GiveBack returns it.
func (s *Store) makeAhead(p *plan) error {
	docs, log := 0, 0
	for _, e := range p.entries {
		if e.now != nil && len(e.now.Doc) > partSize {
			docs += len(e.now.Doc)
		}
	}
	for _, c := range p.changes {
		log += textSize(c)
	}
	if log <= partSize {
		log = 0
	}
	need := int64(docs + log)
	if need == 0 || !s.ahead.take(need) {
		return nil
	}
	p.room = need
	if log > 0 {
		if err := s.makeLog(p); err != nil {
			return err
		}
	}
	p.docs = map[address]*made{}
	for a, e := range p.entries {
		if e.now == nil || len(e.now.Doc) <= partSize {
			continue
		}
		m := &made{name: rand.Text()}
		for part := range slices.Chunk(e.now.Doc, partSize) {
			if err := m.add(s, part); err != nil {
				return err
			}
		}
		p.docs[a] = m
	}
	return nil
}

// giveBack gives the room of what was made ahead to others.
func (s *Store) giveBack(p *plan) {
	s.ahead.bytes.Add(-p.room)
	p.room = 0
}

// makeLog makes the text of the changes of a plan. The part before it says whose and
// which commit they are, and is made with the writer.
func (s *Store) makeLog(p *plan) error {
	m := &made{name: rand.Text(), first: 1}
	w := &logWriter{add: func(part []byte) error { return m.add(s, bytes.Clone(part)) }}
	for i, c := range p.changes {
		if err := w.next(i, c); err != nil {
			return err
		}
	}
	p.log = m
	return m.add(s, append(w.b, logTail...))
}

// makeTexts makes the texts of those changes of a plan that are short.
func (p *plan) makeTexts() error {
	if p.log != nil {
		return nil
	}
	for _, c := range p.changes {
		var text logWriter
		if textSize(c) <= partSize {
			if err := text.change(c); err != nil {
				return err
			}
		}
		p.texts = append(p.texts, text.b)
	}
	return nil
}

// longText is a document that is stored in parts.
type longText struct {
	rec *store.Record
	contents
	made *made // nil: it is made while it is stored
}

// longOf returns how the long document of a record is stored.
func longOf(rec *store.Record, m *made) longText {
	c := named()
	if m != nil {
		c.name = m.name
	}
	c.size = len(rec.Doc)
	c.parts = (c.size + partSize - 1) / partSize
	return longText{rec, c, m}
}
