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

// Fault codes of steps.
const (
	CodeRefused = "portal_access.refused" // the dashboard or the identity provider refuses
	CodeAway    = "portal_access.away"    // it is unavailable, or its answer is unusable
)

// Explain converts an error of a dashboard into a fault for sagas: a refusal is permanent, any
// other error may go away. Its texts contain no keys. The result still wraps dashboard.ErrGone,
// for steps that accept missing objects.
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

// unsent marks the error of a step whose only write is one call that could not connect: the
// step has done nothing, so that it need not be undone, and later sagas need not wait for the
// undo.
func unsent(err error) error {
	if !errors.Is(err, dashboard.ErrUnsent) {
		return err
	}
	return silent{err, gateway.ErrUnreachable}
}

// silent is a fault for a request that was not sent, together with the marker error.
type silent struct {
	error
	says error
}

func (s silent) Unwrap() []error { return []error{s.error, s.says} }

// Share returns a context for checking one of several places: it ends after an equal share of
// the caller's time, so that a slow place is reported as unavailable, and the others are still
// checked.
func Share(ctx context.Context, places int) (context.Context, context.CancelFunc) {
	end, bounded := ctx.Deadline()
	if !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)/time.Duration(max(places, 1)))
}

// missing is the fault for an object that a dashboard does not have.
type missing struct{ fault *fault.Error }

func (m missing) Error() string   { return m.fault.Error() }
func (m missing) Unwrap() []error { return []error{m.fault, dashboard.ErrGone} }

// goneFine runs a step that succeeds even if its object or its dashboard is gone.
func goneFine(do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := do(ctx); !errors.Is(err, dashboard.ErrGone) && fault.KindOf(err) != fault.NotFound {
			return err
		}
		return nil
	}
}

// lessFine is a step that changes a credential. It succeeds if the key is gone, when the
// credential only loses access.
func lessFine(g *Grant, s intents.Step) intents.Step {
	if !g.Grows {
		s.Do, s.Undo = goneFine(s.Do), goneFine(s.Undo)
	}
	return s
}
