package session

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// pruneEvery is how often expired sessions are deleted.
const pruneEvery = time.Minute

// Pruning is the attribution of commits that delete expired records. Audit trails leave
// these commits out.
const Pruning = "sessions.prune"

var pruning = store.Attribution{Actor: "sessions", Operation: Pruning}

// Run deletes expired sessions, stores which sessions were used, and sends mails, until
// ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var posts sync.WaitGroup
	defer posts.Wait()
	for range mailsAtOnce {
		posts.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case r := <-s.requests:
					if err := s.mail(ctx, r); err != nil && ctx.Err() == nil {
						s.users.Log.Error("a mail about a forgotten password is not sent; the user can ask for another one", "error", err)
					}
				}
			}
		})
	}
	forget := func() {
		if n, err := s.Prune(ctx); err != nil && ctx.Err() == nil {
			s.users.Log.Warn("old sessions could not be forgotten; trying again later", "error", err)
		} else if n > 0 {
			s.users.Log.Info("old sessions forgotten", "sessions", n)
		}
	}
	forget()
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		s.WriteUses(last)
	}()
	return crud.Every(ctx, pruneEvery, func() {
		s.WriteUses(ctx)
		forget()
	})
}

// Prune deletes expired sessions, nonces and resets, and returns how many there were.
func (s *Service) Prune(ctx context.Context) (n int, err error) {
	ctx = store.Attribute(ctx, pruning)
	now := s.users.Now()
	everywhere := tenant.Everyone("forget sessions")
	if n, err = crud.Forget(ctx, s.users.Store, everywhere, sessions, func(v session.Session) bool { return v.Over(now) }); err != nil {
		return n, err
	}
	more, err := crud.Forget(ctx, s.users.Store, everywhere, nonces, func(v session.Nonce) bool { return v.Over(now) })
	if n += more; err != nil {
		return n, err
	}
	more, err = crud.Forget(ctx, s.users.Store, everywhere, resets, func(v session.Reset) bool { return v.Over(now) })
	return n + more, err
}
