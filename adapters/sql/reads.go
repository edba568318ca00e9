package sql

import (
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// reads is what a unit of work has looked at while it ran beside the writer: records,
// and questions whose answer another record could change. All of it is asked by
// address, so that a unit with thousands of reads is compared with a commit quickly.
type reads struct {
	recs map[address]bool
	keys map[keyAddress]bool // under organisation "": in all of them
	refs map[refAddress]bool
	wide []wide
	all  bool // something that every commit changes
}

type refAddress struct {
	org tenant.ID
	to  integrity.Target
}

// wide is a question about all records of a kind, or those in a sorted index.
type wide struct {
	scope tenant.Scope
	q     store.Query
}

// maxWide bounds the questions that are compared one by one.
const maxWide = 256

// A nil reads notes nothing: the unit has the writer, and nothing can change.

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

// touchedBy reports whether a commit may have made one of the answers another. A record
// that has left an answer was in it, so that its address is among the records.
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
