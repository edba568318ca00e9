// Package store is the port through which use cases store resources: units of work over
// records, typed access on top, and the change log of commits.
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

// Errors that every back end returns, plain or wrapped.
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
	// The ways to lose the database file, each an ErrGone.
	ErrReplaced  error = &fileError{"store: another file is in the place of the database file", ErrGone}
	ErrElsewhere error = &fileError{"store: another process serves from the database file", ErrGone}
	ErrHidden    error = &fileError{"store: the database file cannot be looked at", ErrGone}
	// ErrFile is an ErrUnavailable: the file exists, but cannot be read or written.
	ErrFile error = &fileError{"store: the database file cannot be read or written", ErrUnavailable}
	// ErrTooLong refuses a unit of work that would block all others.
	ErrTooLong = errors.New("store: the unit of work takes longer than one may hold the writer")
)

// fileError is an error about the database file that is more precise than kind.
type fileError struct {
	text string
	kind error
}

func (e *fileError) Error() string { return e.text }

func (e *fileError) Unwrap() error { return e.kind }

// DefaultHold is the default limit for how long one unit of work may hold the writer. No write
// of a client takes nearly as long, nor does an import of a whole installation.
const DefaultHold = 5 * time.Second

// TakenError says which unique value is taken; it is an ErrTaken.
type TakenError struct{ Kind, Index, Value string }

// Error implements error.
func (e *TakenError) Error() string {
	return fmt.Sprintf("%v: %s %s", ErrTaken, e.Kind, e.Index)
}

// Unwrap returns ErrTaken.
func (e *TakenError) Unwrap() error { return ErrTaken }

// Follows returns an error unless r may replace old, nil for none. A new record, of revision
// 0, must not exist yet; another one must have been read after old was written.
func (r *Record) Follows(old *Record) error {
	switch {
	case r.Rev == 0 && old != nil:
		return &TakenError{Kind: r.Kind, Value: r.ID}
	case r.Rev != 0 && (old == nil || old.Rev != r.Rev):
		return ErrStale
	}
	return nil
}

// Revision numbers commits: without gaps, increasing, the same on every replica.
type Revision uint64

// Serial is a record's own counter, which clients see as its entity tag. It grows with each
// unit of work that writes the record, and does not depend on other records.
type Serial uint64

// FirstSerial is the serial of records that were written before serials existed. It is greater
// than every revision, which entity tags showed then, and less than every serial given since.
const FirstSerial Serial = 1e15

// NextSerial returns the serial of a record that a unit of work writes; before is the record
// before that unit, or nil. A new record starts with the time in microseconds, so that its
// serial is greater than all serials of an earlier record with its ID.
func NextSerial(before *Record, now system.Clock) Serial {
	if before == nil {
		return max(FirstSerial, Serial(max(0, now().UnixMicro())))
	}
	return max(before.Serial, FirstSerial) + 1
}

// Record is a stored resource as a back end sees it. A stored record is immutable, because
// readers share it.
type Record struct {
	Org  tenant.ID
	Kind string
	ID   string
	Rev  Revision // commit that last wrote it; 0 for a record never stored
	Doc  []byte   // the JSON document, verbatim
	Keys []Key
	Refs []integrity.Ref
	// Damage says why Doc, Keys and Refs cannot be trusted; nil: they can. Readers get damaged
	// records too, so that these can be found and deleted.
	Damage error
	// Serial is set by the back end; clients may see it. They must not see Rev, which reveals how
	// much other organisations write.
	Serial Serial
	memo   *memo
}

// Key is one searchable value of a record.
type Key struct {
	Index  string `json:"i"`
	Value  string `json:"v"`
	Unique bool   `json:"u,omitempty"` // no other record of the kind in the organisation has it
	Sorted bool   `json:"s,omitempty"` // lists of the records with this index can be sorted by its values
	Across bool   `json:"a,omitempty"` // Unique, and no record of the kind in any other organisation has the value
}

// Query selects records of one kind, in order of organisation and ID, or in order of a sorted
// index.
type Query struct {
	Kind         string
	Index, Value string // records that have this key; Index "" selects all
	ID           string // the record with this ID in every organisation of the scope; "" selects all
	After        string // exclusive ID to continue after; only within one organisation
	Offset       int    // records to skip first
	Limit        int    // 0: no limit
	Desc         bool   // descending order
	// Sorted selects the records of one organisation (ErrScope otherwise) with a value in the
	// sorted index Index that begins with Prefix. They come in order of these values, compared
	// byte by byte, and then of ID. Value, ID and After are ignored. Counting is cheap when
	// Prefix is empty or ends with the first NUL of the values: the part up to it is common to a
	// family of records.
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
	// Count returns how many records q selects, without Offset and Limit.
	Count(ctx context.Context, q Query) (int, error)
	// Touched returns a revision that changes whenever a record of the kind is created, changed
	// or deleted in any organisation: a cache key for data derived from all of them. 0: the kind
	// has never had a record.
	Touched(ctx context.Context, kind string) (Revision, error)
	// Referrers yields the records that hold a reference to a target.
	Referrers(ctx context.Context, to integrity.Target) iter.Seq2[Record, error]
}

// Writer reads and writes inside one unit of work; it sees its own writes.
type Writer interface {
	Reader
	// Put stores r. With Rev 0 it creates the record: ErrTaken when the ID or a unique key is in
	// use. Otherwise it replaces that revision: ErrStale when the record has changed or is gone.
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
	// Update runs fn and commits its writes, all or nothing. The commit is durable when Update
	// returns. An error or panic of fn rolls its writes back and is passed on. Update may run fn
	// more than once, and in another goroutine, so fn has effects only through its Writer, and
	// never calls Update. A unit of work without writes returns the current revision. One that
	// holds the writer too long ends with ErrTooLong, and the others continue.
	Update(ctx context.Context, s tenant.Scope, fn func(Writer) error) (Revision, error)
}

// Write runs a unit of work that returns the serial of a record.
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

// Request returns a context for one request of a client. A store that must ask another server
// for the current revision asks once per request: the revision at its beginning is current
// enough for all of its reads. A request within another one has its own entry in the change
// log. It also updates the outer request, which afterwards reads at least what the inner one
// has read and written.
func Request(ctx context.Context) context.Context {
	outer, _ := ctx.Value(requestKey{}).(*request)
	return context.WithValue(ctx, requestKey{}, &request{outer: outer})
}

// request is the state of a request while it is carried out.
type request struct {
	current atomic.Uint64 // the revision that its reads see at least
	wrote   atomic.Bool   // one of its units of work was committed
	outer   *request      // the request within which it is carried out, or nil
}

// NoteWritten notes that a unit of work of the request changes something. Back ends call it
// with the unit's context when they log its commit.
func NoteWritten(ctx context.Context) {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		q.wrote.Store(true)
	}
}

// Written reports whether the change log contains a commit of the request.
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

// NoteCurrent notes the revision that the request and its outer requests read at least.
func NoteCurrent(ctx context.Context, rev Revision) {
	q, _ := ctx.Value(requestKey{}).(*request)
	for ; q != nil; q = q.outer {
		for at := q.current.Load(); at < uint64(rev) && !q.current.CompareAndSwap(at, uint64(rev)); {
			at = q.current.Load()
		}
	}
}

// Sized is a store that knows the size of an organisation's records in bytes: their documents,
// and the overhead of each, according to the commits that it knows. It answers at once.
type Sized interface{ Size(org tenant.ID) int64 }

// Stale is a store that can serve its last known state while its primary is unreachable. For
// gateways a configuration of a minute ago is better than none.
type Stale interface {
	// ViewLastKnown runs fn over the current state, or over the last known one when the primary
	// does not soon tell the current revision. stale is true for the last known state. It returns
	// ErrUnavailable when there has never been a state.
	ViewLastKnown(ctx context.Context, s tenant.Scope, fn func(Reader) error) (stale bool, err error)
}

// ViewLastKnown reads the current state, or the last known one while the store is unreachable.
// stale is true for the last known state.
func ViewLastKnown(ctx context.Context, st Store, s tenant.Scope, fn func(Reader) error) (stale bool, err error) {
	if old, ok := st.(Stale); ok {
		return old.ViewLastKnown(ctx, s, fn)
	}
	return false, st.View(ctx, s, fn)
}
