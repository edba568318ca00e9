package policies

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/api/migrate"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Upgraded returns a policy with the changes of the migrations at start
// (docs/wire/start.md#what-a-start-brings-up-to-date), and reports whether there are
// any.
func Upgraded(p policy.Policy) (policy.Policy, bool, error) {
	n, err := p.Node()
	if err != nil || !migrate.UpgradePolicy(n) {
		return p, false, err
	}
	q, err := policy.Load(n.JSON())
	return q, err == nil, err
}

// Upgrade stores the upgraded form of a policy in a unit of work of its organisation,
// and reports whether it differs from the stored one.
func Upgrade(ctx context.Context, w store.Writer, id string) (bool, error) {
	for p, err := range Kind.Find(ctx, w, store.Query{ID: id, Limit: 1}) {
		if err != nil {
			return false, err
		}
		q, changed, err := Upgraded(p.Value)
		if err != nil || !changed {
			return false, err
		}
		err = Kind.Replace(ctx, w, q)
		return err == nil, err
	}
	return false, nil
}
