package sql

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// longText is a text that is stored in parts. The parts may be stored before the row that refers
// to the text: first the name is noted as one without a row, then the parts are stored, and then
// the unit of work that writes the row takes the text.
type longText struct {
	contents
	bytes int     // of its parts as stored in their columns
	room  []byte  // for a sealed part
	of    address // address of the record whose document it is
	plain []byte  // the document; nil: it is a text of the log
	taken bool    // by a committed unit of work
}

// run executes a statement and returns how many rows it has changed.
type run func(ctx context.Context, text string, args ...any) (int64, error)

// apart executes each statement in a transaction of its own. On a local database, which has one
// writing connection, these take turns with the units of work.
func (s *Store) apart(sc tenant.Scope) run {
	if !s.Dialect.Local {
		return func(ctx context.Context, text string, args ...any) (int64, error) {
			res, err := s.Writers.ExecContext(ctx, text, args...)
			if err != nil {
				return 0, err
			}
			return res.RowsAffected()
		}
	}
	return func(ctx context.Context, text string, args ...any) (n int64, err error) {
		err = s.writer.submit(&unit{ctx: ctx, scope: sc, job: func(ctx context.Context, ses *session) error {
			n, err = ses.change(ctx, text, args...)
			return err
		}})
		return n, err
	}
}

// change is the run of a group: its statements take the writer's time.
func (g *group) change(ctx context.Context, text string, args ...any) (int64, error) {
	if err := g.late(); err != nil {
		return 0, err
	}
	return g.ses.change(ctx, text, args...)
}

// note stores the name of a text without a row.
func (s *Store) note(ctx context.Context, do run, t *longText) error {
	_, err := do(ctx, `insert into long_text (name, state, at, size, kind, org, id, last) values ($1, 0, `+s.Dialect.Now+`, 0, '', '', '', 0)`, t.name)
	return err
}

// add stores part n of a text.
func (s *Store) add(ctx context.Context, do run, t *longText, n int, plain []byte) error {
	body, err := s.packPart(t.room[:0], plain, partPlace(t.name, n))
	if err != nil {
		return err
	}
	if s.sealing() {
		t.room = body
	}
	if _, err := do(ctx, `insert into long_part (name, n, body) values ($1, $2, $3)`, t.name, n, body); err != nil {
		return err
	}
	t.parts, t.size, t.bytes = t.parts+1, t.size+len(plain), t.bytes+len(body)
	return nil
}

// addAll stores all parts of a document.
func (s *Store) addAll(ctx context.Context, do run, t *longText) error {
	for part := range slices.Chunk(t.plain, partSize) {
		if err := s.add(ctx, do, t, t.parts, part); err != nil {
			return err
		}
	}
	return nil
}

// errSwept means that a text stored ahead was removed before its unit of work took it: the unit is
// prepared again.
var errSwept = fmt.Errorf("%w: a text that was stored ahead is no more", errAside)

// take assigns a text to its record, or to a row of the log.
func (g *group) take(t *longText, last int64) error {
	n, err := g.change(g.ctx, `update long_text set state = 1, size = $1, kind = $2, org = $3, id = $4, last = $5 where name = $6 and state = 0`,
		t.bytes, t.of.kind, string(t.of.org), t.of.id, last, t.name)
	if err == nil && n == 0 {
		err = errSwept
	}
	return err
}

// large is a document that this process has stored, as its row describes it.
type large struct {
	rec  *store.Record
	meta string // as stored
	name string // of its text in parts; "": the text is in the row
}

// youngest caches the large documents that this process stored last, by record: the next unit of
// work on such a record needs the document, and the in-memory copy that answers reads keeps it in
// memory anyway.
type youngest struct {
	mu   sync.Mutex
	docs []large // the last one is the newest
}

// largeSize is the minimum size in bytes of the documents in youngest: to read and decode a smaller
// one again costs less than a commit. youngestBytes bounds them together.
const (
	largeSize     = 256 << 10
	youngestBytes = 64 << 20
)

// took marks texts as taken by committed units, and caches the documents of these units.
func (l *youngest) took(texts []*longText, docs []large) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range texts {
		t.taken = true
	}
	for _, d := range docs {
		l.docs = append(slices.DeleteFunc(l.docs, func(old large) bool { return addressOf(old.rec) == addressOf(d.rec) }), d)
	}
	size := 0
	for i, d := range slices.Backward(l.docs) {
		if size += len(d.rec.Doc); size > youngestBytes {
			l.docs = slices.Delete(l.docs, 0, i+1)
			return
		}
	}
}

// plain returns the cached text in parts that has a name, or nil.
func (l *youngest) plain(name string) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.docs {
		if d.name == name && name != "" {
			return d.rec.Doc
		}
	}
	return nil
}

// record returns the cached record that has the content of a row, or nil. Its decoded value saves
// more time than its bytes.
func (l *youngest) record(rec *store.Record, meta []byte) *store.Record {
	if len(rec.Doc) < largeSize {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.docs {
		if d.rec.Rev == rec.Rev && addressOf(d.rec) == addressOf(rec) && d.meta == string(meta) && bytes.Equal(d.rec.Doc, rec.Doc) {
			return d.rec
		}
	}
	return nil
}
