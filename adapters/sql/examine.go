package sql

import (
	"context"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// LogKind is the Kind of a Damage that means a row of the change log; its ID is
// the last revision in it.
const LogKind = "change_log"

// Examine reads every record and every row of the change log, as far as there are
// any when it begins. record sees each record, damaged or not; log sees each row
// of the log, and the damage of one that cannot be read.
func (s *Store) Examine(ctx context.Context, record func(store.Record), log func(*store.Damage)) error {
	return s.snapshot(ctx, func(q querier) error {
		r := &reader{s: s, q: q, scope: tenant.Everyone("check")}
		for rec, err := range r.everything(ctx) {
			if err != nil {
				return err
			}
			record(rec)
		}
		return examineLog(ctx, q, log)
	})
}

// examineLog reads the log in bounded steps.
func examineLog(ctx context.Context, q querier, log func(*store.Damage)) error {
	for last, more := int64(0), true; more; {
		rows, err := q.query(ctx, `select last, body from change_log where last > $1 order by last limit 500`, last)
		if err != nil {
			return err
		}
		more = false
		for rows.Next() {
			var text []byte
			if err = rows.Scan(&last, &text); err != nil {
				break
			}
			var bad *store.Damage
			if _, wrong := parseLog(text); wrong != nil {
				bad = &store.Damage{Kind: LogKind, ID: fmt.Sprint(last), Reason: wrong.Error()}
			}
			log(bad)
			more = true
		}
		if err == nil {
			err = rows.Err()
		}
		_ = rows.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
