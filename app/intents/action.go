package intents

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Step is one part of an action.
type Step struct {
	Name string
	// Do carries the step out. It can be repeated: what is there already is fine.
	// Repeated tells whether an earlier attempt may have come this far.
	Do func(ctx context.Context) error
	// Undo takes back what Do did or may have done; nil: there is nothing to take back.
	// It can be repeated.
	Undo func(ctx context.Context) error
	// Notes says that what Do notes in the details is stored before the next step begins:
	// an identifier that others chose, say, without which nothing can be undone later.
	Notes bool
}

// Plan is how an action is carried out: its steps, and then one unit of work of ours.
type Plan struct {
	Steps []Step
	// Open refuses, in the commit that stores the intent, what is not any more as it was when
	// the details were made: an action before this one may have changed it; nil: it matters
	// to no step.
	Open func(ctx context.Context, r store.Reader) error
	// Close writes to our store in the commit that closes the intent; nil: nothing. A
	// refusal undoes the steps. It may run more than once.
	Close func(ctx context.Context, w store.Writer) error
	// Told returns what the closing commit says in clear of what was done, for events of
	// receivers and for the list of intents: no key, no secret; nil: nothing.
	Told func() any
	// Did is what becomes of the main subject, for the audit trail; "": our own records, which
	// Close writes, say all.
	Did store.Op
	// Known returns by what others know the main subject once it is done; nil or "": as it
	// was named when the action began.
	Known func() string
	// Back undoes the action, rather than finish it later, when its caller could not be
	// told that it is done: of a key that is created, say, which is shown only once.
	Back bool
	// Over gives up what is open about the main subject after a further attempt at it has
	// failed, rather than wait for it: of what is forced.
	Over bool
	// text is the details as they are at this moment.
	text func() ([]byte, error)
}

// Action is something that can be asked for. D is what its steps are made of; it is stored
// encrypted, as JSON.
type Action[D any] struct {
	Name string // constant: intents that are open name it
	// Plan makes the plan. Steps may note in d what they find out, for later steps and
	// for the caller; only what was there at first is stored, unless a step says that it notes.
	Plan func(org tenant.ID, d *D) Plan
}

// plan makes the plan, which can write its details down.
func (a Action[D]) plan(org tenant.ID, d *D) Plan {
	p := a.Plan(org, d)
	p.text = func() ([]byte, error) { return json.Marshal(d) }
	return p
}

// carrier is an Action for those who do not know its type.
type carrier func(org tenant.ID, details []byte) (Plan, error)

// Runner carries out one sort of action.
type Runner[D any] struct {
	s      *Service
	action Action[D]
}

// Add makes an action known, before the service runs.
func Add[D any](s *Service, a Action[D]) Runner[D] {
	if _, known := s.actions[a.Name]; known {
		panic(fmt.Sprintf("intents: the action %q is known already", a.Name))
	}
	s.actions[a.Name] = func(org tenant.ID, details []byte) (Plan, error) {
		d := new(D)
		if err := json.Unmarshal(details, d); err != nil {
			return Plan{}, fmt.Errorf("details of %s: %w", a.Name, err)
		}
		return a.plan(org, d), nil
	}
	return Runner[D]{s, a}
}

// Run carries out the action in one organisation. The error is that of the step that
// failed: when the step was refused, nothing is left of the action; when a gateway was
// away, the action is finished or undone later. An action about a subject waits for the
// one before it; so does one that has to do with others also.
func (r Runner[D]) Run(ctx context.Context, scope tenant.Scope, about intent.Subject, d *D, also ...intent.Subject) error {
	if store.Rehearsing(ctx) {
		return fmt.Errorf("intents: %s cannot be rehearsed: what its steps do is not undone with the rehearsal", r.action.Name)
	}
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	sealed, err := r.s.keys.Seal(string(text))
	if err != nil {
		return err
	}
	in := intent.Begin(r.s.tools.NewID(), scope.Org(), r.action.Name, about, intent.By(store.AttributionOf(ctx, scope)), r.s.now())
	in.Details, in.Also = sealed, also
	plan := r.action.plan(scope.Org(), d)
	// The intent is stored after those about the same subjects, unless the plan refuses it by
	// then, and the first attempt is made.
	err = r.s.inTurn(ctx, scope, in.Subjects(), plan.Over, func() error {
		in = r.s.held(in)
		_, err := r.s.tools.Store.Update(bookkeeping(ctx), scope, func(w store.Writer) error {
			if err := admit(ctx, w); err != nil {
				return err
			}
			err := kind.Insert(ctx, w, in)
			if err == nil && plan.Open != nil {
				err = plan.Open(ctx, w)
			}
			return err
		})
		return err
	})
	if err != nil {
		return err
	}
	gone := ctx.Err
	// The attempt goes on when the caller has gone: it would only have to be resumed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.s.Budget)
	defer cancel()
	attempt := run{Service: r.s, scope: scope, in: in, plan: plan, gone: gone}
	return attempt.forward(ctx)
}

type repeatedKey struct{}

// Repeated reports whether an earlier attempt may have done the step already: what is gone
// then may be gone because of it.
func Repeated(ctx context.Context) bool {
	again, _ := ctx.Value(repeatedKey{}).(bool)
	return again
}
