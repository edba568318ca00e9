package intents

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/app/lease"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Bounds of concurrent attempts.
const (
	workers = 8
	share   = 2 // workers that one organisation may occupy
	every   = time.Second
)

// Run resumes intents while this process holds the lease, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	if s.turn == nil {
		s.resume(ctx, ctx)
		return ctx.Err()
	}
	return s.turn.Run(ctx, func(run, held context.Context, _ *lease.Holding) { s.resume(run, held) })
}

// Quit ends resuming for good, so that another process continues.
func (s *Service) Quit(ctx context.Context) error {
	return s.turn.Quit(ctx)
}

// resume resumes intents that are due, until ctx ends. Attempts in progress are
// cancelled when held ends.
func (s *Service) resume(ctx, held context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	b := busy{ids: map[string]bool{}, orgs: map[tenant.ID]int{}}
	for ctx.Err() == nil {
		var due []intent.Intent // those that wait for an attempt
		err := s.tools.Store.View(ctx, tenant.Everyone(Operation), func(r store.Reader) error {
			due = nil
			for v, err := range kind.Find(ctx, r, store.Query{Index: byPhase, Value: active}) {
				if err != nil {
					return err
				}
				if s.free(v.Value).Due(s.now()) {
					due = append(due, v.Value)
				}
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			s.complain("open intents cannot be read; trying again", err)
		}
		for _, in := range due {
			if !b.take(in) {
				continue
			}
			all.Go(func() {
				defer b.back(in)
				if err := s.again(held, in); !elsewhere(err) {
					s.complain("an intent cannot be resumed; trying again", err)
				}
			})
		}
		_ = retry.Sleep(ctx, every)
	}
}

// busy has the intents that this process is resuming.
type busy struct {
	mu   sync.Mutex
	ids  map[string]bool
	orgs map[tenant.ID]int
}

func (b *busy) take(in intent.Intent) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ids[in.ID] || len(b.ids) >= workers || b.orgs[in.OrgID] >= share {
		return false
	}
	b.ids[in.ID] = true
	b.orgs[in.OrgID]++
	return true
}

func (b *busy) back(in intent.Intent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.ids, in.ID)
	if b.orgs[in.OrgID]--; b.orgs[in.OrgID] == 0 {
		delete(b.orgs, in.OrgID)
	}
}

// free lets go of what a process held that cannot live any more.
func (s *Service) free(in intent.Intent) intent.Intent {
	if s.Alone && in.Holder != s.Holder {
		return in.Released()
	}
	return in
}

// again makes another attempt at an intent, attributed to its original caller.
func (s *Service) again(ctx context.Context, in intent.Intent) (err error) {
	scope, err := tenant.Of(in.OrgID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Budget)
	defer cancel()
	ctx = store.Request(store.Attribute(ctx, store.Attribution(in.By)))
	if in, err = s.claim(ctx, scope, in); err != nil {
		return err
	}
	r := run{Service: s, scope: scope, in: in}
	defer func() {
		if p := recover(); p != nil { // it would end the process, now and after each start
			s.log.Error("an intent panics", "id", in.ID, "org_id", string(in.OrgID), "action", in.Action, "stack", string(debug.Stack()))
			err = r.later(ctx, errors.New("a step panics; see the log"))
		}
	}()
	if r.plan, err = s.planOf(in); err != nil {
		return r.later(ctx, err)
	}
	if in.State == intent.Open && r.plan.Back {
		return r.back(ctx, len(r.plan.Steps), errors.New("its caller was not told that it is done"))
	}
	ctx = context.WithValue(ctx, repeatedKey{}, true)
	if in.State == intent.Undoing {
		return r.undo(ctx)
	}
	if err := r.forward(ctx); err != nil {
		s.log.Info("an intent is still open", "id", in.ID, "org_id", string(in.OrgID), "action", in.Action, "error", err)
	}
	return nil
}

// claim takes an intent for this process, if it is free.
func (s *Service) claim(ctx context.Context, scope tenant.Scope, in intent.Intent) (intent.Intent, error) {
	_, err := s.tools.Store.Update(bookkeeping(ctx), scope, func(w store.Writer) (err error) {
		in, err = kind.Edit(ctx, w, in.ID, nil, func(now intent.Intent) (intent.Intent, error) {
			if now.State != in.State {
				return now, errLost
			}
			if err := s.free(now).Free(s.now()); err != nil {
				return now, err
			}
			return s.held(now), nil
		})
		return err
	})
	return in, err
}

func (s *Service) planOf(in intent.Intent) (Plan, error) {
	make, ok := s.actions[in.Action]
	if !ok {
		return Plan{}, fmt.Errorf("this program does not know the action %q", in.Action)
	}
	text, _, err := s.keys.Open(in.Details)
	if err != nil {
		return Plan{}, err
	}
	return make(in.OrgID, []byte(text))
}

// settle makes an attempt at the open intent about a subject, if it is free and not in
// helped. With over, it gives up an intent in helped. For that, a short attempt is
// enough, and an attempt of another process counts as well. later is the time until the
// next attempt at an intent in helped that is free.
func (s *Service) settle(ctx context.Context, scope tenant.Scope, subject string, helped map[string]bool, over bool) (later time.Duration, err error) {
	var in intent.Intent
	err = s.tools.Store.View(ctx, scope, func(r store.Reader) error {
		v, err := kind.ByKey(ctx, r, bySubject, subject)
		in = v.Value
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		return 0, nil
	}
	if err != nil || s.free(in).Busy(s.now()) {
		helped[in.ID] = helped[in.ID] || over
		return 0, err
	}
	switch {
	case !helped[in.ID]:
		helped[in.ID] = true
		budget := s.Budget
		if over {
			budget = s.Wait
		}
		attempt, cancel := context.WithTimeout(context.WithoutCancel(ctx), budget)
		err = s.again(attempt, in)
		cancel()
	case over:
		_, err = s.tools.Store.Update(bookkeeping(ctx), scope, func(w store.Writer) error {
			_, err := kind.Edit(ctx, w, in.ID, nil, func(i intent.Intent) (intent.Intent, error) {
				if err := s.free(i).Free(s.now()); err != nil {
					return i, err
				}
				return i.On(intent.GiveUp, s.now(), "a change that is forced takes its place")
			})
			return err
		})
	default:
		later = in.Next.Sub(s.now())
	}
	if elsewhere(err) {
		return 0, nil
	}
	return later, err
}

// elsewhere reports whether another process carried out or closed the intent meanwhile.
func elsewhere(err error) bool {
	return errors.Is(err, errLost) || fault.KindOf(err) == fault.Conflict || fault.KindOf(err) == fault.NotFound
}

// Status is the number of intents of all organisations.
type Status struct {
	Active int       // being carried out, or waiting for it
	Rest   int       // waiting for an operator
	Oldest time.Time // creation of the oldest active one; zero: none
}

// Status counts intents.
func (s *Service) Status(ctx context.Context) (out Status, err error) {
	err = s.tools.Store.View(ctx, tenant.Everyone(Operation), func(r store.Reader) (err error) {
		out = Status{}
		for v, err := range kind.Find(ctx, r, store.Query{Index: byPhase, Value: active}) {
			if err != nil {
				return err
			}
			if out.Active++; out.Oldest.IsZero() || v.Value.Created.Before(out.Oldest) {
				out.Oldest = v.Value.Created
			}
		}
		out.Rest, err = r.Count(ctx, store.Query{Kind: intent.Kind, Index: byPhase, Value: rests})
		return err
	})
	return out, err
}
