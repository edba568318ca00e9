package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Bounds of what is remembered of uses between two writes.
const (
	maxUses  = 10_000
	useBatch = 200 // of one unit of work
)

// uses are those of sessions that have not been written yet, by session.
type uses struct {
	mu   sync.Mutex
	seen map[string]use
}

// use is when a session was last used.
type use struct {
	id  string
	org tenant.ID
	at  time.Time
}

// note remembers a use, unless there are too many to remember.
func (u *uses) note(v session.Session, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.seen == nil {
		u.seen = map[string]use{}
	}
	if _, known := u.seen[v.ID]; known || len(u.seen) < maxUses {
		u.seen[v.ID] = use{v.ID, v.OrgID, at}
	}
}

// WriteUses writes down which sessions have been used, in small units of work. What
// cannot be written is lost, and said in the log: the next use tells as much.
func (s *Service) WriteUses(ctx context.Context) {
	ctx = store.Attribute(ctx, store.Attribution{Actor: "sessions", Operation: "sessions.used"})
	s.uses.mu.Lock()
	seen := s.uses.seen
	s.uses.seen = nil
	s.uses.mu.Unlock()
	noted := map[tenant.ID][]use{}
	for _, v := range seen {
		noted[v.org] = append(noted[v.org], v)
	}
	for org, list := range noted {
		scope, err := tenant.Of(org)
		for batch := range slices.Chunk(list, useBatch) {
			if err == nil {
				_, err = s.users.Store.Update(ctx, scope, func(w store.Writer) error { return s.writeUses(ctx, w, batch) })
			}
		}
		if err != nil {
			s.users.Log.Warn("the last use of sessions could not be written", "org_id", string(org), "error", err)
		}
	}
}

func (s *Service) writeUses(ctx context.Context, w store.Writer, batch []use) error {
	for _, u := range batch {
		v, err := sessions.Get(ctx, w, u.id)
		if fault.KindOf(err) == fault.NotFound || err == nil && (v.Value.Over(s.users.Now()) || !u.at.After(v.Value.LastUse())) {
			continue // it has ended, or another replica knows better
		}
		if err == nil {
			_, err = sessions.Edit(ctx, w, u.id, nil, func(v session.Session) (session.Session, error) {
				v.Used = u.at
				return v, nil
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
