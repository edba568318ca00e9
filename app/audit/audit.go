// Package audit keeps the audit trail: a record of every write and of every refused
// call. It makes records of the commits in the change log, which hold the attribution
// of each change (who asked for which operation), and of calls that made no commit
// (docs/wire/audit.md).
package audit

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Signer signs checkpoints, and knows the public keys of all keys that may have signed.
type Signer interface {
	// SigningKey names the key that signs.
	SigningKey() string
	// Sign returns the Ed25519 signature of a message.
	Sign(message []byte) []byte
	// PublicKey returns the public key with a name, also an older one.
	PublicKey(name string) (ed25519.PublicKey, bool)
}

// File is a log file to which records are appended, beside the store or instead of it.
type File interface {
	// Append appends a text as a whole and returns when it is durable. undo removes it
	// again, if nothing was appended after it.
	Append(text []byte) (undo func() error, err error)
}

// Settings says whether a trail is kept, and its bounds.
type Settings struct {
	Signer    Signer               // nil: no trail is kept in the store
	File      File                 // nil: no trail is kept in a file
	JSON      bool                 // the file has JSON lines instead of texts
	MaxAge    time.Duration        // older records are deleted; 0: none
	MaxBytes  int64                // of the trail of one organisation; 0: no bound
	Reads     bool                 // reads through /api and /admin are recorded as well, whatever their result
	Detailed  bool                 // records have dumps of requests and responses
	ReadOnly  bool                 // this process only reads the trail; another one writes it
	Pack      func([]byte) []byte  // compresses a stored text to a gzip stream, one call at a time; nil: package gzip does
	Silent    []string             // operations whose commits are only bookkeeping: the trail leaves them out
	Elsewhere map[string]Elsewhere // by kind: kinds whose records refer to what was written elsewhere
}

// Elsewhere returns the subjects that a record says were written elsewhere; the
// argument is its document. The trail then names these subjects instead of the record
// itself, unless ok is false.
type Elsewhere func(document []byte) (written []audit.Subject, ok bool)

// Store is what the audit trail needs of a store.
type Store interface {
	store.Store
	store.ChangeLog
	store.Historian
}

// Service keeps the audit trail. Make one with New.
type Service struct {
	Settings
	store    Store
	now      system.Clock
	steady   system.Clock // the clock for the age of records
	log      *slog.Logger
	pageSize int
	most     int // bound of the bytes of the records in one response
	specs    func(id string) *operation.Spec
	calls    calls
	wake     chan struct{} // wakes Run: the waiting dumps take much memory, so a fold is due
	keeps    bool          // this process writes records

	turn   sync.Mutex // one fold at a time
	seen   store.Revision
	packer audit.Packer
}

// New returns the service. Without a Signer it cannot read the trail; without a Signer
// and a File it keeps no records. specs returns the operation with an ID, or nil.
func New(s Settings, t crud.Tools, specs func(string) *operation.Spec) (*Service, error) {
	a := &Service{Settings: s, now: t.Now, log: t.Log, pageSize: t.PageSize, most: maxAnswer, specs: specs, wake: make(chan struct{}, 1), packer: audit.Packer{Pack: s.Pack}}
	a.calls.room = maxCalls
	if s.Reads {
		a.calls.room += maxReads
	}
	if a.keeps = a.On() && !s.ReadOnly; !a.On() {
		return a, nil
	}
	var ok bool
	if a.store, ok = t.Store.(Store); !ok {
		return nil, errors.New("an audit trail needs a store with a change log and history")
	}
	a.steady = system.Steady(t.Now)
	return a, nil
}

// On reports whether the trail is kept, in the store or in a file.
func (s *Service) On() bool { return s.Signer != nil || s.File != nil }

// The kinds of records in which a trail is stored.
var (
	segments = &store.Kind[audit.Segment]{Name: "audit_segment", Noun: "segment of the audit trail",
		ID: func(v audit.Segment) string { return v.ID }, Org: func(v audit.Segment) tenant.ID { return v.OrgID }}
	heads = &store.Kind[audit.Head]{Name: "audit_head", Noun: "head of the audit trail",
		ID: func(v audit.Head) string { return v.ID }, Org: func(v audit.Head) tenant.ID { return v.OrgID }}
	cursors = &store.Kind[cursor]{Name: "audit_cursor", Noun: "cursor of the audit trail",
		ID: func(v cursor) string { return v.ID }, Org: func(cursor) tenant.ID { return "" }}
)

// cursor is the position in the change log up to which the trail has records. Each
// write of a trail increments Turn, so that a writer that has not seen the last turn
// starts again.
type cursor struct {
	ID      string         `json:"id"`
	Through store.Revision `json:"through"`
	Turn    uint64         `json:"turn"`
}

const cursorID = "cursor"

// Registrations returns the registrations of the kinds in which trails are stored.
func Registrations() []crud.Registrar {
	return []crud.Registrar{
		crud.Facts[audit.Segment]{Kind: segments, Lasts: true, Sample: func(at crud.Stamp) (audit.Segment, error) {
			s := audit.Begin(at.Org, audit.Checkpoint{})
			s.ID = at.ID
			s, _ = new(audit.Packer).Add(s, []audit.Record{audit.Record{OrgID: at.Org}.At(at.Now())}, false)
			return s, nil
		}},
		crud.Facts[audit.Head]{Kind: heads, Lasts: true, Sample: func(at crud.Stamp) (audit.Head, error) {
			return audit.Head{ID: at.ID, OrgID: at.Org}, nil
		}},
		crud.Facts[cursor]{Kind: cursors, Lasts: true},
	}
}

// How often the trail is brought up to date while it is not read. With many commits the
// next fold follows soon: stores have the last thousands of commits in memory, and
// reading them from the log again costs as much as recording them.
const (
	foldEvery = time.Second
	foldSoon  = 100 * time.Millisecond
)

// Run brings the trail up to date, and deletes old records, until ctx ends. Then it
// records the remaining commits and calls.
func (s *Service) Run(ctx context.Context) error {
	if !s.keeps {
		return nil
	}
	fold, prune := time.NewTimer(foldEvery), time.NewTicker(pruneEvery)
	defer fold.Stop()
	defer prune.Stop()
	for {
		before := s.through()
		s.noting(ctx, s.Fold)
		fold.Reset(foldEvery)
		if s.through() >= before+maxCommits/2 {
			fold.Reset(foldSoon)
		}
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), foldEvery)
			defer cancel()
			s.noting(last, s.Fold)
			return ctx.Err()
		case <-prune.C:
			s.noting(ctx, s.prune)
		case <-fold.C:
		case <-s.wake:
		}
	}
}

// through returns the revision up to which commits are recorded, as far as this process
// knows.
func (s *Service) through() store.Revision {
	s.turn.Lock()
	defer s.turn.Unlock()
	return s.seen
}

func (s *Service) noting(ctx context.Context, do func(context.Context) error) {
	if err := do(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("the audit trail could not be brought up to date; trying again", "error", err)
	}
}

// errTurn means that another process has written to the trail since this one read it.
var errTurn = errors.New("audit: another process took the turn")

// maxTurns bounds how often a fold starts again because of other processes.
const maxTurns = 8

// Begin notes where a new trail begins in a store whose first commits are pruned: after
// the last commit. Without Begin, the first fold would note it later and leave out the
// commits until then, if the process dies meanwhile. So a service calls Begin before it
// accepts calls.
func (s *Service) Begin(ctx context.Context) error {
	if !s.keeps {
		return nil
	}
	oldest, err := s.store.Oldest(ctx)
	if err != nil || oldest <= 1 { // the trail begins with the first commit
		return err
	}
	head, err := s.store.Head(ctx)
	if err != nil {
		return err
	}
	ctx = store.Attribute(ctx, store.Attribution{Actor: Operation, Operation: Operation})
	_, err = s.store.Update(ctx, tenant.Everyone("audit"), func(w store.Writer) error {
		for _, err := range cursors.Find(ctx, w, store.Query{ID: cursorID}) {
			return err // the trail has begun already
		}
		return cursors.Insert(ctx, w, cursor{ID: cursorID, Through: head})
	})
	return err
}

// Fold records all commits and calls so far.
func (s *Service) Fold(ctx context.Context) error {
	if !s.keeps {
		return nil
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	calls, dumps := s.calls.take(s.log)
	var err error
	if s.seen == 0 {
		err = s.Begin(ctx)
	}
	var to store.Revision
	if err == nil {
		to, err = s.store.Head(ctx)
	}
	if err != nil {
		s.calls.back(calls, dumps)
		return fmt.Errorf("audit: %w", err)
	}
	if s.seen > to { // the store was restored from a backup: the cursor in it says what is recorded there
		s.seen = 0
	}
	for lost := 0; ; {
		rest, done, err := s.step(ctx, to, calls, dumps)
		switch {
		case err == nil && done:
			return nil
		case err == nil:
			calls, lost = rest, 0
		case errors.Is(err, errTurn) && lost < maxTurns:
			lost++
		default:
			s.calls.back(calls, dumps)
			return fmt.Errorf("audit: %w", err)
		}
	}
}

// step records the next commits, and the calls up to the time of the last of them, in
// one unit of work and in the order of time. done means that no commits are left; then
// rest, the calls that are still to be recorded, is empty. step removes from d the
// dumps that it has recorded.
func (s *Service) step(ctx context.Context, to store.Revision, calls []call, d dumps) (rest []call, done bool, err error) {
	var at cursor
	known := false
	err = s.store.View(ctx, tenant.Everyone("audit"), func(r store.Reader) error {
		at, known = cursor{ID: cursorID}, false
		for v, err := range cursors.Find(ctx, r, store.Query{ID: cursorID}) {
			at, known = v.Value, true
			return err
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	t := telling{Service: s, records: map[tenant.ID][]audit.Record{}, dumps: d, told: map[dumpKey]int{}, comparers: map[string]*audit.Comparer{}}
	through, err := t.commits(ctx, max(at.Through, s.seen), to)
	if err != nil {
		return nil, false, err
	}
	for _, c := range calls {
		if through < to && c.record.Time().After(t.until) {
			rest = append(rest, c) // earlier commits are not recorded yet
		} else {
			t.add(&c.record)
		}
	}
	if through >= to {
		t.left()
	}
	for _, records := range t.records { // commits and calls come from different sources, and lists promise the newest first
		slices.SortStableFunc(records, func(a, b audit.Record) int { return a.Time().Compare(b.Time()) })
	}
	if len(t.records) > 0 {
		err = s.write(ctx, at, known, through, t.records)
	}
	if err == nil {
		s.seen = through
		for k, n := range t.told {
			if d[k] = d[k][n:]; len(d[k]) == 0 {
				delete(d, k)
			}
		}
	}
	return rest, through >= to, err
}
