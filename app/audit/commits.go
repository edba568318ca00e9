package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Bounds of one unit of work.
const (
	maxCommits = 2000
	maxWeight  = 16 << 20
	maxCompare = 1 << 20 // bytes of a document; larger ones are not compared
)

// telling makes audit records of commits and calls.
type telling struct {
	*Service
	records map[tenant.ID][]audit.Record
	after   map[place][]byte // documents as they were after the commit that is recorded next; commits are recorded from the last to the first
	large   map[place]bool   // documents that were too large to compare then
	dumps   dumps            // of calls that this process answered
	told    map[dumpKey]int  // number of dumps that are recorded, by key

	comparers map[string]*audit.Comparer // by operation
	until     time.Time                  // time of the last commit that is recorded
}

// place is the address of a record in the store.
type place struct {
	org      tenant.ID
	kind, id string
}

// commits makes records of the commits after a revision, up to revision to or as many
// as fit, and returns the revision of the last.
func (t *telling) commits(ctx context.Context, after, to store.Revision) (store.Revision, error) {
	if after >= to {
		return after, nil
	}
	var list []store.Commit
	weight := 0
	for c, err := range t.store.Follow(ctx, after) {
		if errors.Is(err, store.ErrExpired) {
			return t.gap(ctx, after, to)
		}
		if err != nil {
			return after, err
		}
		after, weight, t.until = c.Rev, weight+c.Weight(), c.At
		if c.By.Operation != Operation && !slices.Contains(t.Silent, c.By.Operation) {
			list = append(list, c)
		}
		if c.Rev >= to || len(list) == maxCommits || weight >= maxWeight {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return after, err
	}
	if err := t.load(ctx, list, after); err != nil {
		return after, err
	}
	all, each := make([]audit.Record, 0, len(list)), map[tenant.ID]int{}
	for _, c := range slices.Backward(list) { // from the last to the first: documents are read in their current version, and changes undone one by one
		all = t.commit(ctx, c, all)
	}
	for i := range all {
		each[all[i].OrgID]++
	}
	for org, n := range each {
		org = cmp.Or(org, audit.Installation)
		t.records[org] = slices.Grow(t.records[org], n)
	}
	for i := range slices.Backward(all) {
		t.dump(&all[i])
		t.add(&all[i])
	}
	return after, ctx.Err()
}

// load reads the documents that some commits changed, in their versions after revision
// at: it reads the current versions and undoes the commits since, which are few.
func (t *telling) load(ctx context.Context, list []store.Commit, at store.Revision) error {
	t.after, t.large = map[place][]byte{}, map[place]bool{}
	now := at
	err := t.store.View(ctx, tenant.Everyone("audit"), func(r store.Reader) error {
		clear(t.after)
		clear(t.large)
		for _, c := range list {
			for _, ch := range c.Changes[:min(len(c.Changes), audit.MaxSubjects)] {
				p := place{ch.Org, ch.Kind, ch.ID}
				if _, ok := t.after[p]; ok || ch.Op != store.Updated {
					continue
				}
				for rec, err := range r.Scan(ctx, store.Query{Kind: ch.Kind, ID: ch.ID}) {
					if err != nil {
						return err
					}
					switch {
					case rec.Org != ch.Org || rec.Damage != nil:
					case len(rec.Doc) > maxCompare && rec.Rev <= at:
						t.large[p] = true
					case len(rec.Doc) <= maxCompare:
						t.after[p], now = rec.Doc, max(now, rec.Rev)
					}
				}
			}
		}
		return nil
	})
	if err != nil || now == at {
		return err
	}
	var since []store.Commit
	for c, err := range t.store.Follow(ctx, at) {
		if err != nil {
			return err
		}
		if since = append(since, c); c.Rev >= now {
			break
		}
	}
	for _, c := range slices.Backward(since) {
		for _, ch := range slices.Backward(c.Changes) {
			t.leadBack(ch)
		}
	}
	return ctx.Err()
}

// leadBack turns the version of a document after a change into the one before. A
// document that does not match the change, because the record did not exist before or
// after it, is dropped.
func (t *telling) leadBack(ch store.Change) {
	p := place{ch.Org, ch.Kind, ch.ID}
	after, ok := t.after[p]
	if !ok && ch.Op != store.Deleted {
		return
	}
	before, err := ch.Before(after)
	if ch.Op == store.Created || err != nil || len(before) == 0 {
		delete(t.after, p)
		return
	}
	t.after[p] = before
}

// gap adds a record that says which commits were pruned before they could be recorded.
func (t *telling) gap(ctx context.Context, after, to store.Revision) (store.Revision, error) {
	oldest, err := t.store.Oldest(ctx)
	if err != nil || oldest <= after+1 {
		return after, errors.Join(err, store.ErrExpired)
	}
	t.log.Error("the change log was pruned before the audit trail had read it", "from", after+1, "to", oldest-1)
	missing := audit.Record{Action: "Commits are missing", Actor: Operation, Operation: Operation, Verdict: "audit.gap",
		URL: fmt.Sprintf("revisions %d to %d", after+1, oldest-1)}.At(t.now())
	t.add(&missing)
	return min(oldest-1, to), nil
}

// commit appends the audit records of one commit, one for each organisation that it
// touches, in reverse order.
func (t *telling) commit(ctx context.Context, c store.Commit, out []audit.Record) []audit.Record {
	var orgs []tenant.ID
	for _, ch := range c.Changes {
		if !slices.Contains(orgs, ch.Org) {
			orgs = append(orgs, ch.Org)
		}
	}
	for _, org := range slices.Backward(orgs) {
		out = append(out, audit.Record{
			ReqID: c.By.Request, OrgID: org, IP: c.By.From, User: c.By.User, Action: c.By.Operation, Method: c.By.Method, URL: c.By.URL, Status: c.By.Status,
			Actor: c.By.Actor, Behalf: c.By.Everyone, Operation: c.By.Operation, Verdict: audit.Allowed,
		}.At(c.At))
		r := &out[len(out)-1]
		compare, ok := t.comparers[c.By.Operation]
		spec := t.specs(c.By.Operation)
		if spec != nil {
			r.Action = spec.Summary
		}
		if !ok {
			if compare = audit.NewComparer(nil); spec != nil {
				compare = audit.NewComparer(spec.Redact)
			}
			t.comparers[c.By.Operation] = compare
		}
		for _, ch := range slices.Backward(c.Changes) {
			if ch.Org == org {
				t.change(ctx, r, c.Rev, ch, compare)
			}
		}
		slices.Reverse(r.Subjects)
	}
	return out
}

// change adds one change of a commit to its audit record.
func (t *telling) change(ctx context.Context, r *audit.Record, rev store.Revision, ch store.Change, compare *audit.Comparer) {
	at := place{ch.Org, ch.Kind, ch.ID}
	if t.elsewhere(ctx, r, rev, ch) {
		return
	}
	name(r, audit.Subject{Op: string(ch.Op), Kind: ch.Kind, ID: ch.ID})
	after, ok := t.after[at]
	if ch.Op != store.Updated {
		t.leadBack(ch)
		return
	}
	was, is := 0, 0 // bytes of the old and of the new content
	for _, h := range ch.Delta {
		was, is = was+len(h.Old), is+len(h.New)
	}
	if !ok && (is > maxCompare || t.large[at]) {
		t.large[at] = was > maxCompare || is <= maxCompare
		r.More++ // reading the document and its older versions would take several times its size
		return
	}
	if !ok && len(r.Diff) < audit.MaxDifferences {
		after = t.read(ctx, at, rev)
	}
	if len(after) == 0 || len(after) > maxCompare {
		r.More++
		return
	}
	before, err := ch.Before(after)
	if err != nil {
		r.More++
		return
	}
	t.after[at] = before
	diff, more := compare.Differences(ch.Kind+" "+ch.ID, before, after, audit.MaxDifferences-len(r.Diff))
	r.Diff, r.More = append(r.Diff, diff...), r.More+more
}

// elsewhere adds the subjects that a changed record says were written elsewhere. It
// reports whether the record is of a kind that does so.
func (t *telling) elsewhere(ctx context.Context, r *audit.Record, rev store.Revision, ch store.Change) bool {
	says := t.Elsewhere[ch.Kind]
	if says == nil || ch.Op != store.Updated {
		return false
	}
	at := place{ch.Org, ch.Kind, ch.ID}
	if _, ok := t.after[at]; !ok {
		t.after[at] = t.read(ctx, at, rev)
	}
	written, ok := says(t.after[at])
	if !ok {
		return false
	}
	for _, s := range written {
		name(r, s)
	}
	t.leadBack(ch)
	return true
}

// name adds a subject to an audit record, as long as there is room.
func name(r *audit.Record, s audit.Subject) {
	if len(r.Subjects) == audit.MaxSubjects {
		r.More++
		return
	}
	r.Subjects = append(r.Subjects, s)
}

// read returns a document in its version after a revision, or nil.
func (t *telling) read(ctx context.Context, at place, rev store.Revision) []byte {
	if at.org == "" { // a record of a super user: no scope is that of its organisation
		return nil
	}
	scope, err := tenant.Of(at.org)
	if err != nil {
		return nil
	}
	text, err := store.At(ctx, t.store, scope, at.kind, at.id, rev)
	if err != nil {
		return nil
	}
	return text
}

func (t *telling) add(r *audit.Record) {
	r.OrgID = cmp.Or(r.OrgID, audit.Installation)
	t.records[r.OrgID] = append(t.records[r.OrgID], *r)
}
