// Package collector takes the records that gateways report from their lists and stores
// them: calls, and counters of calls and of uptime checks, each exactly once
// (docs/wire/records.md#claims).
package collector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/app/lease"
	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
	"github.com/gatehouse-io/gatehouse/ports/analytics"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Settings says whether records are collected, and how. Fields with a default may be
// zero.
type Settings struct {
	Queue   analytics.Queue // where gateways put records; nil: the service collects nothing and only joins days
	Decoder analytics.Decoder
	Sinks   []analytics.Sink
	Count   aggregate.Options
	Keep    record.Level  // of messages; default record.Headers
	Every   time.Duration // between claims; default 1 s
	// Backlog is how many entries may wait in claims before no more are claimed;
	// default 1,000,000. After a while the lists of the gateways then lose their
	// entries.
	Backlog  int64
	Calls    time.Duration // age at which calls are deleted; 0: never
	Bytes    int64         // size of calls beyond which the oldest are deleted; 0: no bound
	Counters time.Duration // age at which counters are deleted; 0: never
	Holder   string        // unique name of this process among all that share the store
	TTL      time.Duration // how long a dead process keeps others from collecting; default 10 s
	Bounds   analytics.Bounds
}

// The names of the leases. A process that only joins days must not keep others from
// collecting, so it has a lease with another name.
const (
	Lease        = "analytics collector"
	joiningLease = "analytics totals"
)

// Bounds of one read.
const (
	maxEntries = 4000
	maxBytes   = 32 << 20
	maxEntry   = 16 << 20
)

// Service collects records. Make one with New.
type Service struct {
	Settings
	now  system.Clock
	log  *slog.Logger
	turn *lease.Lease

	mu      sync.Mutex
	pending []analytics.Claim // the first one is being stored
	done    int64             // stored entries of the first claim
	lost    bool              // a claim may exist that is not in pending
	status  Status
	wrong   map[string]error     // current failures and their errors
	others  map[string]time.Time // lists that another program reads, with the time when that was last noticed
	wake    chan struct{}
}

// New returns a Service.
func New(s Settings, leases store.Leases, now system.Clock, log *slog.Logger) (*Service, error) {
	c := &Service{Settings: s, now: now, log: log, others: map[string]time.Time{}, wrong: map[string]error{}, wake: make(chan struct{}, 1)}
	if s.Queue == nil && len(s.Sinks) == 0 {
		return c, nil
	}
	if leases == nil {
		return nil, errors.New("the collector needs a store with leases")
	}
	if s.Queue == nil {
		c.turn = lease.New(lease.Config{Leases: leases, Name: joiningLease, Holder: s.Holder, Logger: log, TTL: s.TTL,
			Trouble: c.trouble("the lease for joining counters can be neither taken nor renewed")})
		return c, nil
	}
	if len(s.Sinks) == 0 {
		return nil, errors.New("analytics.collect needs a database: set storage.analytics, or storage.main to something else than memory")
	}
	c.Keep = cmp.Or(s.Keep, record.Headers)
	c.Every = cmp.Or(s.Every, time.Second)
	c.Backlog = cmp.Or(s.Backlog, 1_000_000)
	c.Bounds = analytics.Bounds{Entries: cmp.Or(s.Bounds.Entries, maxEntries), Bytes: cmp.Or(s.Bounds.Bytes, maxBytes), Largest: cmp.Or(s.Bounds.Largest, maxEntry)}
	c.turn = lease.New(lease.Config{Leases: leases, Name: Lease, Holder: s.Holder, Logger: log, TTL: s.TTL,
		Trouble: c.trouble("the lease of the collector can be neither taken nor renewed")})
	return c, nil
}

// Run collects, or joins days, while this process holds the lease, until ctx ends or Quit
// is called.
func (s *Service) Run(ctx context.Context) error {
	return s.turn.Run(ctx, s.hold)
}

// Quit ends collecting for good, so that another process continues.
func (s *Service) Quit(ctx context.Context) error {
	return s.turn.Quit(ctx)
}

// hold works until run ends.
func (s *Service) hold(run, held context.Context, _ *lease.Holding) {
	if s.Queue == nil {
		s.joins(true)
		s.roll(run)
		s.joins(false)
		return
	}
	s.mu.Lock()
	s.pending, s.done, s.lost, s.status.Collecting = nil, 0, true, true
	s.mu.Unlock()
	var all sync.WaitGroup
	all.Go(func() { s.claim(run) })
	all.Go(func() { s.store(run, held) })
	all.Go(func() { s.forget(run) })
	all.Go(func() { s.roll(run) })
	all.Wait()
	s.mu.Lock()
	s.pending, s.done, s.status.Collecting = nil, 0, false
	s.mu.Unlock()
}

func (s *Service) joins(yes bool) {
	s.mu.Lock()
	s.status.Joining = yes
	s.mu.Unlock()
}

// Status is the state of the collector.
type Status struct {
	Collecting bool     // this process collects
	Joining    bool     // this process joins days, and does not collect
	Records    int64    // number stored by this process: records, and results of uptime checks
	Asides     int64    // entries that could not be read
	Dropped    int64    // counts of values beyond the bound of their dimension
	Waiting    int64    // claimed entries that are not stored yet
	Full       bool     // nothing is claimed until claimed entries are stored
	Others     []string // lists that another program reads as well
	Trouble    error    // why entries cannot be claimed or stored
}

// othersFor is how long the collector remembers that another program reads a list.
const othersFor = 10 * time.Minute

// Sharing returns a text for operators that says that another program reads lists of
// the gateways, and what to do; "" if no list is shared.
func Sharing(lists []string) string {
	if len(lists) == 0 {
		return ""
	}
	return fmt.Sprintf("another program, most likely tyk-pump, takes records from %s: each of both gets a share; stop one of them", strings.Join(lists, ", "))
}

// Status returns the state of the collector.
func (s *Service) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.status
	out.Waiting, out.Full = s.waiting(), s.full()
	for _, err := range s.wrong {
		out.Trouble = err
	}
	for name, at := range s.others {
		if s.now().Sub(at) < othersFor {
			out.Others = append(out.Others, name)
		}
	}
	slices.Sort(out.Others)
	return out
}

// waiting and full expect that the caller holds the lock.
func (s *Service) waiting() (n int64) {
	for _, c := range s.pending {
		n += c.Entries
	}
	return n - s.done
}

func (s *Service) full() bool { return s.Queue != nil && s.waiting() >= s.Backlog }

// trouble returns a function that logs when a failure begins (its first error) and ends
// (nil). The status has the error as long as the failure lasts.
func (s *Service) trouble(what string) func(error) {
	return func(err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch _, wrong := s.wrong[what]; {
		case err != nil && !wrong:
			s.log.Warn(what, "error", err)
			s.wrong[what] = err
		case err == nil && wrong:
			s.log.Info("over: " + what)
			delete(s.wrong, what)
		}
	}
}
