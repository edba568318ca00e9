package store

import (
	"context"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// HeldByOthers reports whether another organisation than own has a record of the kind with one
// of the values in the index. It asks in a unit of work of its own, over everyone. A unit of
// work that asks while it runs may be ahead of that one: it may no longer have a record of its
// own organisation that is still there for others. So records of own never count.
func HeldByOthers(ctx context.Context, st Store, own tenant.ID, everyone tenant.Scope, kind, index string, values ...string) (bool, error) {
	held := false
	ask := func(r Reader) error {
		for _, value := range values {
			if strings.ContainsRune(value, 0) { // which no store could look for
				continue
			}
			for rec, err := range r.Scan(ctx, Query{Kind: kind, Index: index, Value: value}) {
				if err != nil {
					return err
				}
				if held = rec.Org != own; held {
					return nil
				}
			}
		}
		return nil
	}
	if len(values) == 0 {
		return false, nil
	}
	err := st.View(ctx, everyone, ask)
	return held && err == nil, err
}
