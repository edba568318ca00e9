package session_test

import (
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/session"
)

// forgetful is a user who has a password.
func forgetful() identity.User {
	return identity.User{ID: "u", OrgID: "o", Email: "ada@example.com", Active: true, PasswordUpdated: now.Add(-time.Hour), Credentials: identity.Credentials{PasswordHash: "h"}}
}

func TestReset(t *testing.T) {
	r := session.NewReset("r", "d", forgetful(), now)
	if r.Over(now) || r.Over(now.Add(session.ResetLife-1)) || !r.Over(now.Add(session.ResetLife)) {
		t.Error("a reset lives for", r.Expires.Sub(now))
	}
	for name, c := range map[string]struct {
		change func(*identity.User)
		fits   bool
	}{
		"the same":             {func(*identity.User) {}, true},
		"who has logged in":    {func(u *identity.User) { u.LastLogin = now }, true},
		"somebody else":        {func(u *identity.User) { u.ID = "v" }, false},
		"another organisation": {func(u *identity.User) { u.OrgID = "p" }, false},
		"inactive":             {func(u *identity.User) { u.Active = false }, false},
		"another address":      {func(u *identity.User) { u.Email = "bob@example.com" }, false},
		"another password":     {func(u *identity.User) { u.PasswordUpdated = now }, false},
	} {
		u := forgetful()
		if c.change(&u); r.Fits(u) != c.fits {
			t.Error(name)
		}
	}
}

func TestForgetful(t *testing.T) {
	for name, change := range map[string]func(*identity.User){
		"inactive":         func(u *identity.User) { u.Active = false },
		"a super user":     func(u *identity.User) { u.OrgID = "" },
		"without password": func(u *identity.User) { u.Credentials.PasswordHash = "" },
	} {
		u := forgetful()
		if change(&u); session.Forgetful(u) {
			t.Error(name)
		}
	}
	if !session.Forgetful(forgetful()) {
		t.Error("a user with a password")
	}
}
