package door_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/door"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// hashing counts how often a password is hashed.
type hashing struct {
	secret.Passwords
	n int
}

func (h *hashing) Hash(string) (string, error) { h.n++; return "hash", nil }

func open(t *testing.T, seeds ...door.Seed) (*door.Service, *hashing) {
	t.Helper()
	p, h := apptest.NewPortal(t), &hashing{}
	return &door.Service{Config: door.Config{Tools: p.Tools, Keys: p.Keys, Passwords: h, Scope: p.Scope, Seeds: seeds}}, h
}

func wants(t *testing.T, err error, kind fault.Kind, code string) {
	t.Helper()
	if fault.KindOf(err) != kind || fault.CodeOf(err) != code {
		t.Errorf("%v, want %s %s", err, kind, code)
	}
}

var first = door.First{Username: "ada@example.com", Password: "secret"}

// TestBootstrapOnce states that a portal is bootstrapped once, completely or not at all,
// and that later calls cause no hashing of passwords.
func TestBootstrapOnce(t *testing.T) {
	broken := true
	s, h := open(t, people.Found, func(context.Context, store.Writer, crud.Stamp) error {
		if broken {
			return fmt.Errorf("broken")
		}
		return nil
	})
	if _, err := s.Bootstrap(t.Context(), first); err == nil {
		t.Fatal("a broken start is none")
	}
	broken = false
	token, err := s.Bootstrap(t.Context(), first)
	if err != nil || token == "" || h.n != 2 {
		t.Fatal(token, err, h.n)
	}
	_, err = s.Bootstrap(t.Context(), first)
	wants(t, err, fault.Denied, door.CodeBootstrapped)
	if h.n != 2 {
		t.Errorf("%d passwords were hashed", h.n)
	}
}

// TestAuthenticate states who may call: active admins with their current token.
func TestAuthenticate(t *testing.T) {
	s, _ := open(t)
	call := func(token string) (*operation.Call, error) {
		c := &operation.Call{Token: token}
		return c, s.Authenticate(t.Context(), c)
	}
	_, err := call("")
	wants(t, err, fault.Unavailable, door.CodeNotBootstrapped)
	token, err := s.Bootstrap(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	c, err := call(token)
	if err != nil || c.Scope != s.Scope || c.Principal.Email != "" || c.Principal.ID != "portal-user-1" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, wrong := range []string{"", "x", token + "x", account.Sign("another key", "x")} {
		_, err := call(wrong)
		wants(t, err, fault.Unauthenticated, guard.CodeUnauthenticated)
	}
	change := func(fn func(*account.User)) {
		t.Helper()
		if _, err := s.Store.Update(t.Context(), s.Scope, func(w store.Writer) error {
			_, err := portal.Edit(t.Context(), w, people.Users, 1, crud.Stamp{Now: time.Now}, func(u account.User) (account.User, error) {
				fn(&u)
				return u, nil
			})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	change(func(u *account.User) { u.Active = false })
	_, err = call(token)
	wants(t, err, fault.Unauthenticated, guard.CodeUnauthenticated)
	change(func(u *account.User) { u.Role = account.ConsumerAdmin })
	_, err = call(token)
	wants(t, err, fault.Denied, door.CodeNotAdmin)
	change(func(u *account.User) { u.Active, u.Role = true, account.Member })
	_, err = call(token)
	wants(t, err, fault.Denied, door.CodeNotAdmin)
	change(func(u *account.User) { u.Role, u.Token = account.ProviderAdmin, "another" })
	_, err = call(token)
	wants(t, err, fault.Unauthenticated, guard.CodeUnauthenticated)
	s.SigningKey = "set"
	if _, err = call(account.Sign("set", "another")); err != nil {
		t.Error("a signing key that is set does not count:", err)
	}
}
