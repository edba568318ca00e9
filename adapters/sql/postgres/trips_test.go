package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// watched counts a client's round trips: each read after a write.
type watched struct {
	net.Conn
	mu    sync.Mutex
	asked bool
	trips int
}

// Write implements net.Conn.
func (c *watched) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.asked = true
	c.mu.Unlock()
	return c.Conn.Write(b)
}

// Read implements net.Conn.
func (c *watched) Read(b []byte) (int, error) {
	c.mu.Lock()
	if c.asked {
		c.asked = false
		c.trips++
	}
	c.mu.Unlock()
	return c.Conn.Read(b)
}

func (c *watched) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trips
}

// watching opens a store and returns a function that returns the number of round trips of each
// connection.
func watching(t *testing.T, c postgres.Config) (*postgres.Store, func() []int) {
	t.Helper()
	var mu sync.Mutex
	var conns []*watched
	s, err := postgres.Open(t.Context(), postgres.Dialled(c, func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		c := &watched{Conn: conn}
		mu.Lock()
		defer mu.Unlock()
		conns = append(conns, c)
		return c, err
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, func() (out []int) {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range conns {
			out = append(out, c.count())
		}
		return out
	}
}

// follow starts a follower and returns a channel of the revisions it receives.
func follow(t *testing.T, s *postgres.Store) <-chan store.Revision {
	heard := make(chan store.Revision, 1024)
	go func() {
		for c, err := range s.Follow(t.Context(), 0) {
			if err != nil {
				return
			}
			heard <- c.Rev
		}
	}()
	return heard
}

// Followers do not query the database after each commit of their own process.
func TestFollowersAskForOthersOnly(t *testing.T) {
	const followers, writes = 8, 100
	s, trips := watching(t, postgres.Config{DSN: harness.Database(t), Poll: time.Hour})
	var all []<-chan store.Revision
	for range followers {
		all = append(all, follow(t, s))
	}
	total := func() (n int) {
		for _, of := range trips() {
			n += of
		}
		return n
	}
	before := 0
	for i := range writes {
		if i == writes/2 {
			before = total() // by now statements are prepared
		}
		if err := insert(t.Context(), s, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		for _, heard := range all {
			<-heard
		}
	}
	if got := total() - before; got > writes/2*5 { // a new record takes four
		t.Errorf("%d writes with %d followers took %d round trips", writes/2, followers, got)
	}
}

// Followers receive each commit in order when two processes write in turns, without polling.
func TestFollowersBesideAnotherProcess(t *testing.T) {
	dsn := harness.Database(t)
	one, _ := watching(t, postgres.Config{DSN: dsn, Poll: time.Hour})
	two, _ := watching(t, postgres.Config{DSN: dsn, Poll: time.Hour})
	first, second := follow(t, one), follow(t, two)
	const writes = 60
	for i := range writes {
		s := one
		if i%3 == 0 {
			s = two
		}
		if err := insert(t.Context(), s, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range writes {
		for _, heard := range []<-chan store.Revision{first, second} {
			select {
			case rev := <-heard:
				if rev != store.Revision(i+1) {
					t.Fatalf("heard of %d, want %d", rev, i+1)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("nobody told of %d", i+1)
			}
		}
	}
}

// overwrite stores a document that differs for each n from 0 to 9, in a unit of work that takes
// took.
func overwrite(ctx context.Context, s store.Store, id string, n int, took time.Duration) error {
	scope, err := tenant.Of("a")
	if err != nil {
		return err
	}
	_, err = s.Update(ctx, scope, func(w store.Writer) error {
		time.Sleep(took)
		r, err := w.Get(ctx, "thing", id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return w.Put(ctx, store.Record{Org: "a", Kind: "thing", ID: id, Rev: r.Rev, Doc: []byte{'[', byte('0' + n%10), ']'}})
	})
	return err
}

// A write of a record that this process wrote last takes two round trips: one that begins, takes
// the turn and reads the revision, and one that stores and commits.
func TestRoundTrips(t *testing.T) {
	s, trips := watching(t, postgres.Config{DSN: harness.Database(t)})
	busiest := func() (most int) {
		for _, n := range trips() {
			most = max(most, n)
		}
		return most
	}
	write := func(n int) {
		for i := range n {
			if err := overwrite(t.Context(), s, "one", i, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(50) // prepares the statements, and makes the writer's connection the busiest
	before := busiest()
	write(50)
	if got := busiest() - before; got > 2*50+2 {
		t.Errorf("50 writes took %d round trips", got)
	}
}

// A busy writer takes one round trip for each transaction: the beginning of the next one is sent
// with the commit.
func TestRoundTripsOfABusyWriter(t *testing.T) {
	dsn := harness.Database(t)
	s, trips := watching(t, postgres.Config{DSN: dsn})
	busiest := func() (most int) {
		for _, n := range trips() {
			most = max(most, n)
		}
		return most
	}
	write := func(times int) {
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				for n := range times {
					// A few units fill a transaction, and others wait.
					if err := overwrite(t.Context(), s, fmt.Sprint(i), n, 4*time.Millisecond); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	transactions := func() (n int) {
		if err := db.QueryRowContext(t.Context(), `select count(*) from change_log`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	write(5)
	trip, transaction := busiest(), transactions()
	write(20)
	trip, transaction = busiest()-trip, transactions()-transaction
	if transaction < 20 || float64(trip) > 1.3*float64(transaction) {
		t.Errorf("%d transactions took %d round trips", transaction, trip)
	}
}

// A busy writer lets another process have its turn.
func TestTurnsBesideABusyWriter(t *testing.T) {
	dsn := harness.Database(t)
	busy, other := open(t, dsn), open(t, dsn)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				if err := overwrite(t.Context(), busy, fmt.Sprint("busy", i), n, 0); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for i := range 50 {
		if err := insert(ctx, other, fmt.Sprint("other", i)); err != nil {
			t.Error(err)
			break
		}
	}
	close(done)
	wg.Wait()
}

// A transaction that was begun with the previous commit holds the turn for units of work only:
// other processes may write when all waiting units have given up, and while the writer does
// something else.
func TestTurnIsGivenUp(t *testing.T) {
	dsn := harness.Database(t)
	s, other := open(t, dsn), open(t, dsn)
	scope, _ := tenant.Of("a")
	for name, next := range map[string]func(ctx context.Context, meanwhile func(context.Context) error) error{
		"units that gave up": func(ctx context.Context, _ func(context.Context) error) error { return insert(ctx, s, "never") },
		"something else":     s.InTurn,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			write := func(context.Context) error { return insert(ctx, other, name) }
			holds, goes, first, second := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan error, 1)
			begin := sync.OnceFunc(func() { close(holds); <-goes })
			go func() {
				_, err := s.Update(ctx, scope, func(w store.Writer) error {
					begin()
					return w.Put(ctx, store.Record{Org: "a", Kind: "thing", ID: "first" + name, Doc: []byte(`{}`)})
				})
				first <- err
			}()
			<-holds
			waits, giveUp := context.WithCancel(ctx)
			defer giveUp()
			go func() { second <- next(waits, write) }()
			time.Sleep(100 * time.Millisecond) // to make it wait
			if name == "units that gave up" {
				giveUp()
				if err := <-second; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				go func() { time.Sleep(10 * time.Millisecond); second <- write(ctx) }()
			}
			close(goes)
			if err := errors.Join(<-first, <-second); err != nil {
				t.Error(err)
			}
		})
	}
}

// A refused statement is sent together with the commit: nothing of its unit is stored, other
// units of the same transaction are, and the next write finds a clean connection.
func TestRefusedWithTheCommit(t *testing.T) {
	dsn := harness.Database(t)
	s := open(t, dsn)
	if err := insert(t.Context(), s, "before"); err != nil {
		t.Fatal(err)
	}
	harness.Exec(t, dsn, `alter table record add constraint refused check (id <> 'refused')`)
	for round := range 3 {
		results := make(chan error, 8)
		for i := range 8 {
			id := fmt.Sprintf("fine-%d-%d", round, i)
			if i == 3 {
				id = "refused"
			}
			go func() { results <- insert(t.Context(), s, id) }()
		}
		failed := 0
		for range 8 {
			if err := <-results; err != nil {
				failed++
			}
		}
		if failed != 1 {
			t.Errorf("%d writes failed", failed)
		}
	}
	if err := insert(t.Context(), s, "after"); err != nil {
		t.Error(err)
	}
	scope, _ := tenant.Of("a")
	if err := s.View(t.Context(), scope, func(r store.Reader) error {
		if _, err := r.Get(t.Context(), "thing", "refused"); err == nil {
			t.Error("what was refused is there")
		}
		_, err := r.Get(t.Context(), "thing", "fine-2-7")
		return err
	}); err != nil {
		t.Error(err)
	}
}
