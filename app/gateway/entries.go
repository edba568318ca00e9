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

// address names a record of the kind of a feed.
type address struct {
	org tenant.ID
	id  string
}

// entry is what one record came to: it stays as long as the record and what it
// was made from do. Everything but text and in never changes.
type entry struct {
	address
	rev      store.Revision
	sum      uint64 // of the document: a store that was restored counts revisions anew
	used     map[question]uint64
	name     string
	since    time.Time
	problems []shape.Problem
	text     []byte // nil: gateways do not get it; part of in once there is one
	in       *block
	other    *entry // the same under another name, or nil
}

// entries brings the feed up to date: only what has changed is encoded again.
func (k *kept) entries(ctx context.Context, r store.Reader) (*edition, error) {
	fresh := make(map[address]*entry, len(k.known))
	list := make([]*entry, 0, len(k.known))
	l := newLooker(ctx, r)
	for rec, err := range r.Scan(ctx, store.Query{Kind: k.source.Kind}) {
		if err != nil {
			return nil, err
		}
		at := address{rec.Org, rec.ID}
		e, sum := k.known[at], maphash.Bytes(seed, rec.Doc)
		if e == nil || e.rev != rec.Rev || e.sum != sum || !l.unchanged(e) {
			e = k.encode(rec, sum, l)
		}
		fresh[at] = e
		list = append(list, e)
	}
	if l.err != nil {
		return nil, l.err
	}
	k.known = fresh
	served, left := k.choose(list)
	return newEdition(blocks(served, k.coding), left, k.coding), nil
}

var seed = maphash.MakeSeed()

// encode makes the entry of a record that is new or has changed.
func (k *kept) encode(rec store.Record, sum uint64, l *looker) *entry {
	e := &entry{address: address{rec.Org, rec.ID}, rev: rec.Rev, sum: sum, used: map[question]uint64{}}
	made := k.attempt(rec, lookup{l, e})
	e.name, e.since, e.problems, e.text = made.Name, made.Since, made.Problems, made.Text
	if made.Other != nil {
		e.other = &entry{address: e.address, rev: e.rev, name: rec.ID, text: made.Other}
	}
	return e
}

// attempt makes the entry of a record that may hold anything: what nobody thought
// of costs one record its place, and not all records theirs.
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

// choose returns the entries that gateways get, and what is left out although
// they should get it: of those that gateways could not tell apart, one has the name.
func (k *kept) choose(list []*entry) (served []*entry, left []feed.LeftOut) {
	owner := make(map[string]*entry, len(list))
	for _, e := range list {
		if o := owner[e.name]; e.name != "" && (o == nil || e.precedes(o)) {
			owner[e.name] = e
		}
	}
	for _, e := range list {
		problems := e.problems
		switch o := owner[e.name]; {
		case e.text == nil || o == nil || o == e:
		case e.other != nil && owner[e.other.name] == nil:
			e = e.other
			owner[e.name] = e
		default:
			problems = []shape.Problem{{Want: "an identifier of its own", Got: fmt.Sprintf("%q", e.name)}}
		}
		switch {
		case problems != nil:
			left = append(left, feed.LeftOut{Kind: k.source.Kind, ID: e.id, OrgID: e.org, Revision: uint64(e.rev), Problems: problems})
		case e.text != nil:
			served = append(served, e)
		}
	}
	k.passed(owner)
	return served, left
}

// precedes reports whether a name is e's rather than o's. A record that goes by
// its own ID has chosen no name of others; otherwise the older one has it. Who made a
// record chose its ID perhaps, so that this comes last. A record keeps its
// name while it is switched off or cannot be served: an organisation must not take
// over the API of another one by waiting for that.
func (e *entry) precedes(o *entry) bool {
	if own := e.name == e.id; own != (o.name == o.id) {
		return own
	}
	return cmp.Or(e.since.Compare(o.since), cmp.Compare(e.id, o.id), cmp.Compare(e.org, o.org)) < 0
}

// passed says it aloud when what gateways know by a name becomes that of another
// organisation.
func (k *kept) passed(owner map[string]*entry) {
	for name, e := range owner {
		if was, ok := k.owner[name]; ok && was.org != e.org {
			k.log.Warn("gateways now get what another organisation has under a name", "feed", k.source.Name, "name", name,
				"id", e.id, "org_id", string(e.org), "previous_id", was.id, "previous_org_id", string(was.org))
		}
	}
	k.owner = owner
}
