// Package memdb keeps resources in memory: as a store for tests and embedding, or as the
// read replica of another store. Nothing in it survives the process.
package memdb

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// DB is an in-memory store.
type DB struct {
	now    system.Clock
	keep   int
	hold   time.Duration
	write  sync.Mutex                  // serialises units of work, and Load
	db     atomic.Pointer[memdb.MemDB] // Load replaces it as a whole
	head   atomic.Uint64               // of db; set right after a transaction, before a caller gets its answer
	bell   bell
	leases leases
	sizes  sizes
}

// bell wakes goroutines that wait for changes.
type bell struct {
	mu   sync.Mutex
	next chan struct{} // nil: no goroutine waits
}

// waits returns a channel that is closed after the next change.
func (b *bell) waits() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

// reached stores the revision of the database, and wakes the goroutines that wait for it.
func (d *DB) reached(at store.Revision) {
	d.head.Store(uint64(at))
	d.bell.mu.Lock()
	defer d.bell.mu.Unlock()
	if d.bell.next != nil {
		close(d.bell.next)
		d.bell.next = nil
	}
}

var (
	_ store.Store       = (*DB)(nil)
	_ store.ChangeLog   = (*DB)(nil)
	_ store.Snapshotter = (*DB)(nil)
	_ store.Historian   = (*DB)(nil)
	_ store.Leases      = (*DB)(nil)
	_ store.Sized       = (*DB)(nil)
)

// defaultKeep bounds the history of a DB, in commits: each costs about as much memory as
// what it changed.
const defaultKeep = 100_000

// New returns an empty DB.
func New(now system.Clock) (*DB, error) {
	d := &DB{now: now, keep: defaultKeep, hold: store.DefaultHold}
	db, err := empty()
	if err != nil {
		return nil, err
	}
	d.db.Store(db)
	return d, nil
}

// SetHold sets how long one unit of work may hold the writer. Call it before the DB is
// used.
func (d *DB) SetHold(hold time.Duration) { d.hold = hold }

// empty returns a database without records. It is a snapshot, because the library does
// extra work for databases that are not: it tracks the watchers of each tree node,
// although there are none here, and compares whole trees when many nodes have changed.
func empty() (*memdb.MemDB, error) {
	db, err := memdb.NewMemDB(schema())
	if err != nil {
		return nil, err
	}
	txn := db.Txn(true)
	if err := txn.Insert(tableHead, &head{}); err != nil {
		return nil, err
	}
	txn.Commit()
	return db.Snapshot(), nil
}

// View implements store.Store.
func (d *DB) View(ctx context.Context, s tenant.Scope, fn func(store.Reader) error) error {
	if s.IsZero() {
		return store.ErrScope
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return fn(&tx{txn: d.db.Load().Txn(false), scope: s})
}

// Update implements store.Store.
func (d *DB) Update(ctx context.Context, s tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	return store.Updater(d.update).Update(ctx, s, fn)
}

func (d *DB) update(ctx context.Context, s tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	if s.IsZero() {
		return 0, store.ErrScope
	}
	d.write.Lock()
	defer d.write.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	txn := d.db.Load().Txn(true)
	defer txn.Abort()
	at, err := headOf(txn)
	if err != nil {
		return 0, err
	}
	w := &tx{txn: txn, scope: s, rev: at + 1, touched: map[address]int{}, now: sync.OnceValue(d.now), until: time.Now().Add(d.hold)}
	if err := fn(w); err != nil {
		return 0, err
	}
	if err := w.late(); err != nil {
		return 0, err
	}
	c := &store.Commit{Rev: w.rev, At: w.now(), By: store.AttributionOf(ctx, s)}
	grown := growth{}
	for _, b := range w.before { // one change per record; none for a record that was created and deleted within
		now, err := w.get(b.address)
		if err != nil {
			return at, err
		}
		if b.old != nil || now != nil {
			c.Changes = append(c.Changes, store.NewChange(b.old, now).Bare())
			grown.count(b.old, now)
		}
	}
	if len(c.Changes) == 0 {
		return at, nil
	}
	if forgotten := int64(c.Rev) - int64(d.keep); forgotten > 0 {
		if _, err := txn.DeleteAll(tableCommit, indexID, revKey(store.Revision(forgotten))); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(txn.Insert(tableCommit, c), advance(txn, []store.Commit{*c})); err != nil {
		return 0, err
	}
	txn.Commit()
	d.sizes.grow(grown)
	d.reached(w.rev)
	store.NoteWritten(ctx)
	return w.rev, nil
}

// advance moves the head, and the revisions of the kinds that commits touched, once for
// all commits.
func advance(txn *memdb.Txn, commits []store.Commit) error {
	touched := map[string]store.Revision{}
	for i := range commits {
		for _, ch := range commits[i].Changes {
			touched[ch.Kind] = commits[i].Rev
		}
	}
	for kind, rev := range touched {
		if err := txn.Insert(tableKind, &kindRow{kind, rev}); err != nil {
			return err
		}
	}
	obj, err := txn.First(tableHead, indexID, []byte{1})
	if err != nil {
		return err
	}
	return txn.Insert(tableHead, &head{commits[len(commits)-1].Rev, obj.(*head).floor})
}

// Head implements store.ChangeLog.
func (d *DB) Head(context.Context) (store.Revision, error) {
	return store.Revision(d.head.Load()), nil
}

func headOf(txn *memdb.Txn) (store.Revision, error) {
	obj, err := txn.First(tableHead, indexID, []byte{1})
	if err != nil || obj == nil {
		return 0, err
	}
	return obj.(*head).rev, nil
}

// leases assigns work to the goroutines of one process.
type leases struct {
	sync.Mutex
	held map[string]lease
}

type lease struct {
	holder string
	until  time.Time
	at     store.Revision
}

// Acquire implements store.Leases.
func (d *DB) Acquire(ctx context.Context, sink, holder string, ttl time.Duration) (store.Revision, bool, error) {
	head, err := d.Head(ctx)
	if err != nil {
		return 0, false, err
	}
	d.leases.Lock()
	defer d.leases.Unlock()
	now := d.now()
	l, known := d.leases.held[sink]
	if known && l.holder != holder && l.holder != "" && now.Before(l.until) {
		return 0, false, nil
	}
	if !known {
		l.at = head
	}
	l.holder, l.until = holder, now.Add(ttl)
	if d.leases.held == nil {
		d.leases.held = map[string]lease{}
	}
	d.leases.held[sink] = l
	return l.at, true, nil
}

// Advance implements store.Leases.
func (d *DB) Advance(_ context.Context, sink, holder string, to store.Revision) error {
	d.leases.Lock()
	defer d.leases.Unlock()
	l, ok := d.leases.held[sink]
	if !ok || l.holder != holder {
		return store.ErrStale
	}
	l.at = max(l.at, to)
	d.leases.held[sink] = l
	return nil
}

// Release implements store.Leases.
func (d *DB) Release(_ context.Context, sink, holder string) error {
	d.leases.Lock()
	defer d.leases.Unlock()
	if l, ok := d.leases.held[sink]; ok && l.holder == holder {
		l.holder = ""
		d.leases.held[sink] = l
	}
	return nil
}

// beside is about how many bytes of memory a record takes besides its document.
const beside = 2 << 10

// sizes are the sizes of the records of organisations, in bytes. They are counted outside
// the database: a row for them would slow every write.
type sizes struct {
	mu sync.Mutex
	of map[tenant.ID]int64
}

// growth is by how much a transaction enlarges the records of organisations, in bytes.
type growth map[tenant.ID]int64

// count adds the replacement of a record by another; nil: there is none.
func (g growth) count(old, now *store.Record) {
	if old != nil {
		g[old.Org] -= int64(len(old.Doc)) + beside
	}
	if now != nil {
		g[now.Org] += int64(len(now.Doc)) + beside
	}
}

// grow adds the growth of a committed transaction.
func (s *sizes) grow(by growth) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[tenant.ID]int64{}
	}
	for org, n := range by {
		if s.of[org] += n; s.of[org] == 0 {
			delete(s.of, org)
		}
	}
}

// Size implements store.Sized.
func (d *DB) Size(org tenant.ID) int64 {
	d.sizes.mu.Lock()
	defer d.sizes.mu.Unlock()
	return d.sizes.of[org]
}
