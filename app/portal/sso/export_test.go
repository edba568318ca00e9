package sso

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/sso"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// MintFor makes a nonce.
func MintFor(s *Service, ctx context.Context, d session.AccessData) (string, error) { //nolint:revive // the service comes first
	out, err := s.Mint(ctx, mintIn{d})
	text, _ := out.Meta.(string)
	return text, err
}

// EnterWith begins a session with a nonce.
func EnterWith(s *Service, ctx context.Context, nonce string) (operation.Landing, error) { //nolint:revive // as above
	return s.Enter(ctx, enterIn{Nonce: nonce})
}

// Admit begins the session of a person.
func Admit(s *Service, ctx context.Context, p sso.Person) (operation.Landing, error) { //nolint:revive // as above
	return s.enter(ctx, enterIn{}, func(w store.Writer, at crud.Stamp) (account.User, error) { return s.admit(ctx, w, at, p) })
}
