package sql

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"iter"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// reader reads records in one transaction.
type reader struct {
	s     *Store
	q     querier
	scope tenant.Scope
}

// pageSize is how many records are fetched at once: a cursor must not stay open while
// the caller runs other statements in the same transaction.
const pageSize = 200

// Get implements store.Reader.
func (r *reader) Get(ctx context.Context, kind, id string) (store.Record, error) {
	if r.scope.All() {
		return store.Record{}, store.ErrScope
	}
	return r.get(ctx, address{r.scope.Org(), kind, id})
}

func (r *reader) get(ctx context.Context, a address) (store.Record, error) {
	recs, err := r.fetch(ctx, `select kind, org, id, rev, doc, meta from record where kind = $1 and org = $2 and id = $3`, a.kind, string(a.org), idText(a.id))
	if err != nil {
		return store.Record{}, err
	}
	if len(recs) == 0 {
		return store.Record{}, store.ErrNotFound
	}
	return recs[0], nil
}

// pageSizes are the limits that are literals in a statement, in order.
var pageSizes = [...]int{1, 2, 16, pageSize}

// Scan implements store.Reader.
func (r *reader) Scan(ctx context.Context, q store.Query) iter.Seq2[store.Record, error] {
	return r.pages(ctx, q, pageSize)
}

// pages is Scan with pages of a given size.
func (r *reader) pages(ctx context.Context, q store.Query, size int) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		if q.Sorted && r.scope.All() {
			yield(store.Record{}, store.ErrScope)
			return
		}
		left, first := q.Limit, true
		var last store.Record
		for {
			n := size
			if q.Limit > 0 {
				n = min(n, left)
			}
			skip := 0
			if first {
				skip = q.Offset
			}
			text, args := r.page(q, last, first, n, skip)
			recs, err := r.fetch(ctx, text, args...)
			if err != nil {
				yield(store.Record{}, err)
				return
			}
			for _, rec := range recs {
				if !yield(rec, nil) {
					return
				}
			}
			if left -= len(recs); len(recs) < n || q.Limit > 0 && left == 0 {
				return
			}
			last, first = recs[len(recs)-1], false
		}
	}
}

// Count implements store.Reader.
func (r *reader) Count(ctx context.Context, q store.Query) (int, error) {
	if q.Sorted && r.scope.All() {
		return 0, store.ErrScope
	}
	c, table := r.where(q), ` from record r`
	if q.Index != "" {
		table = ` from record_key k`
	}
	total, err := number(ctx, r.q, `select count(*)`+table+c.text.String(), c.args...)
	return int(total), err
}

// Touched implements store.Reader. It returns the head, for every kind: never too low,
// but any commit raises it.
func (r *reader) Touched(ctx context.Context, _ string) (store.Revision, error) {
	return headOf(ctx, r.q)
}

// Referrers implements store.Reader.
func (r *reader) Referrers(ctx context.Context, to integrity.Target) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		if r.scope.All() {
			yield(store.Record{}, store.ErrScope)
			return
		}
		kind, id := "", ""
		for {
			recs, err := r.fetch(ctx, fmt.Sprintf(`select r.kind, r.org, r.id, r.rev, r.doc, r.meta from record_ref f
				cross join record r where r.org = f.org and r.kind = f.kind and r.id = f.id
				and f.org = $1 and f.to_kind = $2 and f.to_id = $3 and (f.kind, f.id) > ($4, $5) order by f.kind, f.id limit %d`, pageSize),
				string(r.scope.Org()), to.Kind, keyText(to.ID), kind, id)
			if err != nil {
				yield(store.Record{}, err)
				return
			}
			for _, rec := range recs {
				if !yield(rec, nil) {
					return
				}
				kind, id = rec.Kind, rec.ID
			}
			if len(recs) < pageSize {
				return
			}
		}
	}
}

// fetch reads whole records.
func (r *reader) fetch(ctx context.Context, text string, args ...any) ([]store.Record, error) {
	var out []store.Record
	short := map[int]row{} // by index in out
	err := each(ctx, r.q, func(scan func(...any) error) error {
		var w row
		var doc sql.RawBytes // the driver's memory until the next row; sealed documents are not copied
		if err := scan(&w.kind, &w.org, &w.id, &w.rev, &doc, &w.meta); err != nil {
			return err
		}
		if w.doc = doc; len(doc) <= mostContents {
			w.doc = bytes.Clone(doc)
			short[len(out)] = w
			out = append(out, store.Record{})
			return nil
		}
		out = append(out, r.s.record(w).Shared())
		return nil
	}, text, args...)
	for i, w := range short { // the transaction can be queried for parts only now
		if err == nil {
			err = r.join(ctx, &w)
		}
		out[i] = r.s.record(w).Shared()
	}
	return out, err
}

// join reads the text of a row whose document is in parts.
func (r *reader) join(ctx context.Context, w *row) error {
	rev, ok := w.rev.(int64)
	if !ok || len(w.doc) > mostContents {
		return nil
	}
	t, err := r.s.whole(ctx, r.q, w.doc, recordSpot(w.kind, w.org, w.id, store.Revision(rev)))
	w.text = &t
	return err
}
