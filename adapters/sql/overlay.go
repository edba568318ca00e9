package sql

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// address identifies a record across all organisations.
type address struct {
	org      tenant.ID
	kind, id string
}

func addressOf(r *store.Record) address { return address{r.Org, r.Kind, r.ID} }

// keyAddress identifies a searchable value across all organisations.
type keyAddress struct {
	org                tenant.ID
	kind, index, value string
}

// overlay holds the writes of a transaction that are not yet sent. Later units of the
// group, and later steps of a unit, read it before the tables.
type overlay struct {
	entries map[address]*entry
	keys    map[keyAddress]map[address]bool // the overlaid records that have the key, also under organisation "" for all organisations; nil until first used
}

// entry is a record as stored in the tables and as the transaction leaves it; nil means
// that the record does not exist.
type entry struct {
	base, now *store.Record
	rev       store.Revision // of the unit that wrote it last
	meta      string         // encoded from now, if that has been done
}

// set replaces the state of a record. base is the record in the tables, and is used only
// by the first call.
func (o *overlay) set(a address, base, now *store.Record, rev store.Revision) {
	e := o.entries[a]
	if e == nil {
		e = &entry{base: base}
		o.entries[a] = e
	}
	if o.keys != nil {
		o.index(a, e.now, false)
		o.index(a, now, true)
	}
	e.now, e.rev, e.meta = now, rev, ""
}

// index adds or removes the keys of a record; nil: there is none.
func (o *overlay) index(a address, r *store.Record, has bool) {
	if r == nil {
		return
	}
	for _, k := range r.Keys {
		orgs := [...]tenant.ID{a.org, ""} // lookups are by organisation, or across all
		for _, org := range slices.Compact(orgs[:]) {
			ka := keyAddress{org, a.kind, k.Index, k.Value}
			switch {
			case !has:
				delete(o.keys[ka], a)
				continue
			case o.keys[ka] == nil:
				o.keys[ka] = map[address]bool{}
			}
			o.keys[ka][a] = true
		}
	}
}

// matching returns the overlaid records that q selects, in q's order.
func (o *overlay) matching(sc tenant.Scope, q store.Query) []*store.Record {
	var out []*store.Record
	if q.Sorted {
		for a, e := range o.entries {
			if e.now != nil && a.kind == q.Kind && sc.Admits(a.org) && hasPrefix(e.now.Keys, q.Index, q.Prefix) {
				out = append(out, e.now)
			}
		}
		slices.SortFunc(out, order(q))
		return out
	}
	if q.Index != "" {
		if o.keys == nil {
			o.keys = map[keyAddress]map[address]bool{}
			for a, e := range o.entries {
				o.index(a, e.now, true)
			}
		}
		for a := range o.keys[keyAddress{sc.Org(), q.Kind, q.Index, q.Value}] {
			out = append(out, o.entries[a].now)
		}
	} else {
		for a, e := range o.entries {
			if e.now != nil && a.kind == q.Kind && sc.Admits(a.org) {
				out = append(out, e.now)
			}
		}
	}
	out = slices.DeleteFunc(out, func(r *store.Record) bool {
		return q.After != "" && (r.ID == q.After || (r.ID > q.After) == q.Desc) || q.ID != "" && r.ID != q.ID
	})
	slices.SortFunc(out, order(q))
	return out
}

// order returns the comparison for the order of q.
func order(q store.Query) func(a, b *store.Record) int {
	by := func(a, b *store.Record) int {
		return cmp.Or(strings.Compare(string(a.Org), string(b.Org)), strings.Compare(a.ID, b.ID))
	}
	if q.Sorted {
		by = func(a, b *store.Record) int {
			return cmp.Or(strings.Compare(sortValue(a, q.Index), sortValue(b, q.Index)), strings.Compare(a.ID, b.ID))
		}
	}
	if q.Desc {
		return func(a, b *store.Record) int { return by(b, a) }
	}
	return by
}

// hasPrefix reports whether keys contain a value in a sorted index with a prefix.
func hasPrefix(keys []store.Key, index, prefix string) bool {
	return slices.ContainsFunc(keys, func(k store.Key) bool {
		return k.Index == index && k.Sorted && strings.HasPrefix(k.Value, prefix)
	})
}

// hot caches committed records between transactions. The cache is valid as long as no
// other process commits; the revision that is read under the writer lock shows that.
type hot struct {
	head  store.Revision
	recs  map[address]*store.Record
	keys  map[keyAddress]address // unique keys only
	bytes int
}

// hotBytes bounds the size of the documents in hot.
const hotBytes = 64 << 20

func newHot() *hot {
	h := &hot{}
	h.reset(0)
	return h
}

func (h *hot) reset(head store.Revision) {
	h.head, h.bytes = head, 0
	h.recs, h.keys = map[address]*store.Record{}, map[keyAddress]address{}
}

func (h *hot) put(r *store.Record) {
	a := addressOf(r)
	h.drop(a)
	if h.bytes += len(r.Doc); h.bytes > hotBytes {
		h.reset(h.head)
		h.bytes = len(r.Doc)
	}
	h.recs[a] = r
	for _, k := range r.Keys {
		if k.Unique {
			h.keys[keyAddress{r.Org, r.Kind, k.Index, k.Value}] = a
		}
	}
}

func (h *hot) drop(a address) {
	old, ok := h.recs[a]
	if !ok {
		return
	}
	h.bytes -= len(old.Doc)
	delete(h.recs, a)
	for _, k := range old.Keys {
		delete(h.keys, keyAddress{a.org, a.kind, k.Index, k.Value})
	}
}

// mostLearned bounds how many records hot takes from a group: a larger group is an
// import, and the next unit of work would wait.
const mostLearned = 1024

// learn caches the committed records of a group.
func (h *hot) learn(g *group) {
	h.head = g.head + store.Revision(len(g.commits))
	for a, e := range g.over.entries {
		h.drop(a)
		if e.base != nil && e.base.Damage != nil {
			g.s.damages.forget(a)
		}
	}
	for _, e := range g.over.entries {
		if e.now != nil && len(g.over.entries) <= mostLearned {
			h.put(e.now)
		}
	}
}

// reads records what a unit of work has read outside the writer: records, and queries
// whose result another record could change. Everything is indexed by address, so that a
// unit with thousands of reads is compared with a commit quickly.
type reads struct {
	recs map[address]bool
	keys map[keyAddress]bool // organisation "": across all
	refs map[refAddress]bool
	wide []wide
	all  bool // it read something that every commit changes
}

type refAddress struct {
	org tenant.ID
	to  integrity.Target
}

// wide is a query over all records of a kind, or over a sorted index.
type wide struct {
	scope tenant.Scope
	q     store.Query
}

// maxWide bounds the wide queries, which are compared one by one.
const maxWide = 256

// A nil *reads records nothing: the unit holds the writer, and nothing can change.

func (r *reads) record(a address) {
	if r != nil {
		r.recs[a] = true
	}
}

func (r *reads) query(sc tenant.Scope, q store.Query) {
	switch {
	case r == nil:
	case q.Index != "" && !q.Sorted:
		r.keys[keyAddress{sc.Org(), q.Kind, q.Index, q.Value}] = true
	case q.ID != "" && !sc.All():
		r.recs[address{sc.Org(), q.Kind, q.ID}] = true
	case len(r.wide) == maxWide:
		r.all = true
	default:
		r.wide = append(r.wide, wide{sc, q})
	}
}

// touchedBy reports whether a commit may have changed one of the results. A record that
// left a result was in it, so its address is among the records.
func (r *reads) touchedBy(commit store.Commit) bool {
	for _, c := range commit.Changes {
		if r.all || r.recs[address{c.Org, c.Kind, c.ID}] {
			return true
		}
		for _, k := range c.Keys {
			if r.keys[keyAddress{c.Org, c.Kind, k.Index, k.Value}] || r.keys[keyAddress{"", c.Kind, k.Index, k.Value}] {
				return true
			}
		}
		for _, ref := range c.Refs {
			if r.refs[refAddress{c.Org, ref.Target}] {
				return true
			}
		}
		for _, w := range r.wide {
			if w.q.Kind != c.Kind || !w.scope.Admits(c.Org) {
				continue
			}
			if w.q.Sorted && hasPrefix(c.Keys, w.q.Index, w.q.Prefix) || !w.q.Sorted && (w.q.ID == "" || w.q.ID == c.ID) {
				return true
			}
		}
	}
	return false
}
