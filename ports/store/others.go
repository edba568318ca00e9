package store

import (
	"context"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// HeldByOthers reports whether another organisation than own has a record of the kind with one
// of the values in the index. It reads in a View of its own over all organisations. The
// caller's unit of work may have deleted a record of own that this View still sees, so records
// of own never count.
func HeldByOthers(ctx context.Context, st Store, own tenant.ID, everyone tenant.Scope, kind, index string, values ...string) (bool, error) {
	held := false
	ask := func(r Reader) error {
		for _, value := range values {
			if strings.ContainsRune(value, 0) { // no store can look for a NUL
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
