package analytics

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
)

// List is a list in which gateways leave entries.
type List struct {
	Name     string
	Protobuf bool // or msgpack
	Uptime   bool // entries are results of uptime checks, or records
}

// Lists returns all lists that gateways may use, whatever they are set to: two gateways
// may differ (docs/wire/records.md#lists).
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

// Claim is a list that was taken from the gateways: nothing is added to it any more. Its
// name is unique.
type Claim struct {
	List
	Claim   string
	Entries int64
}

// Level says how much a list holds that is not claimed.
type Level struct {
	Entries int64
	Expires time.Duration // after which it vanishes; 0: never
}

// Queue is where gateways leave entries.
type Queue interface {
	// Claim takes what a list holds under a name that is unique, and reports false when it
	// holds nothing.
	Claim(ctx context.Context, l List, unique string) (Claim, bool, error)
	// Open lists the claims that are not released, the oldest of each list first.
	Open(ctx context.Context) ([]Claim, error)
	// Levels returns how much the lists hold.
	Levels(ctx context.Context, lists []List) ([]Level, error)
	// Read returns entries of a claim in their order, at least one if there is one, and no
	// more than fit in so many bytes. Of an entry with more than largest bytes it returns
	// one byte more than that.
	Read(ctx context.Context, c Claim, from int64, bounds Bounds) ([]string, error)
	// Release drops a claim, all of whose entries are stored.
	Release(ctx context.Context, c Claim) error
	// Share notes for a while that another program takes entries from a list; Shared returns
	// the lists of which that is noted, for all who look at the same queue.
	Share(ctx context.Context, l List, during time.Duration) error
	Shared(ctx context.Context, lists []List) ([]List, error)
}

// Bounds say how much is read at once.
type Bounds struct {
	Entries int
	Bytes   int
	Largest int // bytes of one entry
}

// Decoder reads entries.
type Decoder interface {
	Record(entry []byte, protobuf bool) (record.Record, error)
	Uptime(entry []byte) (record.Uptime, error)
}

// Aside is an entry that could not be read.
type Aside struct {
	Position int64 // in the claim
	Bytes    int
	Reason   string
	Entry    []byte // the beginning, or nothing when secrets are hidden
}

// Piece is what some entries of a claim come to.
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

// ErrRefused is returned when a database is there, and takes no piece with these values.
var ErrRefused = errors.New("the database refuses what an entry holds")

// Sink keeps what gateways report. A control plane has one or, when calls and counters are
// kept in different databases, several, each of which keeps its part.
type Sink interface {
	// Name tells sinks apart.
	Name() string
	// Done returns how many entries of a claim are stored.
	Done(ctx context.Context, c Claim) (int64, error)
	// Store stores a piece as a whole or not at all. It returns ErrStale unless p.From
	// entries of the claim are stored, and ErrRefused when a smaller piece may be stored.
	Store(ctx context.Context, p Piece) error
	// Roll joins some of the counters of days that ended before a time, for questions about
	// long periods, in a short time, and reports whether there is more to look at.
	Roll(ctx context.Context, before time.Time) (joined int64, more bool, err error)
	// Forget deletes some of what is older than wanted, in a short time, and reports
	// whether there is more of it.
	Forget(ctx context.Context, keep Retention) (forgotten int64, more bool, err error)
}

// Retention says what is kept; 0 means that a bound does not apply.
type Retention struct {
	Now      time.Time
	Calls    time.Duration // age of calls
	Bytes    int64         // size of all calls that this collector has stored
	Counters time.Duration // age of counters
	Open     []string      // names of claims that must be known
}
