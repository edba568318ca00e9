package live

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Leaving is the body with which a user confirms the deletion of the account.
type Leaving struct {
	CurrentPassword string `json:"CurrentPassword"`
}

type leaving struct {
	person
	Body Leaving `body:""`
}

// Leave deletes the caller's account after checking its password. The credentials of
// its apps are revoked first.
func (s *Service) Leave(ctx context.Context, in leaving) (out operation.Visit[Left], err error) {
	defer s.pause(ctx, time.Now())
	var u account.User
	if err := s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		u, err = in.of(ctx, r)
		return err
	}); err != nil {
		return out, err
	}
	if err := s.confirm(ctx, u, in.Body.CurrentPassword); err != nil {
		return out, err
	}
	if err := s.Depart(ctx, u.ID); err != nil {
		return out, err
	}
	return operation.Visit[Left]{Value: Left{"ok"}, Who: in.Who, Cookies: []operation.Cookie{s.cookie("", 0)}}, nil
}
