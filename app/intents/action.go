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
	// Do carries the step out. It may be repeated, so it must accept that its result
	// exists already. Repeated reports whether an earlier attempt may have come this
	// far.
	Do func(ctx context.Context) error
	// Undo undoes what Do did or may have done; nil: there is nothing to undo. It may
	// be repeated.
	Undo func(ctx context.Context) error
	// Notes says that the details, with what Do has noted in them, are stored before
	// the next step begins. It is for data without which the step cannot be undone
	// later, such as an ID that another system chose.
	Notes bool
}

// Plan is how an action is carried out: its steps, and then one unit of work in our
// store.
type Plan struct {
	Steps []Step
	// Open is called in the commit that stores the intent. It returns an error if the
	// state that the details depend on has changed since, because an earlier action may
	// have changed it; nil: no step depends on such a state.
	Open func(ctx context.Context, r store.Reader) error
	// Close writes to our store in the commit that closes the intent; nil: it writes
	// nothing. If it returns a refusal, the steps are undone. It may run more than
	// once.
	Close func(ctx context.Context, w store.Writer) error
	// Told returns the payload about the result, which the closing commit stores
	// unencrypted, for events and for the list of intents: no key, no secret; nil: no
	// payload.
	Told func() any
	// Did is what happened to the main subject, for the audit trail; "": the records
	// that Close writes show it.
	Did store.Op
	// Known returns the ID by which other systems know the main subject after the
	// action; nil or "": the ID with which the action began.
	Known func() string
	// Back says that the action is undone, rather than finished later, if its caller
	// cannot get the result: for example the creation of a key, which is shown only
	// once.
	Back bool
	// Over is for forced actions: an open intent about the main subject that fails once
	// more is given up, rather than waited for.
	Over bool
	// text returns the current details, encoded.
	text func() ([]byte, error)
}

// Action is a kind of change that callers can run. D is the details that its steps use;
// they are stored encrypted, as JSON.
type Action[D any] struct {
	Name string // constant, because stored intents refer to it
	// Plan returns the plan. Steps may store their results in d, for later steps and
	// for the caller. Only the original details are stored with the intent, unless a
	// step has Notes.
	Plan func(org tenant.ID, d *D) Plan
}

// plan returns the plan, with the function that encodes its details.
func (a Action[D]) plan(org tenant.ID, d *D) Plan {
	p := a.Plan(org, d)
	p.text = func() ([]byte, error) { return json.Marshal(d) }
	return p
}

// carrier makes a Plan of encoded details, for any type of Action.
type carrier func(org tenant.ID, details []byte) (Plan, error)

// Runner runs one kind of action.
type Runner[D any] struct {
	s      *Service
	action Action[D]
}

// Add registers an action, before the service runs.
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
// failed. If the step was refused, the action has been undone. If a gateway was
// unreachable, the action is finished or undone later. An action waits for earlier
// actions about its subject, or about one of the subjects in also.
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
	// The intent is stored, once no other one about the same subjects is open, unless
	// the plan refuses it then. After that, the first attempt is made.
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
	// The attempt continues if the caller is gone: otherwise it would have to be
	// resumed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.s.Budget)
	defer cancel()
	attempt := run{Service: r.s, scope: scope, in: in, plan: plan, gone: gone}
	return attempt.forward(ctx)
}

type repeatedKey struct{}

// Repeated reports whether an earlier attempt may have carried out the step already:
// then a missing object may be missing because of that attempt.
func Repeated(ctx context.Context) bool {
	again, _ := ctx.Value(repeatedKey{}).(bool)
	return again
}
