package sql

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// When texts without a row are removed.
const (
	sweepEvery = 10 * time.Minute
	sweepAge   = 10 * time.Minute // a unit of another process may still take a younger text
	sweepTexts = 64               // texts that are looked up at once
	sweepParts = 16               // parts that are removed in one transaction
)

// sweeper removes long texts that no row refers to: old texts of changed or deleted
// rows, texts stored ahead for a unit of work that did not take them, and texts of a
// process that ended before it could.
type sweeper struct {
	sweeping sync.Mutex
	now      chan struct{}

	mu    sync.Mutex
	ahead map[string]bool // texts that this process has stored ahead; false: no unit will take the text any more
}

// done marks a text that has been taken, or will not be.
func (w *sweeper) done(t *longText) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.taken {
		delete(w.ahead, t.name)
		return
	}
	w.ahead[t.name] = false
	w.wake()
}

// wake makes the sweeper run soon.
func (w *sweeper) wake() {
	select {
	case w.now <- struct{}{}:
	default:
	}
}

// sweeps runs the sweeper whenever there may be something to remove. Texts of an ended
// process are removed at once if no other process can exist.
func (s *Store) sweeps() {
	age := sweepAge
	if s.Alone {
		age = 0
	}
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := s.sweep(s.ctx, age); err != nil && s.ctx.Err() == nil {
			s.Logger.Debug("long texts that no row names are removed later", "error", err)
		} else {
			age = sweepAge
		}
		select {
		case <-s.ctx.Done():
			return
		case <-s.sweeper.now:
		case <-tick.C:
		}
	}
}

// sweep removes texts that no row refers to, a few parts per transaction, so that
// writers do not wait long. Texts that a unit may still take stay until they are older
// than age.
func (s *Store) sweep(ctx context.Context, age time.Duration) error {
	s.sweeper.sweeping.Lock()
	defer s.sweeper.sweeping.Unlock()
	do := s.apart(tenant.Scope{})
	var unwanted []string // texts that no unit of this process will take any more
	s.sweeper.mu.Lock()
	for name, wanted := range s.sweeper.ahead {
		if !wanted {
			unwanted = append(unwanted, name)
		}
	}
	s.sweeper.mu.Unlock()
	for _, name := range unwanted {
		if _, err := do(ctx, `update long_text set state = 2 where name = $1 and state = 0`, name); err != nil {
			return err
		}
		s.sweeper.mu.Lock()
		delete(s.sweeper.ahead, name)
		s.sweeper.mu.Unlock()
	}
	for last, more := "", true; more; {
		var names []string
		if err := each(ctx, s.Readers, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			names = append(names, name)
			return err
		}, `select name from long_text where state <> 1 and (state = 2 or at <= `+s.Dialect.Now+` - $1) and name > $2 order by name limit $3`,
			age.Milliseconds(), last, sweepTexts); err != nil {
			return err
		}
		for _, last = range names {
			s.sweeper.mu.Lock()
			wanted := s.sweeper.ahead[last]
			s.sweeper.mu.Unlock()
			if wanted {
				continue
			}
			if err := s.remove(ctx, do, last); err != nil {
				return err
			}
		}
		more = len(names) == sweepTexts
	}
	return nil
}

// remove removes a text, unless a unit has taken it in the meantime.
func (s *Store) remove(ctx context.Context, do run, name string) error {
	n, err := do(ctx, `update long_text set state = 2 where name = $1 and state <> 1`, name)
	for n > 0 && err == nil {
		n, err = do(ctx, `delete from long_part where name = $1 and n in (select n from long_part where name = $1 order by n limit $2)`, name, sweepParts)
	}
	if err == nil {
		_, err = do(ctx, `delete from long_text where name = $1 and state = 2`, name)
	}
	return err
}
