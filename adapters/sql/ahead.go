package sql

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// storeAhead stores the long texts of a plan before the unit of work runs in the writer. Each part
// has a transaction of its own, so that other units can write in between. The unit then only takes
// the stored texts.
func (s *Store) storeAhead(ctx context.Context, sc tenant.Scope, p *plan) error {
	do, log := s.apart(sc), 0
	for a, e := range p.over.entries {
		if e.now == nil || len(e.now.Doc) <= longSize {
			continue
		}
		t, err := s.begin(ctx, do, p)
		if err == nil {
			t.of, t.plain = a, e.now.Doc
			err = s.addAll(ctx, do, t)
		}
		if err != nil {
			return err
		}
		p.docs[a] = t
	}
	for _, c := range p.changes {
		log += textSize(c)
	}
	if log <= longSize {
		for _, c := range p.changes {
			var text logWriter
			if err := text.change(c); err != nil {
				return err
			}
			p.texts = append(p.texts, text.b)
		}
		return nil
	}
	t, err := s.begin(ctx, do, p)
	if err != nil {
		return err
	}
	// Part 0 contains the scope and revision of the commit, and is made later, in the writer.
	w := &logWriter{add: func(part []byte) error { return s.add(ctx, do, t, 1+t.parts, part) }}
	for i, c := range p.changes {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if err := w.change(c); err != nil {
			return err
		}
		if err := w.spill(); err != nil {
			return err
		}
	}
	w.b = append(w.b, logTail...)
	p.log = t
	return w.hand(1)
}

// begin begins a long text of a plan.
func (s *Store) begin(ctx context.Context, do run, p *plan) (*longText, error) {
	t := &longText{contents: named()}
	p.ahead = append(p.ahead, t)
	s.sweeper.mu.Lock()
	s.sweeper.ahead[t.name] = true // the sweeper must keep it for the unit
	s.sweeper.mu.Unlock()
	return t, s.note(ctx, do, t)
}

// sending estimates how long a plan keeps the writer busy. For texts stored ahead, the writer only
// sets the row that they belong to.
func (p *plan) sending() (d time.Duration) {
	if p.log == nil {
		return sending(p.changes)
	}
	for _, c := range p.changes {
		d += perRow * time.Duration(1+len(c.Keys)+len(c.Refs))
	}
	for a, e := range p.over.entries {
		if e.now != nil && p.docs[a] == nil {
			d += perKilobyte * time.Duration(len(e.now.Doc)>>10)
		}
	}
	return d
}
