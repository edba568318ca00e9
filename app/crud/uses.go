package crud

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Bounds of the uses in memory between two flushes.
const (
	maxUses  = 10_000
	useBatch = 200 // per unit of work
)

// Uses records in memory when records were last used, until a flush stores it: a write
// with each use would cost more than the use. The zero value is empty.
type Uses[U any] struct {
	mu   sync.Mutex
	seen map[string]U
}

// Note records the use of the record with an ID, unless there are too many in memory.
func (u *Uses[U]) Note(id string, use U) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.seen == nil {
		u.seen = map[string]U{}
	}
	if _, known := u.seen[id]; known || len(u.seen) < maxUses {
		u.seen[id] = use
	}
}

// Flush stores the recorded uses, in small units of work, each of one organisation.
// Uses that cannot be stored are lost, and logged under the name of: the next use
// replaces them anyway.
func (u *Uses[U]) Flush(ctx context.Context, st store.Store, log *slog.Logger, of string, org func(U) tenant.ID, write func(context.Context, store.Writer, []U) error) {
	u.mu.Lock()
	seen := u.seen
	u.seen = nil
	u.mu.Unlock()
	noted := map[tenant.ID][]U{}
	for _, use := range seen {
		noted[org(use)] = append(noted[org(use)], use)
	}
	for org, list := range noted {
		scope, err := tenant.Of(org)
		for batch := range slices.Chunk(list, useBatch) {
			if err == nil {
				_, err = st.Update(ctx, scope, func(w store.Writer) error { return write(ctx, w, batch) })
			}
		}
		if err != nil {
			log.Warn("the last use of "+of+" could not be written", "org_id", string(org), "error", err)
		}
	}
}
