package gateway

import (
	"context"
	"hash/maphash"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// lookup is the gateway.Lookup of one entry. It records the questions and their answers
// in the entry, so that the entry is made again when an answer changes.
type lookup struct {
	l *lookups
	e *entry
}

// Record implements gateway.Lookup.
func (u lookup) Record(kind, id string) (store.Record, bool) {
	q := question{org: u.e.org, kind: kind, value: id}
	rec := u.l.record(q)
	u.remember(q, uint64(rec.Rev))
	return rec, rec.Rev > 0
}

// Orgs implements gateway.Lookup.
func (u lookup) Orgs(kind, index, value string) []tenant.ID {
	q := question{kind: kind, index: index, value: value}
	orgs := u.l.holders(q)
	u.remember(q, digest(orgs))
	return orgs
}

// Elsewhere implements gateway.Lookup. The entry records the question whatever the
// answer is: a policy may name an API that another organisation creates later.
func (u lookup) Elsewhere(kind, index, value string) bool {
	q := question{org: u.e.org, kind: kind, index: index}
	yes := u.l.elsewhere(q, value)
	if u.e.asked == nil {
		u.e.asked = map[question]answers{}
	}
	a := u.e.asked[q]
	if yes {
		a.yes = append(a.yes, value)
	} else {
		a.no = append(a.no, value)
	}
	u.e.asked[q] = a
	return yes
}

func (u lookup) remember(q question, answer uint64) {
	if u.e.used == nil {
		u.e.used = map[question]uint64{}
	}
	u.e.used[q] = answer
}

// question identifies what an entry depends on: a record of an organisation or, with an
// index, the organisations with a value in that index.
type question struct {
	org                tenant.ID
	kind, index, value string
}

// answers holds the values for which a question was answered with yes, and those with
// no. An entry can have thousands of them.
type answers struct{ yes, no []string }

// lookups answers the questions of all entries from one snapshot. It caches the
// answers.
type lookups struct {
	ctx     context.Context
	r       store.Reader
	records map[question]store.Record
	orgs    map[question]map[string][]tenant.ID // by kind and index, then by value
	asked   int                                 // number of lookups of single values
	err     error                               // the first error
}

// record returns a record, or one of revision 0 if it does not exist.
func (l *lookups) record(q question) store.Record {
	if rec, ok := l.records[q]; ok || l.err != nil {
		return rec
	}
	var found store.Record
	for rec, err := range l.r.Scan(l.ctx, store.Query{Kind: q.kind, ID: q.value}) {
		if l.err = err; err != nil {
			break
		}
		if rec.Org == q.org {
			found = rec
			break
		}
	}
	l.records[q] = found
	return found
}

// holders returns the organisations with a value in an index. It reads the whole index
// once, because entries ask about many values.
func (l *lookups) holders(q question) []tenant.ID {
	table := question{kind: q.kind, index: q.index}
	if known := l.orgs[table]; known != nil {
		return known[q.value]
	}
	all := map[string][]tenant.ID{}
	for rec, err := range l.r.Scan(l.ctx, store.Query{Kind: q.kind}) {
		if err != nil {
			l.err = err
			break
		}
		for _, key := range rec.Keys {
			if key.Index == q.index && !slices.Contains(all[key.Value], rec.Org) {
				all[key.Value] = append(all[key.Value], rec.Org)
			}
		}
	}
	l.orgs[table] = all
	return all[q.value]
}

// many is the number of values from which reading a whole index costs less than single
// lookups.
const many = 256

// elsewhere reports whether other organisations have a value in an index and the
// organisation of the question does not. Often there are only a few such questions, so
// the first ones are looked up one by one.
func (l *lookups) elsewhere(q question, value string) bool {
	if l.asked++; l.asked > many || l.orgs[question{kind: q.kind, index: q.index}] != nil {
		orgs := l.holders(question{kind: q.kind, index: q.index, value: value})
		return len(orgs) > 0 && !slices.Contains(orgs, q.org)
	}
	some, own := false, false
	for rec, err := range l.r.Scan(l.ctx, store.Query{Kind: q.kind, Index: q.index, Value: value}) {
		if err != nil {
			l.err = err
			break
		}
		some, own = true, own || rec.Org == q.org
	}
	return some && !own
}

// unchanged reports whether every answer that an entry was made from is still the same.
func (l *lookups) unchanged(e *entry) bool {
	for q, was := range e.used {
		now := uint64(0)
		if q.index != "" {
			now = digest(l.holders(q))
		} else {
			now = uint64(l.record(q).Rev)
		}
		if now != was {
			return false
		}
	}
	for q, a := range e.asked {
		elsewhere := func(value string) bool { return l.elsewhere(q, value) }
		here := func(value string) bool { return !l.elsewhere(q, value) }
		if slices.ContainsFunc(a.yes, here) || slices.ContainsFunc(a.no, elsewhere) {
			return false
		}
	}
	return true
}

// digest hashes a list of organisations.
func digest(orgs []tenant.ID) (sum uint64) {
	for _, org := range orgs {
		sum = sum*31 + maphash.String(seed, string(org))
	}
	return sum
}
