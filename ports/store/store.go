// Package store is the port through which use cases keep resources: units of
// work over records, typed handles on top, and the change log: what was committed.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Errors every back end reports, plain or wrapped.
var (
	ErrNotFound    = errors.New("store: not found")
	ErrTaken       = errors.New("store: unique value taken")
	ErrStale       = errors.New("store: changed since it was read")
	ErrScope       = errors.New("store: outside the scope of the unit of work")
	ErrExpired     = errors.New("store: history no longer reaches back that far")
	ErrUnavailable = errors.New("store: not reachable at the moment")
	ErrClosed      = errors.New("store: closed")
	ErrFull        = errors.New("store: the disk is full")
	ErrGone        = errors.New("store: the database file has been moved or deleted")
	// What has become of the file of a database, each an ErrGone.
	ErrReplaced  error = &fileError{"store: another file is in the place of the database file", ErrGone}
	ErrElsewhere error = &fileError{"store: another process serves from the database file", ErrGone}
	ErrHidden    error = &fileError{"store: the database file cannot be looked at", ErrGone}
	// ErrFile is an ErrUnavailable: the file is there, and cannot be read or written.
	ErrFile error = &fileError{"store: the database file cannot be read or written", ErrUnavailable}
	// ErrTooLong refuses a unit of work that would keep all others waiting.
	ErrTooLong = errors.New("store: the unit of work takes longer than one may hold the writer")
)

// fileError says more exactly than another error what is wrong with the file of a database.
type fileError struct {
	text string
	kind error
}

func (e *fileError) Error() string { return e.text }

func (e *fileError) Unwrap() error { return e.kind }

// DefaultHold is how long one unit of work may hold the writer unless a back end is
// told otherwise: no write that a client sends takes nearly as long, and an import of
// a whole installation does not either.
const DefaultHold = 5 * time.Second

// TakenError says which unique value is taken; it is an ErrTaken.
type TakenError struct{ Kind, Index, Value string }

// Error implements error.
func (e *TakenError) Error() string {
	return fmt.Sprintf("%v: %s %s", ErrTaken, e.Kind, e.Index)
}

// Unwrap returns ErrTaken.
func (e *TakenError) Unwrap() error { return ErrTaken }

// Follows refuses a record that is put over old, nil for none: a new one, of revision 0,
// where there is one already, and one that was read before old was written.
func (r *Record) Follows(old *Record) error {
	switch {
	case r.Rev == 0 && old != nil:
		return &TakenError{Kind: r.Kind, Value: r.ID}
	case r.Rev != 0 && (old == nil || old.Rev != r.Rev):
		return ErrStale
	}
	return nil
}

// Revision numbers commits: gapless, increasing, the same on every replica.
type Revision uint64

// Serial is a record's own counter, which clients see as its entity tag: greater after
// each unit of work that writes the record, whatever becomes of other records.
type Serial uint64

// FirstSerial is the serial of records from before there were any. It is beyond every
// revision, which entity tags showed then, and before every serial given since.
const FirstSerial Serial = 1e15

// NextSerial returns the serial of a record that a unit of work writes: before is the
// record as it was before that unit, or nil. A new record begins with the time in
// microseconds, so that it is beyond what an earlier record with its ID ever had.
func NextSerial(before *Record, now system.Clock) Serial {
	if before == nil {
		return max(FirstSerial, Serial(max(0, now().UnixMicro())))
	}
	return max(before.Serial, FirstSerial) + 1
}

// Record is a stored resource as a back end sees it. It is immutable once
// stored: readers share it.
type Record struct {
	Org  tenant.ID
	Kind string
	ID   string
	Rev  Revision // commit that last wrote it; 0 for a record never stored
	Doc  []byte   // the JSON document, verbatim
	Keys []Key
	Refs []integrity.Ref
	// Damage says why Doc, Keys and Refs cannot be trusted; nil: they can. Such a
	// record is handed out so that it can be found and deleted.
	Damage error
	// Serial is given by the back end; clients may see it. They must not see Rev,
	// which tells how much others write.
	Serial Serial
	memo   *memo
}

// Key is one searchable value of a record.
type Key struct {
	Index  string `json:"i"`
	Value  string `json:"v"`
	Unique bool   `json:"u,omitempty"` // no other record of the kind in the organisation has it
	Sorted bool   `json:"s,omitempty"` // of the records that have one, lists can be made in its order
	Across bool   `json:"a,omitempty"` // Unique, and no record of the kind in any other organisation has it either
}

// Query selects records of one kind in order of organisation and ID, or of a
// sorted index.
type Query struct {
	Kind         string
	Index, Value string // records that have this key; Index "" selects all
	ID           string // the record with this ID in every organisation of the scope; "" selects all
	After        string // exclusive ID to continue after; only within one organisation
	Offset       int    // records to skip first
	Limit        int    // 0: no limit
	Desc         bool   // the last first
	// Sorted selects the records of one organisation (ErrScope otherwise) whose
	// value in the sorted index Index begins with Prefix, in order of these values
	// byte by byte, and then of ID. Value, ID and After have no say. Counting is
	// cheap when Prefix is empty or ends with the first NUL of the values: families
	// of records share what comes before it.
	Sorted bool
	Prefix string
}

// Reader reads inside one unit of work. Results are shared and read-only.
type Reader interface {
	// Get returns one record or ErrNotFound. It needs the scope of one
	// organisation: ErrScope otherwise.
	Get(ctx context.Context, kind, id string) (Record, error)
	// Scan yields the records q selects; it ends after the first error.
	Scan(ctx context.Context, q Query) iter.Seq2[Record, error]
	// Count returns how many records q selects, Offset and Limit aside.
	Count(ctx context.Context, q Query) (int, error)
	// Touched returns a revision that moves whenever a record of the kind is
	// created, changed or deleted in any organisation: the key of what is derived
	// from all of them. 0 means that there has never been one.
	Touched(ctx context.Context, kind string) (Revision, error)
	// Referrers yields the records that hold a reference to a target.
	Referrers(ctx context.Context, to integrity.Target) iter.Seq2[Record, error]
}

// Writer reads and writes inside one unit of work; it sees its own writes.
type Writer interface {
	Reader
	// Put stores r. With Rev 0 it creates: ErrTaken when the ID or a unique key
	// is in use. Otherwise it replaces the revision read: ErrStale when the
	// record has changed or is gone.
	Put(ctx context.Context, r Record) error
	// Delete removes a record, or returns ErrNotFound.
	Delete(ctx context.Context, kind, id string) error
	// Scope returns the scope of the unit of work.
	Scope() tenant.Scope
}

// Store runs units of work.
type Store interface {
	// View runs fn over one consistent snapshot that includes every commit
	// acknowledged before the call began.
	View(ctx context.Context, s tenant.Scope, fn func(Reader) error) error
	// Update runs fn and commits what it wrote, all or nothing; the revision is
	// durable when Update returns. An error or panic of fn undoes its writes and
	// is passed on. Update may run fn more than once, and in another goroutine,
	// so fn has no effects but through its Writer, and calls no Update itself.
	// A unit of work that wrote nothing returns the current revision; one that holds
	// the writer for too long ends with ErrTooLong, and the others go on.
	Update(ctx context.Context, s tenant.Scope, fn func(Writer) error) (Revision, error)
}

// Write runs a unit of work that tells its caller the serial of a record.
func Write(ctx context.Context, st Store, s tenant.Scope, fn func(Writer) (Serial, error)) (at Serial, err error) {
	_, err = st.Update(ctx, s, func(w Writer) (err error) {
		at, err = fn(w)
		return err
	})
	if err != nil || Rehearsing(ctx) {
		return 0, err
	}
	return at, nil
}

type requestKey struct{}

// Request returns a context for one request of a client. A store that must ask
// elsewhere how current it is asks once per request: what was current when the
// request began is current enough for all of its reads. A request within another one,
// which the change log tells of separately, brings the outer one along: what follows in
// that one reads what the inner one wrote, and all that was there before.
func Request(ctx context.Context) context.Context {
	outer, _ := ctx.Value(requestKey{}).(*request)
	return context.WithValue(ctx, requestKey{}, &request{outer: outer})
}

// request is what is remembered of a request while it is carried out.
type request struct {
	current atomic.Uint64 // the revision it has been brought to
	wrote   atomic.Bool   // a unit of work of it was committed
	outer   *request      // the one within which it is carried out, or nil
}

// NoteWritten notes that a unit of work of the request changes something. Back ends
// call it with the context of the unit when they log its commit.
func NoteWritten(ctx context.Context) {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		q.wrote.Store(true)
	}
}

// Written reports whether the change log tells of the request.
func Written(ctx context.Context) bool {
	q, ok := ctx.Value(requestKey{}).(*request)
	return ok && q.wrote.Load()
}

// Current returns the revision that NoteCurrent has noted for the request, or 0.
func Current(ctx context.Context) Revision {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		return Revision(q.current.Load())
	}
	return 0
}

// NoteCurrent notes the revision a request has been brought to.
func NoteCurrent(ctx context.Context, rev Revision) {
	q, _ := ctx.Value(requestKey{}).(*request)
	for ; q != nil; q = q.outer {
		for at := q.current.Load(); at < uint64(rev) && !q.current.CompareAndSwap(at, uint64(rev)); {
			at = q.current.Load()
		}
	}
}

// Sized is a store that knows what the records of an organisation take, in bytes: their
// documents, and what there is beside each, as far as it knows its commits. It answers at once.
type Sized interface{ Size(org tenant.ID) int64 }

// Stale is a store that can answer from what it last knew while its primary is
// away. Gateways would rather have the configuration of a minute ago than none.
type Stale interface {
	// ViewLastKnown runs fn over the current state, or over the last known one when the
	// primary does not say soon which one that is. stale says which. It returns ErrUnavailable
	// when there has never been one.
	ViewLastKnown(ctx context.Context, s tenant.Scope, fn func(Reader) error) (stale bool, err error)
}

// ViewLastKnown reads the current state, or the last known one while the store
// is away. stale says which.
func ViewLastKnown(ctx context.Context, st Store, s tenant.Scope, fn func(Reader) error) (stale bool, err error) {
	if old, ok := st.(Stale); ok {
		return old.ViewLastKnown(ctx, s, fn)
	}
	return false, st.View(ctx, s, fn)
}
