package sql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"unique"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// maxDamages bounds how many damaged records are remembered.
const maxDamages = 1000

// damages remembers damaged records, and logs each of them once.
type damages struct {
	mu  sync.Mutex
	met map[address]string
}

func (d *damages) forget(a address) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.met, a)
}

// Damaged implements store.Inspector.
func (s *Store) Damaged(ctx context.Context) (out []store.Damage, err error) {
	err = s.snapshot(ctx, func(q querier) error {
		r := &reader{s: s, q: q, scope: tenant.Everyone("damaged records")}
		s.damages.mu.Lock()
		met := maps.Clone(s.damages.met)
		s.damages.mu.Unlock()
		for a, reason := range met {
			rec, err := r.get(ctx, a)
			switch {
			case errors.Is(err, store.ErrNotFound) || err == nil && rec.Damage == nil:
				s.damages.forget(a)
			case err != nil:
				return err
			default:
				out = append(out, store.Damage{Org: a.org, Kind: a.kind, ID: a.id, Reason: reason})
			}
		}
		return nil
	})
	return out, err
}

// Reasons for damage. They never quote stored data.
var (
	errNoDocument = errors.New("the document is not valid JSON")
	errNoParts    = errors.New("parts of the document are missing")
	errNoMeta     = errors.New("the keys and references are not valid JSON")
	errNoRevision = errors.New("the revision is not a number")
)

// row is a record as stored in the tables.
type row struct {
	kind, org, id string
	rev           any
	doc, meta     []byte
	text          *written // the decoded document, if it is known already
}

// record decodes a row; an error becomes the record's Damage.
func (s *Store) record(w row) store.Record {
	rev, ok := w.rev.(int64)
	t := w.text
	if t == nil {
		t = &written{}
		t.plain, t.sealed, t.wrong = s.unpack(w.doc, placeOf(w.kind, w.org, w.id, store.Revision(rev)))
	}
	rec := store.Record{Kind: unique.Make(w.kind).Value(), Org: tenant.ID(unique.Make(w.org).Value()), ID: w.id, Rev: store.Revision(rev), Doc: t.plain}
	if known := s.youngest.record(&rec, w.meta); known != nil && t.wrong == nil {
		return *known
	}
	m, unreadable := metaOf(w.meta)
	switch {
	case !ok:
		rec.Damage = errNoRevision
	case errors.Is(t.wrong, errParts):
		rec.Damage = errNoParts
	case t.wrong != nil:
		rec.Damage = fmt.Errorf("the document cannot be decrypted: %w", t.wrong)
	case !t.sealed && doc.Check(t.plain, 0) != nil: // a text that was sealed was valid when it was written
		rec.Damage = errNoDocument
	case unreadable != nil:
		rec.Damage = unreadable
	}
	rec.Keys, rec.Refs, rec.Serial = m.Keys, m.Refs, max(m.Serial, store.FirstSerial)
	if rec.Damage != nil {
		a := addressOf(&rec)
		s.damages.mu.Lock()
		defer s.damages.mu.Unlock()
		if _, known := s.damages.met[a]; !known && len(s.damages.met) != maxDamages {
			s.damages.met[a] = rec.Damage.Error()
			s.Logger.Error("a stored record is damaged; it is left out: delete it, or restore a backup (`gatehouse check` lists all)",
				"kind", rec.Kind, "id", rec.ID, "org_id", string(rec.Org), "reason", rec.Damage)
		}
	}
	return rec
}
