package identity_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// TestCreateUser states what a new user needs: an existing organisation or none, an
// address that no other user has, levels that exist, and a password that is empty or
// long enough.
func TestCreateUser(t *testing.T) {
	const in = `"org_id":"` + acme + `"`
	for name, c := range map[string]struct{ draft, code, field string }{
		"nothing but an address":      {`{` + in + `,"email_address":"new@example.com"}`, "", ""},
		"no organisation":             {`{"email_address":"root@example.com"}`, "", ""},
		"an organisation that is not": {`{"org_id":"` + other + `","email_address":"new@example.com"}`, "user.org_id", "org_id"},
		"no address":                  {`{` + in + `}`, "user.email_address", "email_address"},
		"an address that is taken":    {`{` + in + `,"email_address":"TAKEN@example.com "}`, "user.taken", "email_address"},
		"taken by a super user":       {`{"email_address":"taken@example.com"}`, "user.taken", "email_address"},
		"a level that is not":         {`{` + in + `,"email_address":"new@example.com","user_permissions":{"apis":"own"}}`, "user.user_permissions", "user_permissions.apis"},
		"a short password":            {`{` + in + `,"email_address":"new@example.com","password":"12345"}`, "user.password", "password"},
		"a password":                  {`{` + in + `,"email_address":"new@example.com","password":"123456"}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			h.organisation(t, acme)
			h.user(t, `{`+in+`,"email_address":"taken@example.com"}`)
			text, err := h.ask(t, "admin.users.create", operation.Call{}, c.draft)
			kind := fault.Invalid
			if c.code == "user.taken" {
				kind = fault.Conflict
			}
			wants(t, err, kind, c.code)
			if field(err) != c.field {
				t.Errorf("the field is %q", field(err))
			}
			if strings.Contains(text, "123456") || strings.Contains(text, "pbkdf2") {
				t.Errorf("the answer has the password or its hash: %s", text)
			}
		})
	}
}

// TestAddressesRepeat states that an address may exist in two organisations if the
// setting allows it, and never twice in one.
func TestAddressesRepeat(t *testing.T) {
	for _, multi := range []bool{false, true} {
		h := open(t)
		h.MultiOrg = multi
		h.organisation(t, acme)
		h.organisation(t, other)
		h.user(t, `{"org_id":"`+acme+`","email_address":"a@example.com"}`)
		_, err := h.ask(t, "admin.users.create", operation.Call{}, `{"org_id":"`+acme+`","email_address":"a@example.com"}`)
		wants(t, err, fault.Conflict, "user.taken")
		_, err = h.ask(t, "admin.users.create", operation.Call{}, `{"org_id":"`+other+`","email_address":"a@example.com"}`)
		wants(t, err, fault.Conflict, map[bool]string{true: "", false: "user.taken"}[multi])
	}
}

// TestGetUser states that the admin API shows each user with its access key, and that a
// key that cannot be opened leads to an error and not to an empty key.
func TestGetUser(t *testing.T) {
	h := open(t)
	h.organisation(t, acme)
	id, key := h.user(t, `{"org_id":"`+acme+`","email_address":"a@example.com","first_name":"Ada","password":"secret-word"}`)
	call := operation.Call{Path: map[string]string{"userId": id}}
	text, err := h.ask(t, "admin.users.get", call, "")
	if err != nil || !strings.Contains(text, `"access_key":"`+key+`"`) || !strings.Contains(text, `"first_name":"Ada"`) || strings.Contains(text, "pbkdf2") {
		t.Errorf("%s, %v", text, err)
	}
	h.Keys = keys(t, second)
	_, err = h.ask(t, "admin.users.get", call, "")
	wants(t, err, fault.Internal, "internal")
	_, err = h.ask(t, "admin.users.get", operation.Call{Path: map[string]string{"userId": "nobody"}}, "")
	wants(t, err, fault.NotFound, "user.not_found")
}

// TestSetPassword states who may set the passwords of which users, in which order the
// checks come, and that a refused change does not change the password.
func TestSetPassword(t *testing.T) {
	const denied, wrong, short, missing = "auth.denied", "user.current_password", "user.new_password", "user.not_found"
	one, err := tenant.Of(acme)
	if err != nil {
		t.Fatal(err)
	}
	two, err := tenant.Of(other)
	if err != nil {
		t.Fatal(err)
	}
	admin := access.Map{"IsAdmin": access.LevelAdmin}
	resetter := access.Map{"ResetPassword": access.LevelAdmin}
	for name, c := range map[string]struct {
		had     string // the password before
		self    bool
		may     access.Map
		resets  bool // admins may reset
		scope   tenant.Scope
		current string
		new     string
		code    string
		kind    fault.Kind
	}{
		"the first of one's own":                   {self: true, scope: one, new: "word-1"},
		"one's own with the current one":           {had: "word-0", self: true, scope: one, current: "word-0", new: "word-1"},
		"one's own with a wrong one":               {had: "word-0", self: true, scope: one, current: "word-x", new: "word-1", code: wrong, kind: fault.Invalid},
		"one's own without the current one":        {had: "word-0", self: true, scope: one, new: "word-1", code: wrong, kind: fault.Invalid},
		"one's own, the same again":                {had: "word-0", self: true, scope: one, new: "word-0"},
		"too short":                                {self: true, scope: one, new: "12345", code: short, kind: fault.Invalid},
		"too short, and wrong besides":             {had: "word-0", self: true, scope: one, new: "1", code: wrong, kind: fault.Invalid},
		"an admin's own needs the current one too": {had: "word-0", self: true, may: admin, resets: true, scope: one, new: "word-1", code: wrong, kind: fault.Invalid},
		"another's":                                {had: "word-0", scope: one, current: "word-0", new: "word-1", code: denied, kind: fault.Denied},
		"another's, with the permission":           {had: "word-0", may: resetter, scope: one, new: "word-1"},
		"another's, by an admin":                   {had: "word-0", may: admin, scope: one, new: "word-1", code: denied, kind: fault.Denied},
		"another's, by an admin who may":           {had: "word-0", may: admin, resets: true, scope: one, new: "word-1"},
		"another's, by a user when admins may":     {had: "word-0", resets: true, scope: one, new: "word-1", code: denied, kind: fault.Denied},
		"in another organisation":                  {had: "word-0", may: resetter, resets: true, scope: two, new: "word-1", code: missing, kind: fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			h.AdminResets = c.resets
			h.organisation(t, acme)
			id, _ := h.user(t, fmt.Sprintf(`{"org_id":"%s","email_address":"a@example.com","password":%q}`, acme, c.had))
			who := operation.Principal{ID: "another", OrgID: acme, Permissions: c.may}
			if c.self {
				who.ID = id
			}
			path := map[string]string{"userId": id}
			_, err := h.ask(t, "users.password.set", operation.Call{Path: path, Scope: c.scope, Principal: who}, fmt.Sprintf(`{"current_password":%q,"new_password":%q}`, c.current, c.new))
			wants(t, err, c.kind, c.code)
			stored := c.had
			if c.code == "" {
				stored = c.new
			}
			if stored == "" {
				return
			}
			_, err = h.ask(t, "users.password.set", operation.Call{Path: path, Scope: one, Principal: operation.Principal{ID: id}},
				fmt.Sprintf(`{"current_password":%q,"new_password":"word-2"}`, stored))
			wants(t, err, 0, "") // had is the current password
		})
	}
	for code, may := range map[string]access.Map{missing: resetter, denied: nil} { // only a caller with the permission learns that the user does not exist
		_, err = open(t).ask(t, "users.password.set", operation.Call{Path: map[string]string{"userId": "none"}, Scope: one, Principal: operation.Principal{Permissions: may}}, `{"new_password":"word-1"}`)
		wants(t, err, map[string]fault.Kind{missing: fault.NotFound, denied: fault.Denied}[code], code)
	}
}

// TestRulesDecideAboutPasswords states that with RulesDecide only the rules say who may
// set the passwords of others.
func TestRulesDecideAboutPasswords(t *testing.T) {
	h := open(t)
	h.RulesDecide = true
	h.organisation(t, acme)
	id, _ := h.user(t, `{"org_id":"`+string(acme)+`","email_address":"a@example.com","password":"word-0"}`)
	call := operation.Call{Path: map[string]string{"userId": id}, Scope: tenant.Everyone("test"), Principal: operation.Principal{ID: "another", OrgID: acme}}
	_, err := h.ask(t, "users.password.set", call, `{"new_password":"word-1"}`)
	wants(t, err, 0, "")
}

// TestPasswordThatMustChange states that the current password is refused as the new one
// while it must be changed, whether the user or an admin chose it.
func TestPasswordThatMustChange(t *testing.T) {
	h := open(t)
	h.organisation(t, acme)
	id, _ := h.user(t, `{"org_id":"`+string(acme)+`","email_address":"a@example.com","password":"word-0"}`)
	own := operation.Call{Path: map[string]string{"userId": id}, Scope: tenant.Everyone("test"), Principal: operation.Principal{ID: id, OrgID: acme}}
	h.First = true
	other := own
	other.Principal = operation.Principal{ID: "another", OrgID: acme, Permissions: access.Map{string(access.ResetPassword): access.LevelWrite}}
	for _, c := range []struct {
		call          operation.Call
		current, next string
		code          string
	}{
		{own, "word-0", "word-0", "user.password_used"}, // an admin chose it
		{own, "word-0", "word-1", ""},
		{own, "word-1", "word-1", ""}, // the user need not change it
		{other, "", "word-1", ""},
		{own, "word-1", "word-1", "user.password_used"},
		{own, "word-1", "word-2", ""},
	} {
		_, err := h.ask(t, "users.password.set", c.call, fmt.Sprintf(`{"current_password":%q,"new_password":%q}`, c.current, c.next))
		wants(t, err, fault.Invalid, c.code)
	}
}

// TestGuessesAtTheCurrentPassword bounds how many wrong current passwords a user, or an
// attacker with its key, may send.
func TestGuessesAtTheCurrentPassword(t *testing.T) {
	h := open(t)
	now := h.Now()
	h.Now = func() time.Time { return now }
	h.organisation(t, acme)
	id, _ := h.user(t, `{"org_id":"`+string(acme)+`","email_address":"a@example.com","password":"word-0"}`)
	another, _ := h.user(t, `{"org_id":"`+string(acme)+`","email_address":"b@example.com","password":"word-0"}`)
	set := func(id, current, next string) error {
		_, err := h.ask(t, "users.password.set", operation.Call{Path: map[string]string{"userId": id}, Scope: tenant.Everyone("test"), Principal: operation.Principal{ID: id, OrgID: acme}},
			fmt.Sprintf(`{"current_password":%q,"new_password":%q}`, current, next))
		return err
	}
	for range 3 { // right passwords do not count
		wants(t, set(id, "word-0", "word-0"), 0, "")
	}
	for i := range 10 {
		current := []string{"word-x", ""}[i%2] // a new password without the current one counts as a guess as well
		wants(t, set(id, current, "word-y"), fault.Invalid, "user.current_password")
	}
	err := set(id, "word-0", "word-1")
	wants(t, err, fault.TooMany, "user.guesses")
	var f *fault.Error
	if !errors.As(err, &f) || f.Wait != 3600 {
		t.Errorf("%+v", f)
	}
	wants(t, set(another, "word-0", "word-1"), 0, "")
	now = now.Add(time.Hour)
	wants(t, set(id, "word-0", "word-1"), 0, "")
}

// TestSuperUserSetsPassword states that a user without organisation can have a password
// like other users.
func TestSuperUserSetsPassword(t *testing.T) {
	h := open(t)
	id, _ := h.user(t, `{"email_address":"root@example.com"}`)
	call := operation.Call{Path: map[string]string{"userId": id}, Scope: tenant.Everyone("super user"), Principal: operation.Principal{ID: id}}
	for _, c := range []struct{ current, next, code string }{{"", "word-1", ""}, {"word-x", "word-2", "user.current_password"}, {"word-1", "word-2", ""}} {
		_, err := h.ask(t, "users.password.set", call, fmt.Sprintf(`{"current_password":%q,"new_password":%q}`, c.current, c.next))
		wants(t, err, fault.Invalid, c.code)
	}
}
