// Package intents carries out changes that take more than one commit in our store. An
// action is stored as an intent before its first step and closed after its last one, so
// that neither a crash nor an unreachable gateway leaves it half done
// (docs/wire/intents.md).
package intents

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/lease"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Operation is the attribution of commits that are only bookkeeping. Audit trails leave
// these commits out.
const Operation = "intents"

// Settings says how intents are carried out. Fields with a default may be zero.
type Settings struct {
	Holder string        // unique name of this process among all that share the store
	TTL    time.Duration // how long a dead process keeps others from resuming; default 10 s
	Alone  bool          // no other process uses the store: intents of a dead process are free at once
	Budget time.Duration // how long one attempt may take; default 20 s
	Wait   time.Duration // how long a caller waits for an intent about the same subject; default 5 s
}

// Service stores and resumes intents. Make one with New.
type Service struct {
	Settings
	tools   crud.Tools
	keys    secret.Keys
	now     system.Clock
	log     *slog.Logger
	actions map[string]carrier
	turn    *lease.Lease // nil: the store belongs to one process
}

// New returns a service without actions.
func New(s Settings, t crud.Tools, keys secret.Keys) *Service {
	s.Budget = cmp.Or(s.Budget, 20*time.Second)
	s.Wait = cmp.Or(s.Wait, 5*time.Second)
	out := &Service{Settings: s, tools: t, keys: keys, now: t.Now, log: t.Log, actions: map[string]carrier{}}
	if leases, ok := t.Store.(store.Leases); ok {
		out.turn = lease.New(lease.Config{Leases: leases, Name: Operation, Holder: s.Holder, Logger: t.Log, TTL: s.TTL})
	}
	return out
}

// margin is how much longer an intent is held than an attempt may take, because clocks
// differ, and the last commit takes a moment.
const margin = 10 * time.Second

// held returns an intent as held by this process from now on.
func (s *Service) held(in intent.Intent) intent.Intent {
	return in.Held(s.Holder, s.now().Add(s.Budget+margin))
}

// The indexes of intents.
const (
	bySubject = "subject" // of active intents: all their subjects
	byPhase   = "phase"   // active, resting or closed
	byResting = "resting" // of resting intents: all their subjects
	byShown   = "shown"   // of intents that are not closed, sorted by creation
)

func when(is bool, value string) string {
	if is {
		return value
	}
	return ""
}

// The phases of intents.
const (
	active = "active"
	rests  = "resting"
	closed = "closed"
)

func phase(i intent.Intent) string {
	switch {
	case i.State.Active():
		return active
	case i.State.Rests():
		return rests
	}
	return closed
}

// subject returns the index value of a subject.
func subject(s intent.Subject) string { return store.Indexed(s.Kind + " " + s.ID) }

// subjects returns the index values of the subjects of an intent if is is true.
func subjects(i intent.Intent, is bool) (out []string) {
	for _, s := range i.Subjects() {
		if is {
			out = append(out, subject(s))
		}
	}
	return out
}

var kind = &store.Kind[intent.Intent]{
	Name: intent.Kind, Noun: "intent",
	ID:  func(i intent.Intent) string { return i.ID },
	Org: func(i intent.Intent) tenant.ID { return i.OrgID },
	Indexes: []store.Index[intent.Intent]{
		{Name: bySubject, Noun: "subject", Unique: true, Values: func(i intent.Intent) []string { return subjects(i, i.State.Active()) }},
		{Name: byResting, Values: func(i intent.Intent) []string { return subjects(i, i.State.Rests()) }},
		store.Lookup(byPhase, phase),
		store.Sorted(byShown, func(i intent.Intent) string {
			return when(!i.State.Closed(), i.Created.Format(time.RFC3339Nano))
		}),
	},
}

// Teller makes the events of finished intents, about changes in other systems, which
// our change log does not have.
type Teller struct {
	Names []string
	Of    func(done intent.Intent) []deliver.Event
}

// Registration returns the registration of the kind of intents.
func Registration(tellers ...Teller) crud.Registration {
	events := &crud.Events[intent.Intent]{Of: func(before, after *intent.Intent) (out []deliver.Event) {
		if before == nil || after == nil || before.State == after.State || after.State != intent.Done {
			return nil
		}
		for _, t := range tellers {
			out = append(out, t.Of(*after)...)
		}
		return out
	}}
	for _, t := range tellers {
		events.Names = append(events.Names, t.Names...)
	}
	return crud.Facts[intent.Intent]{
		Kind: kind, Events: events,
		Name:   func(i intent.Intent) string { return i.Action },
		Sealed: func(i *intent.Intent) *string { return &i.Details },
		Sample: func(at crud.Stamp) (intent.Intent, error) {
			return intent.Begin(at.ID, at.Org, "keys.update", intent.Subject{Kind: "key", ID: at.ID}, intent.By{Actor: "u", Operation: "keys.update"}, at.Now()), nil
		},
	}.Registration()
}

// admit refuses a new intent if an organisation has too many that are not closed. It
// deletes the oldest closed ones.
func admit(ctx context.Context, w store.Writer) error {
	n, err := w.Count(ctx, store.Query{Kind: intent.Kind, Index: byShown, Sorted: true})
	if err != nil {
		return err
	}
	if n >= intent.MaxOpen {
		return fault.New(fault.TooMany, intent.Kind+".full", "%d changes of gateways are open or have failed; retry or abandon them, see GET /api/gateway/intents", n)
	}
	over := store.Query{Kind: intent.Kind, Index: byPhase, Value: closed}
	n, err = w.Count(ctx, over)
	if err != nil || n <= intent.KeepClosed {
		return err
	}
	over.Limit = n - intent.KeepClosed
	var old []string
	for rec, err := range w.Scan(ctx, over) {
		if err != nil {
			return err
		}
		old = append(old, rec.ID)
	}
	for _, id := range old {
		if err := w.Delete(ctx, intent.Kind, id); err != nil {
			return err
		}
	}
	return nil
}
