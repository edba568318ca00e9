package sql

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// flush sends the changes of the overlay and the commits of the units: few statements of
// many rows, for any number of units.
func (g *group) flush() error {
	f := newFlusher()
	for a, e := range g.over.entries {
		if err := f.record(g, a, e); err != nil {
			return err
		}
	}
	// Rows are deleted before any is inserted, so that a unique value can move from one
	// record to another.
	for _, st := range []*statement{&f.drop, &f.sweepKeys, &f.sweepRefs, &f.sweepParts, &f.freeTexts, &f.dropKeys, &f.dropRefs, &f.upsert, &f.addKeys, &f.addRefs, &f.gone} {
		if err := g.send(st); err != nil {
			return err
		}
	}
	for _, t := range f.long {
		if err := g.take(t, 0); err != nil {
			return err
		}
	}
	// The commits of the units become one row of the log. A commit whose text has been
	// stored ahead gets a row of its own.
	for rest := g.commits; len(rest) > 0; {
		n := 1
		for rest[0].ahead == nil && n < len(rest) && rest[n].ahead == nil {
			n++
		}
		first, last := rest[0].Rev, rest[n-1]
		text, long, err := g.logText(rest[:n])
		if err != nil {
			return err
		}
		if long != nil {
			text = long.text()
			if err := g.take(long, int64(last.Rev)); err != nil {
				return err
			}
		}
		body, err := g.s.pack(text, logPlace(first, last.Rev))
		if err != nil {
			return err
		}
		if err := g.ses.later(g.ctx, `insert into change_log (last, first, at, body) values ($1, $2, $3, $4)`,
			int64(last.Rev), int64(first), last.At.UnixNano(), body); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return g.late()
}

// logText encodes a row of the log. A long text is stored in parts, as far as that has
// not been done ahead.
func (g *group) logText(commits []logged) (text []byte, long *longText, err error) {
	w := &logWriter{}
	if c := commits[0]; c.ahead != nil {
		own := *c.ahead // a copy: the group may have to run again
		w.b = append(w.b, '[')
		if err := w.head(c); err != nil {
			return nil, nil, err
		}
		g.taken = append(g.taken, c.ahead)
		return nil, &own, g.s.add(g.ctx, g.change, &own, 0, w.b)
	}
	w.add = func(part []byte) error {
		if long == nil {
			long = &longText{contents: named()}
			if err := g.s.note(g.ctx, g.change, long); err != nil {
				return err
			}
		}
		return g.s.add(g.ctx, g.change, long, long.parts, part)
	}
	if err := w.commits(commits); err != nil {
		return nil, nil, err
	}
	if long != nil {
		err = w.hand(1)
	}
	return w.b, long, err
}

type flusher struct {
	drop, sweepKeys, sweepRefs, sweepParts, freeTexts, dropKeys, dropRefs, upsert, addKeys, addRefs, gone statement

	long []*longText // documents that are too long for one row
}

func newFlusher() *flusher {
	return &flusher{
		drop:       statement{head: `delete from record where (kind, org, id) in (values `, tail: `)`},
		sweepKeys:  statement{head: `delete from record_key where (kind, org, id) in (values `, tail: `)`},
		sweepRefs:  statement{head: `delete from record_ref where (kind, org, id) in (values `, tail: `)`},
		sweepParts: statement{head: `delete from record_part where (kind, org, id) in (values `, tail: `)`},
		freeTexts:  statement{head: `update long_text set state = 2 where kind <> '' and (kind, org, id) in (values `, tail: `)`},
		dropKeys:   statement{head: `delete from record_key where (kind, name, value, org, id) in (values `, tail: `)`},
		dropRefs:   statement{head: `delete from record_ref where (org, to_kind, to_id, kind, id) in (values `, tail: `)`},
		upsert: statement{head: `insert into record (kind, org, id, rev, doc, meta) values `,
			tail: ` on conflict (kind, org, id) do update set rev = excluded.rev, doc = excluded.doc, meta = excluded.meta`},
		addKeys: statement{head: `insert into record_key (kind, name, value, org, id, uniq, sorted) values `},
		addRefs: statement{head: `insert into record_ref (org, to_kind, to_id, kind, id) values `, tail: ` on conflict do nothing`},
		gone:    statement{head: `insert into gone (kind, org, id, rev) values `, tail: ` on conflict (kind, org, id) do update set rev = excluded.rev`},
	}
}

func (f *flusher) record(g *group, a address, e *entry) error {
	var oldKeys, newKeys []store.Key
	var oldRefs, newRefs []integrity.Ref
	if e.base != nil {
		oldKeys, oldRefs = e.base.Keys, e.base.Refs
	}
	switch {
	case e.now != nil:
		newKeys, newRefs = e.now.Keys, e.now.Refs
		if err := e.makeMeta(); err != nil {
			return err
		}
		text, name := e.now.Doc, ""
		if len(text) > longSize {
			long := g.docs[e.now]
			if long == nil {
				long = &longText{contents: named(), of: a, plain: text}
				if err := g.s.note(g.ctx, g.change, long); err != nil {
					return err
				}
				if err := g.s.addAll(g.ctx, g.change, long); err != nil {
					return err
				}
			}
			g.taken = append(g.taken, long)
			f.long, text, name = append(f.long, long), long.text(), long.name
		}
		if len(e.now.Doc) >= largeSize && len(g.over.entries) <= mostLearned {
			g.large = append(g.large, large{e.now, e.meta, name})
		}
		doc, err := g.s.pack(text, placeOf(a.kind, string(a.org), a.id, e.now.Rev))
		if err != nil {
			return err
		}
		f.upsert.rows = append(f.upsert.rows, []any{a.kind, string(a.org), a.id, int64(e.now.Rev), doc, e.meta})
	case e.base != nil:
		f.drop.rows = append(f.drop.rows, []any{a.kind, string(a.org), a.id})
		f.gone.rows = append(f.gone.rows, []any{a.kind, string(a.org), a.id, int64(e.rev)})
	}
	if e.base != nil && (e.base.Damage != nil || len(e.base.Doc) > longSize) {
		at := []any{a.kind, string(a.org), a.id}
		f.sweepParts.rows, f.freeTexts.rows = append(f.sweepParts.rows, at), append(f.freeTexts.rows, at)
		g.freed = true
	}
	if e.base != nil && e.base.Damage != nil { // the meta of a damaged record cannot be trusted
		at := []any{a.kind, string(a.org), a.id}
		f.sweepKeys.rows, f.sweepRefs.rows = append(f.sweepKeys.rows, at), append(f.sweepRefs.rows, at)
		oldKeys, oldRefs = nil, nil
	}
	f.keys(a, oldKeys, newKeys)
	f.refs(a, oldRefs, newRefs)
	return nil
}

// makeMeta encodes what the record table stores besides the document.
func (e *entry) makeMeta() error {
	if e.now == nil || e.meta != "" {
		return nil
	}
	m, err := json.Marshal(meta{e.now.Keys, e.now.Refs, e.now.Serial})
	if err != nil {
		return fmt.Errorf("sql: meta of %s %s: %w", e.now.Kind, e.now.ID, err)
	}
	e.meta = string(m)
	return nil
}

// keys updates the key rows of one record. A record may have thousands of keys, so both
// sides are sets.
func (f *flusher) keys(a address, before, after []store.Key) {
	if slices.Equal(before, after) {
		return
	}
	old, now := setOf(before), setOf(after)
	for k := range old {
		if !now[k] {
			f.dropKeys.rows = append(f.dropKeys.rows, []any{a.kind, k.Index, keyText(k.Value), string(a.org), a.id})
		}
	}
	for _, k := range after {
		if !old[k] {
			old[k] = true // a repeated key has one row
			f.addKeys.rows = append(f.addKeys.rows, []any{a.kind, k.Index, keyText(k.Value), string(a.org), a.id, flag(k.Unique), flag(k.Sorted)})
		}
	}
}

func setOf[T comparable](list []T) map[T]bool {
	out := make(map[T]bool, len(list))
	for _, v := range list {
		out[v] = true
	}
	return out
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// refs updates the reference rows of one record.
func (f *flusher) refs(a address, before, after []integrity.Ref) {
	if slices.Equal(before, after) {
		return
	}
	old, now := targets(before), targets(after)
	for t := range old {
		if !now[t] {
			f.dropRefs.rows = append(f.dropRefs.rows, []any{string(a.org), t.Kind, keyText(t.ID), a.kind, a.id})
		}
	}
	for t := range now {
		if !old[t] {
			f.addRefs.rows = append(f.addRefs.rows, []any{string(a.org), t.Kind, keyText(t.ID), a.kind, a.id})
		}
	}
}

func targets(refs []integrity.Ref) map[integrity.Target]bool {
	out := make(map[integrity.Target]bool, len(refs))
	for _, r := range refs {
		out[r.Target] = true
	}
	return out
}
