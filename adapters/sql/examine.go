package sql

import (
	"context"
	"errors"
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
		return s.examineLog(ctx, q, log)
	})
}

// examineLog reads the log in bounded steps.
func (s *Store) examineLog(ctx context.Context, q querier, log func(*store.Damage)) error {
	for last := store.Revision(0); ; {
		next, err := s.examineStep(ctx, q, last, log)
		if err != nil || next == last {
			return err
		}
		last = next
	}
}

// examineStep reads some rows after one and returns the last of them.
func (s *Store) examineStep(ctx context.Context, q querier, last store.Revision, log func(*store.Damage)) (store.Revision, error) {
	rows, err := s.logRows(ctx, q, `select first, last, body from change_log where last > $1 order by last limit 500`, int64(last))
	if err != nil {
		return last, err
	}
	for _, row := range rows {
		var bad *store.Damage
		switch _, _, err := s.commitsIn(ctx, q, row); {
		case errors.Is(err, store.ErrDamaged):
			bad = &store.Damage{Kind: LogKind, ID: fmt.Sprint(row.last), Reason: err.Error()}
		case err != nil:
			return last, err
		}
		last = row.last
		log(bad)
	}
	return last, nil
}
