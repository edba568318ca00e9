package notifytest_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/notify/notifytest"
)

// list is a minimal sink: the suite requires no more than this.
type list struct {
	mu   sync.Mutex
	down bool
	got  []signal.Signal
}

func (*list) Name() string { return "list" }

func (l *list) Deliver(ctx context.Context, as []notify.Announcement) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return errors.New("away")
	}
	for _, a := range as {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.got = append(l.got, a.Signal)
	}
	return nil
}

func (l *list) set(down bool) func() {
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.down = down
	}
}

func TestSimplestSink(t *testing.T) {
	notifytest.Run(t, func(testing.TB) notifytest.Rig {
		l := &list{}
		received := func() []signal.Signal {
			l.mu.Lock()
			defer l.mu.Unlock()
			return slices.Clone(l.got)
		}
		return notifytest.Rig{Sink: l, Received: received, Down: l.set(true), Up: l.set(false)}
	})
}
