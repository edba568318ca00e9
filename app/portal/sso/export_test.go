package sso

import (
	"context"
	"net/url"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/signon"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/sso"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// MintFor creates a nonce.
func MintFor(ctx context.Context, s *Service, d session.AccessData) (string, error) {
	out, err := s.Mint(ctx, mintIn{AccessData{d}})
	text, _ := out.Meta.(string)
	return text, err
}

// EnterWith begins a session with a nonce.
func EnterWith(ctx context.Context, s *Service, nonce string) (operation.Landing, error) {
	return s.Enter(ctx, enterIn{Nonce: nonce})
}

// ChangeBy changes a developer as a broker does.
func ChangeBy(ctx context.Context, s *Service, id string, d Developer) error {
	_, err := s.Change(ctx, changeIn{oneIn{id}, d})
	return err
}

// Admit begins the session of a person.
func Admit(ctx context.Context, s *Service, p sso.Person) (operation.Landing, error) {
	return s.enter(ctx, visitor{}, func(w store.Writer, at crud.Stamp) (account.User, error) { return s.admit(ctx, w, at, p) })
}

// BeginAt begins a login at an identity provider.
func BeginAt(ctx context.Context, s *Service, profile, provider string) (operation.Landing, error) {
	return s.Begin(ctx, profileIn{profile, provider})
}

// FinishAt returns from an identity provider with the query of an address, and a cookie.
func FinishAt(ctx context.Context, s *Service, profile, provider string, q url.Values, cookie string) (operation.Landing, error) {
	return s.Finish(ctx, finishIn{profileIn: profileIn{profile, provider}, Attempt: cookie, Return: signon.Return{State: q.Get("state"), Code: q.Get("code"), Issuer: q.Get("iss"), Error: q.Get("error")}})
}
