package portal

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// byScope is the index of records by OAuth scopes.
const byScope = "scope"

// ByScope finds records by their OAuth scopes, including hidden ones.
func ByScope[T table.Row[T]](of func(T) []string) store.Index[T] {
	return store.Index[T]{Name: byScope, Values: func(v T) (out []string) {
		if v.Table().Base(&v).DeletedAt.IsZero() {
			for _, s := range of(v) {
				out = append(out, store.Indexed(s))
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}}
}

// ScopesFree reports whether no other plan and no other product has one of the scopes:
// the permissions of a token must follow from its scopes.
func ScopesFree(ctx context.Context, r store.Reader, scopes []string, kind string, self table.ID) (bool, error) {
	for _, s := range scopes {
		for _, k := range []string{catalogue.PlanKind, catalogue.ProductKind} {
			for rec, err := range r.Scan(ctx, store.Query{Kind: k, Index: byScope, Value: store.Indexed(s)}) {
				if err != nil || k != kind || rec.ID != self.Key() {
					return false, err
				}
			}
		}
	}
	return true, nil
}
