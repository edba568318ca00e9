package memdb

import (
	"sync"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// beside is what a record takes in memory beside its document, in bytes, about.
const beside = 2 << 10

// sizes are those of the records of organisations, in bytes. They are counted beside the
// database: a write would pay for another row.
type sizes struct {
	mu sync.Mutex
	of map[tenant.ID]int64
}

// growth is by how much the records of organisations grow with a transaction.
type growth map[tenant.ID]int64

// count adds the replacement of a record by another; nil: there is none.
func (g growth) count(old, now *store.Record) {
	if old != nil {
		g[old.Org] -= int64(len(old.Doc)) + beside
	}
	if now != nil {
		g[now.Org] += int64(len(now.Doc)) + beside
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
