package memdb

import (
	"sync"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// sizes are those of the documents of organisations, in bytes. They are counted beside the
// database: a write would pay for another row.
type sizes struct {
	mu sync.Mutex
	of map[tenant.ID]int64
}

// growth is by how much the documents of organisations grow with a transaction.
type growth map[tenant.ID]int64

// count adds the replacement of a record by another; nil: there is none.
func (g growth) count(old, now *store.Record) {
	if old != nil {
		g[old.Org] -= int64(len(old.Doc))
	}
	if now != nil {
		g[now.Org] += int64(len(now.Doc))
	}
}

// grow adds what a transaction that has been committed has brought.
func (s *sizes) grow(by growth) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[tenant.ID]int64{}
	}
	for org, n := range by {
		if s.of[org] += n; s.of[org] == 0 {
			delete(s.of, org)
		}
	}
}

// Size implements store.Sized.
func (d *DB) Size(org tenant.ID) int64 {
	d.sizes.mu.Lock()
	defer d.sizes.mu.Unlock()
	return d.sizes.of[org]
}
