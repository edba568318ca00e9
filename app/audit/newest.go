package audit

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Newest calls fn with the records of an organisation, the newest first, until fn
// returns false or there are no more. All records come from one snapshot.
func (s *Service) Newest(ctx context.Context, scope tenant.Scope, fn func(audit.Record) bool) error {
	return s.reading(ctx, scope, func(r store.Reader) error {
		for v, err := range segments.Find(ctx, r, store.Query{Desc: true}) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			lines, err := v.Value.Lines()
			if err != nil {
				continue // verification reports the damage; the other records can be read
			}
			for _, l := range slices.Backward(slices.Collect(lines)) {
				var rec audit.Record
				if json.Unmarshal(l, &rec) == nil && rec.OrgID == scope.Org() && !fn(rec) {
					return nil
				}
			}
		}
		return nil
	})
}
