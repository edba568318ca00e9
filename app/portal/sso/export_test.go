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
func MintFor(ctx context.Context, s *Service, d session.AccessData) (string, error) {
	out, err := s.Mint(ctx, mintIn{d})
	text, _ := out.Meta.(string)
	return text, err
}

// EnterWith begins a session with a nonce.
func EnterWith(ctx context.Context, s *Service, nonce string) (operation.Landing, error) {
	return s.Enter(ctx, enterIn{Nonce: nonce})
}

// Admit begins the session of a person.
func Admit(ctx context.Context, s *Service, p sso.Person) (operation.Landing, error) {
	return s.enter(ctx, enterIn{}, func(w store.Writer, at crud.Stamp) (account.User, error) { return s.admit(ctx, w, at, p) })
}
