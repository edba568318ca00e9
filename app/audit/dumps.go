package audit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/audit"
)

// maxDumps bounds the bytes of dumps that wait for the next fold.
const maxDumps = 16 << 20

// dumpKey says of which record a dump is. Requests choose their identifiers: what else
// they share keeps a dump out of records of others.
type dumpKey struct{ org, request, operation, actor string }

func keyOf(r audit.Record) dumpKey {
	return dumpKey{string(cmp.Or(r.OrgID, audit.Installation)), r.ReqID, r.Operation, r.Actor}
}

func (k dumpKey) compare(other dumpKey) int {
	return cmp.Or(cmp.Compare(k.org, other.org), cmp.Compare(k.request, other.request), cmp.Compare(k.operation, other.operation), cmp.Compare(k.actor, other.actor))
}

// dumps are records with dumps, as calls tell them, until their commits are told; of
// equal keys the oldest first.
type dumps map[dumpKey][]audit.Record

// dump keeps a record of a call of which a commit tells, if there is room. Who logs in is
// not known before, so that the commit names no actor.
func (q *calls) dump(r audit.Record, public bool) {
	k := keyOf(r)
	if public {
		k.actor = ""
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.keep(k, r)
}

func (q *calls) keep(k dumpKey, r audit.Record) {
	weight := len(r.RequestDump) + len(r.ResponseDump)
	if q.weight+weight > maxDumps {
		q.bare++
		return
	}
	if q.dumps == nil {
		q.dumps = dumps{}
	}
	q.dumps[k] = append(q.dumps[k], r)
	q.weight += weight
}

// heavy reports whether the dumps that wait take half of their room.
func (q *calls) heavy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.weight > maxDumps/2
}

// dump gives the record of a commit the dumps of its call, if this process answered
// that and the call is one of the organisation: what somebody asked for who belongs to
// none is not for its eyes.
func (t *telling) dump(r *audit.Record) {
	if len(t.dumps) == 0 {
		return
	}
	k := keyOf(*r)
	if list := t.dumps[k]; len(list) > t.told[k] {
		r.RequestDump, r.ResponseDump = list[t.told[k]].RequestDump, list[t.told[k]].ResponseDump
		t.told[k]++
	}
}

// left tells the dumps for which there was no record: another process has told the commit,
// or it belongs to an organisation that is not the caller's.
func (t *telling) left() {
	for _, k := range slices.SortedFunc(maps.Keys(t.dumps), dumpKey.compare) {
		for _, r := range t.dumps[k][min(t.told[k], len(t.dumps[k])):] {
			t.add(&r)
		}
		t.told[k] = len(t.dumps[k])
	}
}
