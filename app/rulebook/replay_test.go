package rulebook_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/rulebook"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// lenient allows every call.
type lenient struct{ rules.Workshop }

func (l lenient) Read(context.Context, tenant.ID, string) (rules.Candidate, error) { return l, nil }
func (lenient) Coverage() rules.Coverage                                           { return rules.Coverage{} }
func (lenient) ReadsBody() bool                                                    { return false }
func (lenient) Try(ctx context.Context, _ *operation.Call, _ bool) (rules.Trial, error) {
	return rules.Trial{}, ctx.Err()
}

// replaying returns a rulebook over a trail of n records of one user, every second of
// which is a refused call.
func replaying(t *testing.T, n int) (s *rulebook.Service, looked *int, ask func(context.Context, int) (rulebook.Replay, error)) {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := tenant.Of("org")
	if err != nil {
		t.Fatal(err)
	}
	looked = new(int)
	op := operation.Operation{Spec: operation.Spec{ID: "hooks.list", Surface: operation.Management, Method: "GET"}}
	s = rulebook.New(rulebook.Config{
		Identity: &identity.Service{Store: db}, Workshop: func() rules.Workshop { return lenient{} },
		Find: func(string, string) (*operation.Operation, map[string]string) { return &op, nil },
		Trail: func(_ context.Context, _ tenant.Scope, fn func(audit.Record) bool) error {
			for i := range n {
				*looked++
				r := audit.Record{ID: fmt.Sprint(i), Method: "GET", URL: "/api/hooks", Verdict: audit.Allowed, Actor: "somebody"}
				switch {
				case i%4 == 1 && n != refused: // a trial, which changes nothing
					r.Operation = "rules.evaluate"
				case i%2 == 1 || n == refused:
					r.Verdict = "auth.denied"
				}
				if !fn(r) {
					return nil
				}
			}
			return nil
		},
	})
	text := "package dashboard_users"
	return s, looked, func(ctx context.Context, last int) (rulebook.Replay, error) {
		return s.ReplayOf(ctx, scope, operation.Principal{Permissions: access.Map{string(access.IsAdmin): access.LevelAdmin}}, text, last)
	}
}

// refused is the number of records of a trail that has only refused calls.
const refused = rulebook.MaxLooked + 10

// The cost and the response of a replay are bounded, whatever the trail and the rules
// contain.
func TestReplaysAreBounded(t *testing.T) {
	_, looked, ask := replaying(t, 10*rulebook.MaxLooked)
	if out, err := ask(t.Context(), 10); err != nil || out.Writes != 10 || *looked != 19 || !out.Complete || out.LeftOut["no_user"] != 10 {
		t.Errorf("%+v %d %v", out, *looked, err)
	}
	_, looked, ask = replaying(t, 1500)
	if out, err := ask(t.Context(), 1000); err != nil || out.Writes != 750 || *looked != 1500 || !out.Complete {
		t.Errorf("%+v %d %v", out, *looked, err)
	}
	_, looked, ask = replaying(t, refused)
	if out, err := ask(t.Context(), 10); err != nil || out.Writes != 0 || *looked != rulebook.MaxLooked+1 || out.Complete {
		t.Errorf("%+v %d %v", out, *looked, err)
	}
	if _, err := ask(t.Context(), 1001); fault.KindOf(err) != fault.Invalid {
		t.Error(err)
	}
}

// When the time is up, the writes that were not evaluated are counted.
func TestReplaysEnd(t *testing.T) {
	s, _, ask := replaying(t, 20)
	s.Hurry()
	if out, err := ask(t.Context(), 10); err != nil || out.Replayed != 0 || out.LeftOut["no_time"] != 10 {
		t.Errorf("%+v %v", out, err)
	}
	s.Busy()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ask(gone, 10); fault.KindOf(err) != fault.Unavailable {
		t.Error("no place is left, and the caller goes:", err)
	}
}
