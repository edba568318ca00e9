package audit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/audit"
)

// maxDumps bounds the bytes of dumps that wait for the next fold.
const maxDumps = 16 << 20

// dumpKey says which record a dump belongs to. Clients choose the request IDs, so the
// key has more fields, which keep a dump out of the records of other callers.
type dumpKey struct{ org, request, operation, actor string }

func keyOf(r audit.Record) dumpKey {
	return dumpKey{string(cmp.Or(r.OrgID, audit.Installation)), r.ReqID, r.Operation, r.Actor}
}

func (k dumpKey) compare(other dumpKey) int {
	return cmp.Or(cmp.Compare(k.org, other.org), cmp.Compare(k.request, other.request), cmp.Compare(k.operation, other.operation), cmp.Compare(k.actor, other.actor))
}

// dumps are the records with the dumps of calls, until their commits are recorded.
// Records of equal keys are sorted from the oldest to the newest.
type dumps map[dumpKey][]audit.Record

// dump keeps the record of a call that made a commit, if there is room. The commits of
// a public call, such as a login, name no actor, because the caller is not known
// before.
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

// heavy reports whether the waiting dumps take more than half of their room.
func (q *calls) heavy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.weight > maxDumps/2
}

// dump adds the dumps of its call to the record of a commit, if this process answered
// the call and the caller belongs to the organisation. An organisation must not see
// requests of callers that belong to none.
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

// left adds records for the dumps whose commits have no record here: another process
// has recorded the commit, or the commit belongs to another organisation than the
// caller.
func (t *telling) left() {
	for _, k := range slices.SortedFunc(maps.Keys(t.dumps), dumpKey.compare) {
		for _, r := range t.dumps[k][min(t.told[k], len(t.dumps[k])):] {
			t.add(&r)
		}
		t.told[k] = len(t.dumps[k])
	}
}
