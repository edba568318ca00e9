package upgrade_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// dying is a store that takes a number of commits and then none, like that of a process that dies.
type dying struct {
	db
	left int
}

func (d *dying) Update(ctx context.Context, s tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	if d.left--; d.left < 0 {
		return 0, errors.New("dead")
	}
	return d.db.Update(ctx, s, fn)
}

// TestToldAfterInterruption: wherever an upgrade of two organisations was interrupted, gateways
// are told of all that it has changed at the next start, also when that start cannot upgrade
// what is left; and at no start after it.
func TestToldAfterInterruption(t *testing.T) {
	for commits := 1; ; commits++ {
		w := newWorld(t, memory(t))
		w.policy("a", `{"_id":"0000000000000000000000f1","name":"first","org_id":"a"}`)
		w.policy("b", `{"_id":"0000000000000000000000f4","name":"fourth","org_id":"b"}`)
		w.policy("c", `{"_id":"0000000000000000000000f2","name":"stays","org_id":"c"}`)
		w.update("c", func(wr store.Writer) error { // its id is the one that the policy above is to get
			p, err := policy.Load([]byte(`{"_id":"0000000000000000000000f3","id":"0000000000000000000000f2","name":"chosen","org_id":"c"}`))
			if err != nil {
				return err
			}
			return policies.Kind.Insert(t.Context(), wr, p)
		})
		_, died := w.service(&dying{w.db, commits}).Run(t.Context())
		if _, err := w.service(w.db).Run(t.Context()); err != nil {
			t.Fatal(commits, err)
		}
		if told := w.told(); !slices.Equal(told, []string{"GroupReload "}) {
			t.Errorf("after %d commits: %q", commits, told)
		}
		w.start, _ = w.db.Head(t.Context())
		if _, err := w.service(w.db).Run(t.Context()); err != nil || len(w.told()) > 0 {
			t.Errorf("after %d commits, at a later start: %v %q", commits, err, w.told())
		}
		if head, _ := w.db.Head(t.Context()); head != w.start {
			t.Error("a start without work writes")
		}
		if died == nil {
			break
		}
	}
}
