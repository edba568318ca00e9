package door

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/password"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// First is the first admin.
type First struct {
	Username  string `json:"username" doc:"E-mail address of the first admin."`
	Password  string `json:"password"`
	FirstName string `json:"first_name,omitempty"`
	LastName  string `json:"last_name,omitempty"`
}

// check returns all errors in the input.
func (f First) check() error {
	wrong := table.Problems{}
	if _, err := identity.CleanEmail(f.Username); strings.TrimSpace(f.Username) == "" {
		wrong.Blank("username")
	} else if err != nil {
		wrong.Invalid("username")
	}
	switch {
	case f.Password == "":
		wrong.Blank("password")
	case len(f.Password) > password.Longest:
		wrong = append(wrong, fmt.Sprintf("password is too long (the maximum is %d bytes)", password.Longest))
	case utf8.RuneCountInString(f.Password) < password.Shortest:
		wrong = append(wrong, fmt.Sprintf("password is too short (the minimum is %d characters)", password.Shortest))
	}
	for _, n := range []struct{ name, text string }{{"first_name", f.FirstName}, {"last_name", f.LastName}} {
		if utf8.RuneCountInString(n.text) > maxName {
			wrong = append(wrong, fmt.Sprintf("%s is too long (the maximum is %d characters)", n.name, maxName))
		}
		if strings.ContainsFunc(n.text, unicode.IsControl) {
			wrong.Invalid(n.name)
		}
	}
	return wrong.Err()
}

const maxName = 255

// Bootstrapped is the answer of a bootstrap.
type Bootstrapped struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Data    struct {
		APIToken string `json:"api_token"`
	} `json:"data"`
}

type bootstrapIn struct {
	First First `body:""`
}

// open refuses all callers once the portal is bootstrapped.
func (s *Service) open(ctx context.Context, _ *operation.Call) error {
	return s.Store.View(ctx, s.Scope, func(r store.Reader) error { return s.fresh(ctx, r) })
}

func (s *Service) bootstrap(ctx context.Context, in bootstrapIn) (Bootstrapped, error) {
	token, err := s.Bootstrap(ctx, in.First)
	return bootstrapped(token), err
}

func bootstrapped(token string) Bootstrapped {
	out := Bootstrapped{Code: "OK", Message: "Bootstrapped user successfully"}
	out.Data.APIToken = token
	return out
}

// Bootstrap stores the first admin and the initial records, once, and returns the
// admin's token. The password is hashed only if the portal is not bootstrapped yet,
// because hashing takes long.
func (s *Service) Bootstrap(ctx context.Context, f First) (string, error) {
	if err := f.check(); err != nil {
		return "", err
	}
	if err := s.Store.View(ctx, s.Scope, func(r store.Reader) error { return s.fresh(ctx, r) }); err != nil {
		return "", err
	}
	hash, err := s.Passwords.Hash(f.Password)
	if err != nil {
		return "", err
	}
	key := s.Keys.NewKey()
	sealed, err := s.Keys.Seal(key)
	if err != nil {
		return "", err
	}
	if s.SigningKey != "" {
		key = s.SigningKey
	}
	at := s.Stamp(s.Scope)
	u := account.User{Email: strings.TrimSpace(f.Username), First: f.FirstName, Last: f.LastName, Role: account.SuperAdmin, Provider: account.OwnPassword, Active: true,
		PasswordHash: hash, Token: people.NewToken(s.Keys), TokenAt: at.Now()}
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		if err := s.fresh(ctx, w); err != nil {
			return err
		}
		if err := installations.Insert(ctx, w, installation{Portal: s.Scope.Org(), SigningKey: sealed}); err != nil {
			return err
		}
		if _, err := portal.Add(ctx, w, people.Users, at, u); err != nil {
			return err
		}
		for _, seed := range s.Seeds {
			if err := seed(ctx, w, at); err != nil {
				return err
			}
		}
		return nil
	})
	return account.Sign(key, u.Token), err
}

// fresh returns an error if the portal is bootstrapped already.
func (s *Service) fresh(ctx context.Context, r store.Reader) error {
	_, err := installations.Get(ctx, r, installed)
	if err == nil {
		return fault.New(fault.Denied, CodeBootstrapped, "portal is already bootstrapped")
	}
	return fault.AbsentFine(err)
}
