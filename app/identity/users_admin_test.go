package identity_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestAdminChangesEndSessions: the sessions of a user end when it is deactivated or
// gets another password, and not otherwise.
func TestAdminChangesEndSessions(t *testing.T) {
	h := open(t)
	h.organisation(t, acme)
	var ended []string
	h.EndSessions = func(_ context.Context, _ store.Writer, id string) error { ended = append(ended, id); return nil }
	id, _ := h.user(t, fmt.Sprintf(`{"org_id":%q,"first_name":"A","last_name":"B","email_address":"a@acme.example"}`, acme))
	call := operation.Call{Path: map[string]string{"userId": id}}
	for _, c := range []struct {
		op, body string
		ends     bool
	}{
		{"admin.users.update", `{"first_name":"C"}`, false},
		{"admin.users.update", `{"password":"a-long-passphrase"}`, true},
		{"admin.users.update", `{"active":true}`, false},
		{"admin.users.resets.allow", ``, false},
		{"admin.users.update", `{"active":false}`, true},
	} {
		ended = nil
		if _, err := h.ask(t, c.op, call, c.body); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(ended, id) != c.ends {
			t.Errorf("%s %s ends the sessions of %v", c.op, c.body, ended)
		}
	}
}

// TestAdminChangesKeepAddressesUnique: the address of another user is refused, also one
// of another organisation unless addresses may repeat there; a user's own address is
// accepted.
func TestAdminChangesKeepAddressesUnique(t *testing.T) {
	for _, multi := range []bool{false, true} {
		h := open(t)
		h.MultiOrg = multi
		h.organisation(t, acme)
		h.organisation(t, other)
		id, _ := h.user(t, fmt.Sprintf(`{"org_id":%q,"email_address":"a@acme.example"}`, acme))
		h.user(t, fmt.Sprintf(`{"org_id":%q,"email_address":"b@acme.example"}`, acme))
		h.user(t, fmt.Sprintf(`{"org_id":%q,"email_address":"c@other.example"}`, other))
		for email, taken := range map[string]bool{"A@acme.example": false, "b@acme.example": true, "c@other.example": !multi} {
			code := ""
			if taken {
				code = "user.taken"
			}
			_, err := h.ask(t, "admin.users.update", operation.Call{Path: map[string]string{"userId": id}}, `{"email_address":"`+email+`"}`)
			wants(t, err, fault.Conflict, code)
			if _, err := h.ask(t, "admin.users.update", operation.Call{Path: map[string]string{"userId": id}}, `{"email_address":"a@acme.example"}`); err != nil {
				t.Fatal(err)
			}
		}
	}
}
