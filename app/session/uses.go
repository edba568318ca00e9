package session

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Using is the attribution of commits that store which sessions were used. Audit trails
// leave these commits out.
const Using = "sessions.used"

// use is the last use of a session.
type use struct {
	id  string
	org tenant.ID
	at  time.Time
}

// WriteUses stores which sessions were used.
func (s *Service) WriteUses(ctx context.Context) {
	ctx = store.Attribute(ctx, store.Attribution{Actor: "sessions", Operation: Using})
	s.uses.Flush(ctx, s.users.Store, s.users.Log, "sessions", func(u use) tenant.ID { return u.org }, s.writeUses)
}

func (s *Service) writeUses(ctx context.Context, w store.Writer, batch []use) error {
	for _, u := range batch {
		v, err := sessions.Get(ctx, w, u.id)
		if fault.KindOf(err) == fault.NotFound || err == nil && (v.Value.Over(s.users.Now()) || !u.at.After(v.Value.LastUse())) {
			continue // the session has ended, or another replica has stored a later use
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
