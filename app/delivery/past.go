package delivery

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// past knows documents as they were. It keeps some of those that it has told last: of
// a record that changes many times, each change leads to the next.
type past struct {
	store Store
	known map[place]version
	bytes int
}

// place is where a record stands.
type place struct {
	org      tenant.ID
	kind, id string
}

// version is a document after a commit.
type version struct {
	rev  store.Revision
	text []byte
}

// Bounds of what is kept.
const (
	maxKnown = 1000
	maxBytes = 16 << 20
	tries    = 3 // at reading a document
)

// documents returns a record as it was before and after a commit: neither, if history
// does not tell.
func (p *past) documents(ctx context.Context, rev store.Revision, ch store.Change) (before, after *store.Record, err error) {
	record := func(text []byte) *store.Record {
		return &store.Record{Org: ch.Org, Kind: ch.Kind, ID: ch.ID, Rev: rev, Doc: text, Keys: ch.Keys}
	}
	at := place{ch.Org, ch.Kind, ch.ID}
	switch ch.Op {
	case store.Created:
		rec, err := ch.After(store.Record{}, rev)
		if err != nil {
			return nil, nil, nil
		}
		p.keep(at, version{rev, rec.Doc})
		return nil, &rec, nil
	case store.Updated:
		if v, ok := p.known[at]; ok && v.rev == ch.Prev {
			if rec, err := ch.After(*record(v.text), rev); err == nil {
				p.keep(at, version{rev, rec.Doc})
				return record(v.text), &rec, nil
			}
		}
		text, err := p.read(ctx, at, rev)
		if err != nil || text == nil {
			return nil, nil, err
		}
		after = record(text)
		p.keep(at, version{rev, text})
	}
	var text []byte
	if after != nil {
		text = after.Doc
	}
	old, err := ch.Before(text)
	if err != nil || len(old) == 0 {
		return nil, nil, nil
	}
	return record(old), after, nil
}

// read returns a document as it was after a commit, or nothing.
func (p *past) read(ctx context.Context, at place, rev store.Revision) ([]byte, error) {
	scope, err := tenant.Of(at.org)
	if err != nil { // of no organisation: no receiver
		return nil, nil
	}
	text, err := store.At(ctx, p.store, scope, at.kind, at.id, rev)
	for n := 1; n < tries && errors.Is(err, doc.ErrMismatch); n++ { // it was deleted, and made again while history was read
		text, err = store.At(ctx, p.store, scope, at.kind, at.id, rev)
	}
	for _, untold := range []error{store.ErrNotFound, store.ErrExpired, store.ErrDamaged, doc.ErrMismatch} {
		if errors.Is(err, untold) {
			return nil, nil
		}
	}
	return text, err
}

func (p *past) keep(at place, v version) {
	if len(p.known) >= maxKnown || p.bytes+len(v.text) > maxBytes {
		p.known, p.bytes = nil, 0
	}
	if p.known == nil {
		p.known = map[place]version{}
	}
	p.bytes += len(v.text) - len(p.known[at].text)
	p.known[at] = v
}
