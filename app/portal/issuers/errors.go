package issuers

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// Codes of the faults of steps.
const (
	CodeRefused = "portal_access.refused" // the dashboard, or the identity provider, does not do it
	CodeAway    = "portal_access.away"    // it does not answer as it should
)

// Explain says in the words of sagas why a dashboard has not done something: what it
// refuses is refused for good, and all else may work later. Its texts name no key. Steps for
// which what is gone is fine still find dashboard.ErrGone in it.
func Explain(err error) error {
	switch {
	case errors.Is(err, dashboard.ErrGone):
		return missing{fault.New(fault.Invalid, CodeRefused, "%s", err.Error())}
	case errors.Is(err, dashboard.ErrRefused):
		return fault.New(fault.Invalid, CodeRefused, "%s", err.Error())
	}
	if err == nil || fault.KindOf(err) != fault.Internal {
		return err
	}
	f := fault.New(fault.Unavailable, CodeAway, "%s", err.Error())
	if errors.Is(err, dashboard.ErrUnsent) {
		return silent{f, dashboard.ErrUnsent}
	}
	return f
}

// unsent says of a step whose only write is one call that it has done nothing when there was no
// connection for it: there is nothing to undo then, for which the next ones would wait.
func unsent(err error) error {
	if !errors.Is(err, dashboard.ErrUnsent) {
		return err
	}
	return silent{err, gateway.ErrUnreachable}
}

// silent is the fault for what was not sent, with what says so.
type silent struct {
	error
	says error
}

func (s silent) Unwrap() []error { return []error{s.error, s.says} }

// Share returns a context for a look at one of several places: it ends when its part of the
// time of the caller is over, so that a place that keeps its callers waiting is told as being
// away, and the others are looked at.
func Share(ctx context.Context, places int) (context.Context, context.CancelFunc) {
	end, bounded := ctx.Deadline()
	if !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)/time.Duration(max(places, 1)))
}

// missing is the fault for what a dashboard does not have.
type missing struct{ fault *fault.Error }

func (m missing) Error() string   { return m.fault.Error() }
func (m missing) Unwrap() []error { return []error{m.fault, dashboard.ErrGone} }

// goneFine does something to what may be gone: at the dashboard, or with it.
func goneFine(do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := do(ctx); !errors.Is(err, dashboard.ErrGone) && fault.KindOf(err) != fault.NotFound {
			return err
		}
		return nil
	}
}

// lessFine is a step that changes a credential. One that is gone opens nothing of what it is
// to lose.
func lessFine(g *Grant, s intents.Step) intents.Step {
	if !g.Grows {
		s.Do, s.Undo = goneFine(s.Do), goneFine(s.Undo)
	}
	return s
}
