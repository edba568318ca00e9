package analytics

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
)

// List is a list into which gateways write entries.
type List struct {
	Name     string
	Protobuf bool // or msgpack
	Uptime   bool // entries are results of uptime checks; false: records of calls
}

// Lists returns all lists that gateways may use under any settings: two gateways may have
// different settings (docs/wire/records.md#lists).
func Lists() []List {
	const plain = "analytics-tyk-system-analytics"
	out := []List{{Name: "host-checker:tyk-uptime-analytics", Uptime: true}}
	for i := -1; i < 10; i++ {
		name := plain
		if i >= 0 {
			name += "_" + strconv.Itoa(i)
		}
		out = append(out, List{Name: name}, List{Name: name + "_protobuf", Protobuf: true})
	}
	return out
}

// Claim is a list that was taken from the gateways: no entries are added to it any more. The
// name of a Claim is unique.
type Claim struct {
	List
	Claim   string
	Entries int64
}

// Level is how many entries a list holds that are not claimed.
type Level struct {
	Entries int64
	Expires time.Duration // after which the list expires; 0: never
}

// Queue is the store of the lists into which gateways write.
type Queue interface {
	// Claim moves the entries of a list to a unique name, and returns false when the list is
	// empty.
	Claim(ctx context.Context, l List, unique string) (Claim, bool, error)
	// Open lists the claims that are not released, the oldest of each list first.
	Open(ctx context.Context) ([]Claim, error)
	// Levels returns how much the lists hold.
	Levels(ctx context.Context, lists []List) ([]Level, error)
	// Read returns entries of a claim in their order: at least one if there is one, and no more
	// than bounds.Bytes bytes. It cuts an entry of more than bounds.Largest bytes after
	// bounds.Largest+1 bytes.
	Read(ctx context.Context, c Claim, from int64, bounds Bounds) ([]string, error)
	// Release deletes a claim. All of its entries must be stored.
	Release(ctx context.Context, c Claim) error
	// Share notes for a while that another program takes entries from a list; Shared returns the
	// lists that have such a note. All processes with the same queue see the notes.
	Share(ctx context.Context, l List, during time.Duration) error
	Shared(ctx context.Context, lists []List) ([]List, error)
}

// Bounds say how much is read at once.
type Bounds struct {
	Entries int
	Bytes   int
	Largest int // bytes of one entry
}

// Decoder decodes entries.
type Decoder interface {
	Record(entry []byte, protobuf bool) (record.Record, error)
	Uptime(entry []byte) (record.Uptime, error)
}

// Aside is an entry that could not be decoded.
type Aside struct {
	Position int64 // in the claim
	Bytes    int
	Reason   string
	Entry    []byte // the beginning, or nothing when secrets are hidden
}

// Piece holds the records and counters of a range of entries of a claim.
type Piece struct {
	Claim    Claim
	From, To int64 // the first entry, and the one after the last
	Records  []record.Record
	Counts   []aggregate.Row
	Asides   []Aside
	Dropped  int // counts that were left out
	At       time.Time
}

// ErrStale is returned when another process has stored a piece of the claim.
var ErrStale = errors.New("another process stores this claim")

// ErrRefused is returned when a database is reachable but rejects a piece with these values.
var ErrRefused = errors.New("the database refuses what an entry holds")

// Sink stores what gateways report. A control plane has one Sink or, when calls and counters
// are kept in different databases, several, each of which stores its part.
type Sink interface {
	// Name is the name of the sink, different from those of other sinks.
	Name() string
	// Done returns how many entries of a claim are stored.
	Done(ctx context.Context, c Claim) (int64, error)
	// Store stores a piece completely or not at all. It returns ErrStale unless exactly p.From
	// entries of the claim are stored, and ErrRefused when the caller may try a smaller piece.
	Store(ctx context.Context, p Piece) error
	// Roll merges some counters of days that ended before a time, to make queries about long
	// periods cheap. It returns after a short time, and reports whether there is more to do.
	Roll(ctx context.Context, before time.Time) (joined int64, more bool, err error)
	// Forget deletes some of the data that is older than keep allows. It returns after a short
	// time, and reports whether there is more to delete.
	Forget(ctx context.Context, keep Retention) (forgotten int64, more bool, err error)
}

// Retention says how long data is kept; 0: no limit.
type Retention struct {
	Now      time.Time
	Calls    time.Duration // age of calls
	Bytes    int64         // size of all calls that this collector has stored
	Counters time.Duration // age of counters
	Open     []string      // names of claims that must be known
}
