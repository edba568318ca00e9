package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// trouble is why the last write failed, if it was the disk's or the database's
// fault: what concerns all writes to come.
type trouble struct{ err atomic.Pointer[error] }

// note keeps or clears the trouble after a write.
func (t *trouble) note(err error) {
	switch {
	case err == nil:
		t.err.Store(nil)
	case errors.Is(err, store.ErrFull), errors.Is(err, store.ErrGone), errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrUnavailable):
		t.err.Store(&err)
	}
}

// A probe writes as much as a large record, in a row of its own.
const (
	probeSink = "(probe)"
	probeSize = 64 << 10
)

// Trouble says why nothing can be written at the moment, or nil. It looks whether
// the file is still there, and after a write that failed it tries another one, so
// that trouble that has passed is found to have passed.
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
	return err
}

// present reports that the database is no longer the one that was opened, or is damaged.
// What is written to a file that has been deleted is lost when the process ends.
func (s *Store) present() error {
	if s.Present == nil {
		return nil
	}
	err := s.Present()
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return fmt.Errorf("%w: %w", store.ErrGone, err)
	}
	return err
}
