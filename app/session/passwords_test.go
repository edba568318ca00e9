package session_test

import (
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// With a password that is too old, a session can do nothing but change it. This also
// holds for existing sessions.
func TestOldPasswords(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		everybody, own int
		holds          time.Duration
	}{
		"everybody's": {10, 0, 10 * day}, "the own": {10, 3, 3 * day}, "longer than everybody's": {10, 30, 30 * day},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, session.Config{Life: 100 * day})
			w.users.MaxDays = c.everybody
			w.do("admin.organisations.create", nil, `{"id":"`+org+`"}`)
			w.do("admin.users.create", nil, text(t, map[string]any{"org_id": org, "email_address": "ada@example.com", "password": "a-long-passphrase",
				"password_max_days": c.own, "user_permissions": access.Map{"apis": "write"}}))
			b := w.browser("192.0.2.1:1")
			if err := b.login("ada@example.com", "a-long-passphrase"); err != nil {
				t.Fatal(err)
			}
			w.now = w.now.Add(c.holds - 1)
			if !b.holds() {
				t.Error("the password is too old a moment too early")
			}
			w.now = w.now.Add(1)
			if _, err := b.call(access.Read, ""); fault.CodeOf(err) != session.CodeExpired {
				t.Error("a session goes on with an old password:", err)
			}
			late := w.browser("192.0.2.2:1")
			if err := late.login("ada@example.com", "a-long-passphrase"); err != nil || late.holds() {
				t.Error("a login with an old password:", err)
			}
		})
	}
}
