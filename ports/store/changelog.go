package store

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Op says what happened to a record.
type Op string

// Kinds of changes of a record.
const (
	Created Op = "created"
	Updated Op = "updated"
	Deleted Op = "deleted"
)

// Change is the change of one record in a commit. It holds the difference between the document
// before and after, so that history can be read in both directions without storing copies.
type Change struct {
	Op    Op
	Org   tenant.ID
	Kind  string
	ID    string
	Prev  Revision        // revision of the record before; 0 when created
	Past  Revision        // when created: revision at which an earlier record with this ID was deleted, if the back end keeps it
	Keys  []Key           // after; for Deleted: before
	Refs  []integrity.Ref // after; nil: as before
	Delta doc.Delta
	// Serial is the record's serial after the change; 0 in commits of versions without serials.
	Serial Serial
	full   *Record // the record after the change, if known
	made   []byte  // of a creation in a log: the document, instead of the difference
}

// NewChange describes the change from one record to another. A nil before is a creation, a nil
// after is a deletion.
func NewChange(before, after *Record) Change {
	switch {
	case before == nil:
		return Change{Op: Created, Org: after.Org, Kind: after.Kind, ID: after.ID, Keys: after.Keys, Refs: after.Refs,
			Delta: doc.Diff(nil, after.Doc), Serial: after.Serial, full: after}
	case after == nil:
		c := Change{Op: Deleted, Org: before.Org, Kind: before.Kind, ID: before.ID, Prev: before.Rev, Keys: before.Keys}
		if before.Damage == nil { // a damaged document is not worth keeping
			c.Delta = doc.Diff(before.Doc, nil)
		}
		return c
	}
	c := Change{Op: Updated, Org: after.Org, Kind: after.Kind, ID: after.ID, Prev: before.Rev, Keys: after.Keys,
		Delta: doc.Diff(before.Doc, after.Doc), Serial: after.Serial, full: after}
	if !slices.Equal(before.Refs, after.Refs) {
		c.Refs = append([]integrity.Ref{}, after.Refs...)
	}
	return c
}

// Key returns the value of one of the record's indexes, or "".
func (c Change) Key(index string) string {
	for _, k := range c.Keys {
		if k.Index == index {
			return k.Value
		}
	}
	return ""
}

// After returns the record after the commit with revision rev, computed from the record before
// it. For a creation, before is ignored.
func (c Change) After(before Record, rev Revision) (Record, error) {
	if c.full != nil {
		return *c.full, nil
	}
	text, err := c.Delta.Apply(before.Doc)
	if err != nil {
		return Record{}, err
	}
	refs := c.Refs
	if refs == nil {
		refs = before.Refs
	}
	return Record{Org: c.Org, Kind: c.Kind, ID: c.ID, Rev: rev, Doc: text, Keys: c.Keys, Refs: refs, Serial: max(c.Serial, before.Serial, FirstSerial)}.Shared(), nil
}

// Before returns the document before the commit, computed from the document after it.
func (c Change) Before(after []byte) ([]byte, error) { return c.Delta.Revert(after) }

// To returns c with another record after the change; nil if c deletes. after may differ from
// the record of NewChange only in its revision.
func (c Change) To(after *Record) Change {
	c.full = after
	return c
}

// Bare returns c without the record that it may carry, for a log that keeps many changes. The
// document of a creation stays shared with the record until Told is called.
func (c Change) Bare() Change {
	if c.Op == Created && c.full != nil {
		c.made, c.Delta = c.full.Doc, nil
	}
	c.full = nil
	return c
}

// Told returns a commit of Bare changes in the form for readers.
func (c Commit) Told() Commit {
	if !slices.ContainsFunc(c.Changes, func(ch Change) bool { return ch.made != nil }) {
		return c
	}
	c.Changes = slices.Clone(c.Changes)
	for i, ch := range c.Changes {
		if ch.made != nil {
			c.Changes[i].Delta, c.Changes[i].made = doc.Diff(nil, ch.made), nil
		}
	}
	return c
}

// Commit is the changes of one Update, and their author.
type Commit struct {
	Rev     Revision
	At      time.Time
	By      Attribution
	Changes []Change
}

// Attribution says for whom a unit of work runs and which request it carries out: the facts
// that the audit shows of a commit. It never holds credentials.
type Attribution struct {
	Actor     string `json:"actor,omitempty"`     // user ID, "admin", "node", or the task of the program itself
	Operation string `json:"operation,omitempty"` // operation ID
	Request   string `json:"request,omitempty"`   // request ID
	Everyone  string `json:"everyone,omitempty"`  // why the unit of work spans organisations, if it does
	From      string `json:"from,omitempty"`      // address of the caller
	User      string `json:"user,omitempty"`      // e-mail address of the user
	Method    string `json:"method,omitempty"`
	URL       string `json:"url,omitempty"`    // with its query, credentials masked
	Status    int    `json:"status,omitempty"` // of a successful response
}

type attributionKey struct{}

// Attribute returns a context with the attribution a for units of work.
func Attribute(ctx context.Context, a Attribution) context.Context {
	return context.WithValue(ctx, attributionKey{}, a)
}

// AttributionOf returns the attribution in ctx, completed with the reason of the scope s.
func AttributionOf(ctx context.Context, s tenant.Scope) Attribution {
	a, _ := ctx.Value(attributionKey{}).(Attribution)
	a.Everyone = s.Reason()
	return a
}

// ChangeLog replays commits in order.
type ChangeLog interface {
	// Follow yields every commit after the given revision, then waits for more
	// until ctx ends. ErrExpired means that the next commit has been pruned:
	// load a snapshot and follow from there.
	Follow(ctx context.Context, after Revision) iter.Seq2[Commit, error]
	// Head returns the revision of the last commit.
	Head(ctx context.Context) (Revision, error)
}

// Snapshotter returns the whole content of a store, from which a replica can start.
type Snapshotter interface {
	// Snapshot calls load with the state at one revision, all from one
	// consistent read.
	Snapshot(ctx context.Context, load func(State) error) error
}

// State is the whole content of a store at one revision.
type State struct {
	At Revision
	// Touched says when a kind was last changed, where no record shows it: a deleted record has
	// no revision any more.
	Touched map[string]Revision
	// Floor is the revision up to which deletions may be unknown: every kind counts as changed at
	// this revision, or later.
	Floor   Revision
	Records iter.Seq2[Record, error] // of every organisation
}

// Retention says how long commits are kept.
type Retention struct {
	Since time.Time // keep commits since then; zero: of any age
	Bytes int64     // keep as many of the last commits as fit, about; 0: no limit
}

// Historian reads the past of one record.
type Historian interface {
	// History yields the commits that touched a record, the latest first, each
	// reduced to that record's change.
	History(ctx context.Context, s tenant.Scope, kind, id string) iter.Seq2[Commit, error]
	// Oldest returns the revision of the oldest commit that is kept, 0 when there
	// is none.
	Oldest(ctx context.Context) (Revision, error)
	// Prune deletes the oldest commits that keep does not cover, but never the last one, and
	// returns how many. Writers get their turns meanwhile. A follower that needs a deleted commit
	// gets ErrExpired.
	Prune(ctx context.Context, keep Retention) (int, error)
}

// At returns a record's document at a revision. The error is ErrNotFound when it did not exist
// then, and ErrExpired when history does not reach back that far.
func At(ctx context.Context, st interface {
	Store
	Historian
}, s tenant.Scope, kind, id string, rev Revision) ([]byte, error) {
	var text []byte // the current document
	var at Revision // its revision; 0: the record does not exist
	if err := st.View(ctx, s, func(r Reader) error {
		rec, err := r.Get(ctx, kind, id)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		text, at = rec.Doc, rec.Rev
		return err
	}); err != nil {
		return nil, err
	}
	text = bytes.Clone(text)
	if at > 0 && at <= rev {
		return text, nil
	}
	if oldest, err := st.Oldest(ctx); err != nil || oldest > rev+1 {
		return nil, errors.Join(err, ErrExpired)
	}
	for c, err := range st.History(ctx, s, kind, id) {
		if err != nil {
			return nil, err
		}
		if c.Rev <= rev {
			break
		}
		if at > 0 && c.Rev > at { // committed after the document was read
			continue
		}
		if text, err = c.Changes[0].Before(text); err != nil {
			return nil, err
		}
	}
	if len(text) == 0 {
		return nil, ErrNotFound
	}
	return text, nil
}

// Leases distribute work that one process of a cluster does for all.
type Leases interface {
	// Acquire takes or renews the lease of a sink for a holder and returns the sink's cursor: the
	// revision of its last announced commit. A new sink starts at the current head. ok is false
	// while another holder has the lease.
	Acquire(ctx context.Context, sink, holder string, ttl time.Duration) (at Revision, ok bool, err error)
	// Advance stores the cursor of the sink; ErrStale when another holder has the lease by now.
	Advance(ctx context.Context, sink, holder string, to Revision) error
	// Release gives up the lease.
	Release(ctx context.Context, sink, holder string) error
}

// Weight returns approximately how many bytes a commit takes in memory.
func (c Commit) Weight() int {
	n := 256
	for _, ch := range c.Changes {
		n += 256
		for _, h := range ch.Delta {
			n += len(h.Old) + len(h.New)
		}
		n += len(ch.made)
		if ch.full != nil {
			n += len(ch.full.Doc)
		}
	}
	return n
}
