package gateway

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// address is the address of a record of the feed's kind.
type address struct {
	org tenant.ID
	id  string
}

// entry is the encoded form of one record. It is kept until the record changes, or a
// record that it was made from. The parts that it was made from are not modified.
type entry struct {
	address
	rec      *store.Record
	sum      uint64               // hash of the document: after a restore of the store, revisions are counted again
	used     map[question]uint64  // hashes of the answers that it was made from; nil: none
	asked    map[question]answers // answers of Elsewhere that it was made from; nil: none
	name     string
	since    time.Time
	first    bool // of a block
	owns     bool // it had the name in the last edition
	problems []shape.Problem
	text     []byte // nil: gateways do not get it; part of in once in is set
	in       *block
	other    *entry // the same record under another name, or nil
}

// entries brings the feed up to date. It encodes only what has changed: an unchanged
// leaf holds unchanged records. used is the revision at which one of the kinds in
// source.Uses last changed.
func (k *kept) entries(ctx context.Context, r store.Reader, used store.Revision) (*edition, error) {
	fresh, size := make(map[*store.Leaf][]*entry, len(k.known)), 0
	var leaves []*store.Leaf
	for leaf, err := range store.Leaves(ctx, r, k.source.Kind) {
		if err != nil {
			return nil, err
		}
		leaves, size = append(leaves, leaf), size+len(leaf.Records)
		if used == k.used {
			fresh[leaf] = k.known[leaf]
		}
	}
	before := map[address]*entry{}
	for leaf, list := range k.known {
		if fresh[leaf] == nil {
			for _, e := range list {
				before[e.address] = e
			}
		}
	}
	list, l := make([]*entry, 0, size), &lookups{ctx: ctx, r: r, records: map[question]store.Record{}, orgs: map[question]map[string][]tenant.ID{}}
	for _, leaf := range leaves {
		if fresh[leaf] == nil {
			made := make([]*entry, 0, len(leaf.Records))
			for _, rec := range leaf.Records {
				e := before[address{rec.Org, rec.ID}]
				if e == nil || !e.of(rec) || !l.unchanged(e) { // new or changed
					e = k.encode(rec, l)
				}
				made = append(made, e)
			}
			fresh[leaf] = made
		}
		list = append(list, fresh[leaf]...)
	}
	if l.err != nil {
		return nil, l.err
	}
	k.known, k.used = fresh, used
	served, left := k.choose(list)
	return newEdition(blocks(served, k.coding), left, k.coding), nil
}

// of reports whether an entry was made from this version of a record.
func (e *entry) of(rec *store.Record) bool {
	if e.rec != rec {
		if e.rec.Rev != rec.Rev || e.sum != maphash.Bytes(seed, rec.Doc) {
			return false
		}
		e.rec = rec
	}
	return true
}

var seed = maphash.MakeSeed()

// encode makes the entry of a record that is new or has changed.
func (k *kept) encode(rec *store.Record, l *lookups) *entry {
	e := &entry{address: address{rec.Org, rec.ID}, rec: rec, sum: maphash.Bytes(seed, rec.Doc), first: maphash.String(seed, rec.ID)%blockEntries == 0}
	made := k.attempt(*rec, lookup{l, e})
	e.name, e.since, e.problems, e.text = made.Name, made.Since, made.Problems, made.Text
	if made.Other != nil {
		e.other = &entry{address: e.address, rec: rec, first: e.first, name: rec.ID, text: made.Other}
	}
	return e
}

// attempt makes the entry of a record with any content: if a record that no check
// foresaw makes it panic, only this record is left out of the feed.
func (k *kept) attempt(rec store.Record, l gateway.Lookup) (made feed.Entry) {
	made = feed.Broken("a record that can be understood")
	if doc.Check(rec.Doc, 0) != nil || !doc.IsObject(rec.Doc) {
		return made
	}
	defer func() {
		if reason := recover(); reason != nil {
			k.log.Error("a record could not be made an entry of a feed", "feed", k.source.Name, "id", rec.ID, "panic", reason)
		}
	}()
	return k.source.Entry(rec, l)
}

// choose returns the entries that gateways get, and the records that are left out
// although gateways should get them. Gateways could not tell entries with one name
// apart, so only one of them has the name.
func (k *kept) choose(list []*entry) (served []*entry, left []feed.LeftOut) {
	owner, contested := make(map[string]*entry, len(list)), map[string]bool{}
	for _, e := range list {
		if e.name == "" {
			continue
		}
		o := owner[e.name]
		if o == nil || e.precedes(o) {
			owner[e.name] = e
		}
		if o != nil {
			contested[e.name] = true
		}
	}
	if len(contested) > 0 {
		settle(list, owner, contested)
	}
	for _, e := range list {
		problems := e.problems
		owns := len(contested) == 0 || !contested[e.name] || owner[e.name] == e
		k.pass(e, owns)
		if o := e.other; o != nil {
			stands := !owns && e.text != nil && owner[o.name] == o
			if k.pass(o, stands); stands {
				e, owns = o, true
			}
		}
		if e.text != nil && !owns {
			problems = []shape.Problem{{Want: "an identifier of its own", Got: fmt.Sprintf("%q", e.name)}}
		}
		switch {
		case problems != nil:
			left = append(left, feed.LeftOut{Kind: k.source.Kind, ID: e.id, OrgID: e.org, Revision: uint64(e.rec.Rev), Problems: problems})
		case e.text != nil:
			served = append(served, e)
		}
	}
	k.owner = owner
	return served, left
}

// settle gives each record that lost its name its own ID as a name, even if another
// record has chosen that ID, because an organisation must not push a record of another
// one out of the feed. The record that loses the ID gets its own ID as a name in turn.
func settle(lost []*entry, owner map[string]*entry, contested map[string]bool) {
	for len(lost) > 0 {
		var next []*entry
		for _, e := range lost {
			if e.other == nil || e.text == nil || owner[e.name] == e {
				continue
			}
			had := owner[e.id]
			if had == e.other || had != nil && had.id == e.id {
				continue
			}
			if owner[e.id], contested[e.id] = e.other, true; had != nil {
				next = append(next, had)
			}
		}
		lost = next
	}
}

// precedes reports whether e gets the name rather than o. A record whose name is its
// own ID comes first, because it has not chosen the name of another record. Otherwise
// the older record gets the name. The IDs are compared last, because clients may choose
// the ID of a new record. A record keeps its name while it is switched off or cannot be
// served: otherwise another organisation could wait for that and take over its API.
func (e *entry) precedes(o *entry) bool {
	if own := e.name == e.id; own != (o.name == o.id) {
		return own
	}
	return cmp.Or(e.since.Compare(o.since), cmp.Compare(e.id, o.id), cmp.Compare(e.org, o.org)) < 0
}

// pass notes whether an entry has its name. It logs a warning when gateways knew a
// record of another organisation by that name before.
func (k *kept) pass(e *entry, owns bool) {
	had := e.owns
	if e.owns = owns; had || !owns || e.name == "" {
		return
	}
	if was, ok := k.owner[e.name]; ok && was.org != e.org {
		k.log.Warn("gateways now get what another organisation has under a name", "feed", k.source.Name, "name", e.name,
			"id", e.id, "org_id", string(e.org), "previous_id", was.id, "previous_org_id", string(was.org))
	}
}
