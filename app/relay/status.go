package relay

import (
	"log/slog"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Status is the state of a sink, as far as this process knows.
type Status struct {
	Holder   bool           // this process delivers to the sink
	Position store.Revision // delivered up to here, if Holder
	Lag      int            // commits that are not delivered yet, if Holder
	Error    string         // the current failure, or "": for operators, without secrets
	Since    time.Time      // of Error
}

// Status returns the state of the sink. It is safe for concurrent use and never waits.
func (r *Relay) Status() Status {
	s := Status{Holder: r.holding.Load()}
	if s.Holder {
		at, ahead := r.position.Load(), r.ahead.Load()
		s.Position, s.Lag = store.Revision(at), int(max(at, ahead)-at)
	}
	for _, t := range []*trouble{&r.sink, &r.gate, &r.changes, &r.lease} {
		t.mu.Lock()
		since, err := t.since, t.err
		t.mu.Unlock()
		if err != nil {
			s.Error, s.Since = err.Error(), since
			break
		}
	}
	return s
}

// trouble is a failure that may last for a while. Its beginning and its end are logged,
// but not every attempt in between.
type trouble struct {
	now  system.Clock
	log  *slog.Logger
	what string

	mu    sync.Mutex
	err   error
	since time.Time
}

func (t *trouble) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.since = t.now()
		t.log.Warn(t.what, "error", err)
	}
	t.err = err
}

func (t *trouble) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		t.log.Info("over: "+t.what, "after", t.now().Sub(t.since))
	}
	t.err = nil
}
