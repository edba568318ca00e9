package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// LogKind is the Kind of a Damage of a row of the change log; its ID is the last
// revision in the row.
const LogKind = "change_log"

// Examine reads every record and every row of the change log that exist when it begins.
// It calls record with each record, damaged or not, and log once per log row, with the
// damage of a row that cannot be read.
func (s *Store) Examine(ctx context.Context, record func(store.Record), log func(*store.Damage)) error {
	return s.snapshot(ctx, func(q querier) error {
		r := &reader{s: s, q: q, scope: tenant.Everyone("check")}
		for rec, err := range r.everything(ctx) {
			if err != nil {
				return err
			}
			record(rec)
		}
		for last := store.Revision(0); ; { // in bounded steps
			rows, err := s.logRows(ctx, q, `select first, last, body from change_log where last > $1 order by last limit 500`, int64(last))
			if err != nil || len(rows) == 0 {
				return err
			}
			for _, row := range rows {
				var bad *store.Damage
				switch _, _, err := s.commitsIn(ctx, q, row); {
				case errors.Is(err, store.ErrDamaged):
					bad = &store.Damage{Kind: LogKind, ID: fmt.Sprint(row.last), Reason: err.Error()}
				case err != nil:
					return err
				}
				last = row.last
				log(bad)
			}
		}
	})
}
