package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// again reports whether a failed transaction may simply run again: it lost a race, or the kept
// connection turned out to be dead. In both cases nothing of it was committed; otherwise the
// error would be an unsureError.
func (w *writer) again(err error) bool {
	if _, unsure := errors.AsType[*unsureError](err); err == nil || unsure {
		return false
	}
	_, dead := errors.AsType[*deadError](err)
	return dead || w.s.Dialect.Again(err)
}

// deadError is an error of a connection that was kept from an earlier transaction. The server
// may have restarted since, so a retry with a new connection makes sense.
type deadError struct{ err error }

// lookDead turns the loss of a kept connection into a deadError.
func (w *writer) lookDead(kept bool, err *error) {
	if *err != nil && kept && w.s.Dialect.Lost(*err) {
		w.drop()
		*err = &deadError{*err}
	}
}

// Error implements error.
func (e *deadError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *deadError) Unwrap() error { return e.err }

// unsureError is an error of the commit itself: the transaction may have been committed, so it
// must not run again.
type unsureError struct{ err error }

// Error implements error.
func (e *unsureError) Error() string { return "sql: commit: " + e.err.Error() }

// Unwrap returns the cause.
func (e *unsureError) Unwrap() error { return e.err }

// taken names a unique constraint that the unit itself could not have checked: another program
// wrote to the tables directly.
func (w *writer) taken(err error) error {
	if w.s.Dialect.Taken(err) {
		return fmt.Errorf("%w: %w", store.ErrTaken, err)
	}
	return err
}

// begin begins the transaction, unless that was done with the last commit, waits for the turn of
// this process and returns the revision of the last commit.
func (w *writer) begin(ctx context.Context) (head store.Revision, err error) {
	if w.ses == nil {
		if w.ses, err = newSession(ctx, w.s.Writers, w.s.Dialect); err != nil {
			return 0, err
		}
	}
	begun := w.begun
	w.begun = nil
	if begun != nil && begun.turn == 1 {
		return store.Revision(begun.head), nil
	}
	var commands []Command
	if begun == nil {
		commands = w.opening()
	}
	if w.s.Dialect.Lock != "" {
		commands = append(commands, Command{Text: w.s.Dialect.Lock})
	}
	for _, c := range commands {
		if err := w.ses.later(ctx, c.Text); err != nil {
			return 0, err
		}
	}
	if w.ses.pipeline == nil {
		return headOf(ctx, w.ses)
	}
	var n int64
	_, err = w.ses.flush(ctx, Command{Text: headText, Into: &n})
	return store.Revision(n), err
}

// opening returns the first statements of a transaction.
func (w *writer) opening() []Command {
	commands := []Command{{Text: w.s.Dialect.Begin}}
	if w.s.Dialect.Bound != nil {
		commands = append(commands, Command{Text: w.s.Dialect.Bound(w.s.Timeout)})
	}
	return commands
}

// begun is a transaction that was begun together with the previous commit.
type begun struct {
	turn int64 // 1: it has the turn; otherwise another process was waiting for it
	head int64 // the revision of the last commit, if it has the turn
}

// finish commits. Where statements are pipelined, the pending statements are sent with the
// commit, and the beginning of the next transaction as well if units wait for it: a busy writer
// has one round trip for each group. An error other than unsureError means that nothing was
// committed.
func (w *writer) finish(ctx context.Context) error {
	if w.ses.pipeline == nil {
		if err := w.end(ctx, "commit"); err != nil {
			return &unsureError{err}
		}
		return nil
	}
	before := len(w.ses.commands)
	commands := []Command{{Text: "commit"}}
	w.mu.Lock()
	waiting := w.queue.size > 0
	w.mu.Unlock()
	var next *begun
	if waiting {
		next = &begun{}
		commands = append(append(commands, w.opening()...), Command{Text: w.s.Dialect.TryLock, Into: &next.turn}, Command{Text: headText, Into: &next.head})
	}
	done, err := w.ses.flush(ctx, commands...)
	switch {
	case err == nil:
		w.begun = next
		return nil
	case done > before: // the commit succeeded, and a later statement was refused
		w.drop()
		return nil
	case done < before && !w.s.Dialect.Lost(err):
		return errors.Join(w.taken(err), w.end(ctx, "rollback"))
	}
	w.drop()
	return &unsureError{err}
}

// end ends the transaction. After an error the connection is closed, because its state is
// unknown.
func (w *writer) end(ctx context.Context, how string) error {
	w.ses.commands = nil // they belong to the rolled back transaction
	err := w.ses.exec(ctx, how)
	if err != nil {
		w.drop()
	}
	return err
}

// giveUp rolls back a transaction that was begun together with the last commit: the writer has
// something else to do, or nothing.
func (w *writer) giveUp() {
	if w.begun != nil {
		w.begun = nil
		ctx, cancel := w.s.patience()
		defer cancel()
		_ = w.end(ctx, "rollback") // after an error a new connection is used
	}
}

func (w *writer) drop() {
	w.begun = nil
	if w.ses != nil {
		w.ses.close()
		w.ses = nil
	}
	w.hot.reset(0)
}

// trouble is the error of the last write, if it came from the disk or the database and so
// affects all later writes.
type trouble struct{ err atomic.Pointer[error] }

// note sets or clears the trouble after a write.
func (t *trouble) note(err error) {
	switch {
	case err == nil:
		t.err.Store(nil)
	case errors.Is(err, store.ErrFull), errors.Is(err, store.ErrGone), errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrUnavailable):
		t.err.Store(&err)
	}
}

// A probe writes about as much as a large record, into a row of its own.
const (
	probeSink = "(probe)"
	probeSize = 64 << 10
)

// Trouble returns why nothing can be written at the moment, or nil. It checks that the file
// still exists. After a failed write it tries another write, to notice when the trouble is over.
func (s *Store) Trouble(ctx context.Context) error {
	if err := s.present(); err != nil {
		return err
	}
	if s.trouble.err.Load() == nil {
		return nil
	}
	err := s.do(ctx, func(ctx context.Context, ses *session) error {
		return ses.exec(ctx, `insert into cursor (sink, rev, holder, until) values ($1, 0, $2, 0) on conflict (sink) do update set holder = excluded.holder`,
			probeSink, strings.Repeat("-", probeSize))
	})
	if err == nil {
		err = s.do(ctx, func(ctx context.Context, ses *session) error {
			return ses.exec(ctx, `delete from cursor where sink = $1`, probeSink)
		})
	}
	s.trouble.note(err)
	if s.Dialect.Local && errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrFile) { // such as a database that another program keeps locked
		err = fmt.Errorf("%w: %w", store.ErrFile, err)
	}
	return err
}

// present returns an error if the database is no longer the one that was opened, or is damaged.
// Writes to a deleted file are lost when the process ends.
func (s *Store) present() error {
	if s.Present == nil {
		return nil
	}
	err := s.Present()
	if err != nil && !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrGone) {
		return fmt.Errorf("%w: %w", store.ErrGone, err)
	}
	return err
}
