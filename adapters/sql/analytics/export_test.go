package analytics

import (
	"context"
	"database/sql"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/view"
)

// Covered returns how many blocks of the rollup answer a query, and how many gaps are read
// besides.
func (s *Store) Covered(ctx context.Context, org string, q view.Query) (blocks, gaps int, err error) {
	p, t := s.home(q)
	tables, err := p.tables(ctx, t, q.Period)
	if err != nil {
		return 0, 0, err
	}
	c, err := s.covering(ctx, org, q, tables)
	return len(c.blocks), len(c.gaps), err
}

// Bounded returns a dialect with a shorter idle timeout of transactions.
func Bounded(d Dialect, after time.Duration) Dialect {
	whole := d.bound
	d.bound = func(time.Duration) string { return whole(after) }
	return d
}

// Begin begins a transaction as storing does.
func (w *Writer) Begin(ctx context.Context) (*sql.Tx, error) { return w.begin(ctx) }
