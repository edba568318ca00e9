package audit

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Newest gives the records of an organisation to a function, the newest first, until it
// returns false or there are none. All records come from one snapshot.
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
				continue // verification tells of it; the others can be had
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
