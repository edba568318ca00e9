package sql

import (
	"context"
	"fmt"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// resealRows is how many rows one step reads, and resealBytes about how many bytes it
// rewrites in one transaction, so that writers do not wait long.
const (
	resealRows  = 100
	resealBytes = 4 << 20
)

// formSink is the row of the cursor table whose holder is the form that all stored
// texts are known to have.
const formSink = "(documents)"

// form returns the name of the form in which texts are written now.
func (s *Store) form() string {
	if s.Sealing.Clear {
		return "clear"
	}
	return s.Sealing.Documents.ID()
}

// Reseal encrypts, with the current key, texts that are unencrypted or encrypted with
// an older key. It works in bounded steps, so that others can write in between, and
// returns how many rows it has rewritten. When there is nothing to do, it reads one
// row. With Clear it rewrites nothing: sealed texts stay sealed until they are next
// written.
func (s *Store) Reseal(ctx context.Context, progress func(done int)) (n int, err error) {
	if s.Sealing.Documents == nil {
		return 0, nil
	}
	done, err := number(ctx, s.Readers, `select count(*) from cursor where sink = $1 and holder = $2`, formSink, s.form())
	if err != nil || done > 0 {
		return 0, s.explain(err)
	}
	if !s.Sealing.Clear {
		for _, part := range []func(context.Context, func(int)) error{s.resealRecords, s.resealLog} {
			if err := part(ctx, func(more int) {
				n += more
				progress(n)
			}); err != nil {
				return n, s.explain(err)
			}
		}
	}
	return n, s.do(ctx, func(ctx context.Context, ses *session) error {
		return ses.exec(ctx, `insert into cursor (sink, rev, holder, until) values ($1, 0, $2, 0) on conflict (sink) do update set holder = excluded.holder`, formSink, s.form())
	})
}

// stale reports whether a stored text is not sealed with the current key.
func (s *Store) stale(stored []byte) bool {
	sealed := sealedBytes(stored)
	return sealed == nil || !s.Sealing.Documents.Current(sealed)
}

// rewrite is one row with its new text.
type rewrite struct {
	text   string
	args   []any
	size   int
	stored []byte // the old text of the row
	at     spot
}

// carry writes rewrites, a bounded number in each transaction.
func (s *Store) carry(ctx context.Context, all []rewrite, told func(int)) error {
	for len(all) > 0 {
		size, part := 0, 0
		for part < len(all) && (part == 0 || size < resealBytes) {
			size += all[part].size
			part++
		}
		if err := s.do(ctx, func(ctx context.Context, ses *session) error {
			for _, r := range all[:part] {
				if err := s.repart(ctx, ses, r.stored, r.at); err != nil {
					return err
				}
				if err := ses.exec(ctx, r.text, r.args...); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		told(part)
		all = all[part:]
	}
	return nil
}

func (s *Store) resealRecords(ctx context.Context, told func(int)) error {
	for last := (row{}); ; {
		var page []row
		err := each(ctx, s.Readers, func(scan func(...any) error) error {
			var w row
			err := scan(&w.kind, &w.org, &w.id, &w.rev, &w.doc)
			page = append(page, w)
			return err
		}, fmt.Sprintf(`select kind, org, id, rev, doc from record where (kind, org, id) > ($1, $2, $3) order by kind, org, id limit %d`, resealRows),
			last.kind, last.org, last.id)
		if err != nil || len(page) == 0 {
			return err
		}
		var work []rewrite
		for _, w := range page {
			rev, ok := w.rev.(int64)
			if !ok || !s.stale(w.doc) {
				continue
			}
			at := recordSpot(w.kind, w.org, w.id, store.Revision(rev))
			if packed, size, ok := s.repack(w.doc, at.place); ok {
				work = append(work, rewrite{`update record set doc = $1 where kind = $2 and org = $3 and id = $4 and rev = $5`,
					[]any{packed, w.kind, w.org, w.id, rev}, size, w.doc, at})
			}
		}
		if err := s.carry(ctx, work, told); err != nil {
			return err
		}
		last = page[len(page)-1]
	}
}

func (s *Store) resealLog(ctx context.Context, told func(int)) error {
	for last := int64(0); ; {
		var work []rewrite
		n := 0
		err := each(ctx, s.Readers, func(scan func(...any) error) error {
			var first int64
			var body []byte
			if err := scan(&first, &last, &body); err != nil {
				return err
			}
			n++
			if !s.stale(body) {
				return nil
			}
			at := logSpot(store.Revision(first), store.Revision(last))
			if packed, size, ok := s.repack(body, at.place); ok {
				work = append(work, rewrite{`update change_log set body = $1 where last = $2 and first = $3`, []any{packed, last, first}, size, body, at})
			}
			return nil
		}, fmt.Sprintf(`select first, last, body from change_log where last > $1 order by last limit %d`, resealRows), last)
		if err != nil || n == 0 {
			return err
		}
		if err := s.carry(ctx, work, told); err != nil {
			return err
		}
	}
}

// repack returns a stored text in the current form, and its size in bytes with its
// parts; false: it is damaged and stays as it is.
func (s *Store) repack(stored, place []byte) (packed any, size int, ok bool) {
	plain, _, err := s.unpack(stored, place)
	if err != nil {
		return nil, 0, false
	}
	c, _ := contentsOf(plain)
	packed, err = s.pack(plain, place)
	return packed, len(stored) + c.size, err == nil
}

// each calls fn for every row of a query.
func each(ctx context.Context, q querier, fn func(scan func(...any) error) error, text string, args ...any) error {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
