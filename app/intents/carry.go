package intents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// outcome is what a failed step means for the intent.
type outcome int

const (
	refused   outcome = iota // a retry is useless; the step has done nothing
	untouched                // a retry may succeed; the step has done nothing
	unsure                   // a retry may succeed; the step may be done
)

func outcomeOf(err error) outcome {
	switch {
	case errors.Is(err, gateway.ErrUnreachable):
		return untouched
	case errors.Is(err, gateway.ErrUncertain), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return unsure
	case errors.Is(err, gateway.ErrRefused), errors.Is(err, gateway.ErrUnknown), errors.Is(err, gateway.ErrForeign), errors.Is(err, gateway.ErrTaken):
		return refused
	}
	if k := fault.KindOf(err); k == fault.Internal || k == fault.Unavailable {
		return unsure
	}
	return refused
}

// run is one attempt at an intent.
type run struct {
	*Service
	scope tenant.Scope
	in    intent.Intent
	plan  Plan
	// gone returns an error if the caller does not wait for the result any more; nil:
	// the attempt has no caller.
	gone func() error
}

// Settled returns when no action about a subject is open. A caller that reads the
// subject in another system must call it first, because an open action may still be
// undone.
func (s *Service) Settled(ctx context.Context, scope tenant.Scope, about intent.Subject) error {
	value := subject(about)
	return s.inTurn(ctx, scope, []intent.Subject{about}, false, func() error {
		return s.tools.Store.View(ctx, scope, func(r store.Reader) error {
			_, err := kind.ByKey(ctx, r, bySubject, value)
			switch {
			case fault.KindOf(err) == fault.NotFound:
				return nil
			case err == nil:
				err = &store.TakenError{Index: bySubject, Value: value}
			}
			return err
		})
	})
}

// inTurn calls try until no other intent about one of the subjects is open. Each open
// intent that waits for an attempt gets one attempt, because more attempts would not
// help with a provider that fails. With over, an open intent about the first subject is
// given up after that attempt, so that a provider that never responds does not block a
// forced action. If the next attempt of an open intent is later than inTurn may wait,
// it returns a Conflict fault.
func (s *Service) inTurn(ctx context.Context, scope tenant.Scope, about []intent.Subject, over bool, try func() error) error {
	end := time.Now().Add(s.Wait)
	if over { // a forced action also waits for an attempt in progress
		end = end.Add(s.Budget)
	}
	pause := retry.New(10*time.Millisecond, 200*time.Millisecond)
	helped := map[string]bool{}
	for {
		err := try()
		taken, ok := errors.AsType[*store.TakenError](err)
		if !ok || taken.Index != bySubject {
			return err
		}
		later, err := s.settle(ctx, scope, taken.Value, helped, over && taken.Value == subject(about[0]))
		if err != nil {
			return err
		}
		if left := time.Until(end); left <= 0 || later > left {
			what := slices.IndexFunc(about, func(v intent.Subject) bool { return subject(v) == taken.Value })
			return fault.New(fault.Conflict, intent.CodeBusy, "another change of the same %s is open; see GET /api/gateway/intents", about[max(what, 0)].Kind).Because(taken)
		}
		if err := pause.Wait(ctx); err != nil {
			return err
		}
	}
}

// bookkeeping returns a context for commits that the audit trail leaves out: the trail
// has the commit that closes the intent, or else the refusal of the call.
func bookkeeping(ctx context.Context) context.Context {
	return store.Request(store.Attribute(ctx, store.Attribution{Actor: Operation, Operation: Operation}))
}

// forward carries out the steps, and closes the intent.
func (r *run) forward(ctx context.Context) error {
	for i, step := range r.plan.Steps {
		if err := step.Do(ctx); err != nil {
			return r.failed(ctx, i, err)
		}
		if !step.Notes {
			continue
		}
		if err := r.write(bookkeeping(ctx), func(in intent.Intent) (intent.Intent, error) { return in, nil }); err != nil {
			return r.failed(ctx, i+1, err)
		}
	}
	var err error
	if r.plan.Back && r.gone != nil {
		err = r.gone()
	}
	if err == nil {
		err = r.close(ctx, intent.Succeed, nil)
	}
	if err != nil {
		return r.failed(ctx, len(r.plan.Steps), err)
	}
	return nil
}

// failed decides how the intent continues after step i has failed.
func (r *run) failed(ctx context.Context, i int, cause error) error {
	what := outcomeOf(cause)
	did := i // number of steps that may be done
	switch {
	case r.gone == nil: // an earlier attempt may have come further
		did = len(r.plan.Steps)
	case what == unsure:
		did = min(i+1, len(r.plan.Steps))
	}
	var err error
	switch {
	case what == refused || r.plan.Back || did == 0:
		err = r.back(ctx, did, cause)
	default:
		err = r.later(ctx, cause)
	}
	r.complain("an intent cannot be written down; it is resumed later", err)
	return cause
}

// back undoes the first n steps, the last one first. If none of them has an Undo, the
// intent is closed at once.
func (r *run) back(ctx context.Context, n int, cause error) error {
	if !slices.ContainsFunc(r.plan.Steps[:n], func(s Step) bool { return s.Undo != nil }) {
		return r.close(ctx, intent.Refuse, cause)
	}
	err := r.write(bookkeeping(ctx), func(in intent.Intent) (intent.Intent, error) {
		in, err := in.On(intent.Return, r.now(), cause.Error())
		in.Undo = n
		return in, err
	})
	if err != nil {
		return err
	}
	return r.undo(ctx)
}

// undo undoes the steps, and closes the intent.
func (r *run) undo(ctx context.Context) error {
	for _, step := range slices.Backward(r.plan.Steps[:min(r.in.Undo, len(r.plan.Steps))]) {
		if step.Undo == nil {
			continue
		}
		if err := step.Undo(ctx); err != nil {
			r.log.Warn("a step of an intent cannot be undone", "id", r.in.ID, "org_id", string(r.in.OrgID), "action", r.in.Action, "step", step.Name, "error", err)
			if outcomeOf(err) == refused {
				return r.close(ctx, intent.Refuse, err)
			}
			return r.later(ctx, err)
		}
	}
	return r.close(ctx, intent.Succeed, errors.New(r.in.Error))
}

// close closes the intent. The audit trail gets only the commit of a successful intent:
// it has a record of every refused call anyway.
func (r *run) close(ctx context.Context, e intent.Event, cause error) error {
	ending := ctx
	var told json.RawMessage
	done := r.in.State == intent.Open && e == intent.Succeed
	if !done {
		ending = bookkeeping(ctx)
	} else if r.plan.Told != nil {
		var err error
		if told, err = json.Marshal(r.plan.Told()); err != nil {
			return err
		}
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ending), writeTime)
	defer cancel()
	return r.edit(ending, func(in intent.Intent) (intent.Intent, error) {
		why := ""
		if cause != nil {
			why = cause.Error()
		}
		if done {
			in.Told, in.Did = told, string(r.plan.Did)
			if r.plan.Known != nil { // the ID by which other systems know the subject
				in.Subject.ID = cmp.Or(r.plan.Known(), in.Subject.ID)
			}
		}
		return in.On(e, r.now(), why)
	}, done)
}

// later stores the failure, so that the intent is resumed later.
func (r *run) later(ctx context.Context, cause error) error {
	return r.write(bookkeeping(ctx), func(in intent.Intent) (intent.Intent, error) {
		in = in.Later(r.now(), cause.Error(), intent.Pause(in.Attempts+1, rand.Float64()))
		if in.State.Rests() {
			r.log.Error("an intent rests: none of the attempts went through", "id", in.ID, "org_id", string(in.OrgID), "action", in.Action, "error", in.Error)
		}
		return in, nil
	})
}

// writeTime is the timeout of storing the result of an attempt, also at the end.
const writeTime = 5 * time.Second

// write stores the intent with its current details, because a step may have noted
// something in them.
func (r *run) write(ctx context.Context, fn func(intent.Intent) (intent.Intent, error)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	sealed := r.in.Details // the stored details remain if there is no plan or no step has Notes
	if slices.ContainsFunc(r.plan.Steps, func(s Step) bool { return s.Notes }) {
		text, err := r.plan.text()
		if err != nil {
			return err
		}
		if sealed, err = r.keys.Seal(string(text)); err != nil {
			return err
		}
	}
	return r.edit(ctx, func(in intent.Intent) (intent.Intent, error) {
		in.Details = sealed
		return fn(in)
	}, false)
}

// errLost means that another process has taken over the intent, or that an operator has
// closed it.
var errLost = fault.New(fault.Unavailable, intent.Kind+".lost", "the change is carried out by another process; look at it again")

// edit changes the intent if this process still holds it. With done, it also writes
// what the plan's Close writes.
func (r *run) edit(ctx context.Context, fn func(intent.Intent) (intent.Intent, error), done bool) error {
	var now intent.Intent
	_, err := r.tools.Store.Update(ctx, r.scope, func(w store.Writer) (err error) {
		now, err = kind.Edit(ctx, w, r.in.ID, nil, func(in intent.Intent) (intent.Intent, error) {
			if in.Holder != r.in.Holder || !in.Until.Equal(r.in.Until) || in.State != r.in.State {
				return in, errLost
			}
			return fn(in)
		})
		if err == nil && done {
			err = r.supersede(ctx, w)
		}
		if err == nil && done && r.plan.Close != nil {
			err = r.plan.Close(ctx, w)
		}
		return err
	})
	if err == nil {
		r.in = now
	}
	return err
}

// supersede gives up resting intents about the same subjects: a retry would restore an
// older state.
func (r *run) supersede(ctx context.Context, w store.Writer) error {
	old := map[string]bool{}
	for _, about := range r.in.Subjects() {
		for v, err := range kind.Find(ctx, w, store.Query{Index: byResting, Value: subject(about)}) {
			if err != nil {
				return err
			}
			old[v.Value.ID] = true
		}
	}
	for id := range old {
		if _, err := kind.Edit(ctx, w, id, nil, func(i intent.Intent) (intent.Intent, error) {
			return i.On(intent.GiveUp, r.now(), "a later change of the same subject is done")
		}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) complain(what string, err error) {
	if err != nil {
		s.log.Warn(what, "error", err)
	}
}
