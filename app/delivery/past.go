package delivery

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// past returns older versions of documents. It caches the versions that it returned
// last: for a record that changes many times, the result of one change is the input of
// the next.
type past struct {
	store Store
	known map[place]version
	bytes int
}

// place is the address of a record in the store.
type place struct {
	org      tenant.ID
	kind, id string
}

// version is a document after a commit.
type version struct {
	rev  store.Revision
	text []byte
}

// Bounds of the cache.
const (
	maxKnown = 1000
	maxBytes = 16 << 20
	tries    = 3 // at reading a document
)

// documents returns a record before and after a commit. Both are nil if the history
// does not have them.
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

// read returns a document in its version after a commit, or nil.
func (p *past) read(ctx context.Context, at place, rev store.Revision) ([]byte, error) {
	scope, err := tenant.Of(at.org)
	if err != nil { // a record of no organisation has no receivers
		return nil, nil
	}
	text, err := store.At(ctx, p.store, scope, at.kind, at.id, rev)
	for n := 1; n < tries && errors.Is(err, doc.ErrMismatch); n++ { // the record was deleted and created again while its history was read
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
