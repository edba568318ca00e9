package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// weaker is the level below one, which is not enough where it is needed.
var weaker = map[string]string{"read": "deny", "write": "read", "admin": "write"}

// TestDescribedPermissions: a user who has exactly the permissions that the description says
// an operation needs is let in, and one who has less is not. Programs hide what they need not offer by
// it.
func TestDescribedPermissions(t *testing.T) {
	e := newEstate(t, false)
	d := readDescription(t, e.a)
	requests := map[string]string{}
	for _, o := range e.a.Operations() {
		if text, err := json.Marshal(o.Request); err == nil && o.Request != nil {
			requests[o.ID] = string(text)
		}
	}
	users := map[string]credentials{}
	with := func(rights map[string]string) credentials {
		text, err := json.Marshal(rights)
		if err != nil {
			t.Fatal(err)
		}
		if users[string(text)] == nil {
			e.n++
			var made struct{ Message string }
			body := e.send(credentials{"Admin-Auth": adminSecret}, "POST", "/admin/users", fmt.Sprintf(`{"org_id":"org-a","email_address":"p%d@example.com","user_permissions":%s}`, e.n, text)).Body
			if err := json.Unmarshal(body.Bytes(), &made); err != nil || len(made.Message) < 20 {
				t.Fatal(body)
			}
			users[string(text)] = credentials{"Authorization": made.Message}
		}
		return users[string(text)]
	}
	tried := 0
	d.each(func(path, method string, o describedOperation) {
		if len(o.Permission.Callers) != 1 || o.Permission.Callers[0] != "user" {
			return
		}
		segments := strings.Split(path, "/")
		for i, s := range segments {
			if _, open := operation.Placeholder(s); open {
				segments[i] = "5f1a0c5d8e3b2a1fffff7777"
			}
		}
		admitted := func(as credentials) bool { // what the body asks for may be refused behind the door
			w := e.send(as, strings.ToUpper(method), strings.Join(segments, "/"), requests[o.ID])
			text := w.Body.String()
			return w.Code != 403 || !strings.Contains(text, "You do not have permission to access") && !strings.Contains(text, "You do not have permission, please")
		}
		rights := map[string]string{"websockets": "read"} // everybody has something
		for _, n := range o.Permission.Needs {
			if len(n.Parameters) == 0 {
				rights[n.Group] = n.Level
			}
		}
		group, level := o.Permission.Group, o.Permission.Level
		if tried++; group != "" {
			rights[group] = weaker[level]
			if group == "IsAdmin" { // everything else does not help
				delete(rights, group)
				_ = json.Unmarshal([]byte(everyGroup("write")), &rights)
			}
			if admitted(with(rights)) {
				t.Errorf("%s needs %s:%s by its description, and lets in who has %q", o.ID, group, level, rights[group])
			}
			rights[group] = level
		}
		if !admitted(with(rights)) {
			t.Errorf("%s needs %s:%s by its description, and does not let in who has it", o.ID, group, level)
		}
	})
	if tried < 150 {
		t.Errorf("%d operations were tried", tried)
	}
}
