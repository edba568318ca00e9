package session_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	rules "github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// mint requests a nonce for a person.
func (w *world) mint(d rules.AccessData) string {
	w.t.Helper()
	d.ForSection, d.OrgID = "dashboard", org
	body, err := json.Marshal(d)
	if err != nil {
		w.t.Fatal(err)
	}
	o := w.ops["admin.sso.create"]
	out, err := o.Do(w.t.Context(), &operation.Call{Spec: &o.Spec, Body: body, Scope: tenant.Everyone("test")})
	if err != nil {
		w.t.Fatal(err)
	}
	return out.(operation.Receipt).Meta.(string)
}

// tap opens a link.
func (b *browser) tap(nonce string) error {
	o := b.ops["sso.tap"]
	out, err := o.Do(b.t.Context(), &operation.Call{Spec: &o.Spec, Query: url.Values{"nonce": {nonce}}})
	if err == nil {
		b.keep(out)
	}
	return err
}

// permissions returns the permissions of the browser's calls.
func (b *browser) permissions() access.Map {
	b.t.Helper()
	c := &operation.Call{Spec: &operation.Spec{Surface: operation.Management, Method: "GET", Intent: access.Read, Permission: access.APIs}, Session: b.cookies[operation.SessionCookie]}
	if err := b.service.Authenticate(b.t.Context(), c); err != nil {
		b.t.Fatal(err)
	}
	if c.Scope.Org() != org {
		b.t.Fatal("calls for another organisation:", c.Scope.Org())
	}
	return c.Principal.Permissions
}

// me returns the user of the browser as the API shows it to the user.
func (b *browser) me() identity.View {
	b.t.Helper()
	o := b.ops["users.me"]
	c := &operation.Call{Spec: &o.Spec, Session: b.cookies[operation.SessionCookie]}
	if err := b.service.Authenticate(b.t.Context(), c); err != nil {
		b.t.Fatal(err)
	}
	out, err := o.Do(b.t.Context(), c)
	if err != nil {
		b.t.Fatal(err)
	}
	return out.(operation.Entity[identity.View]).Value
}

func openSSO(t *testing.T, g rules.Grants) *world {
	w := open(t, session.Config{Grants: g})
	w.do("admin.organisations.create", nil, `{"id":"`+org+`","sso_enabled":true}`)
	w.user("admin@example.com")
	return w
}

// do calls an operation as an admin.
func (w *world) do(id string, path map[string]string, body string) operation.Receipt {
	w.t.Helper()
	o, known := w.ops[id]
	if !known {
		w.t.Fatal("no operation is called", id)
	}
	c := &operation.Call{Spec: &o.Spec, Path: path, Body: []byte(body), Scope: tenant.Everyone("test"),
		Principal: operation.Principal{ID: "admin", Permissions: access.Map{"IsAdmin": "admin"}}}
	if o.Surface == operation.Management {
		c.Scope, c.Principal.OrgID = scope(w.t), org
	}
	out, err := o.Do(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(id, err)
	}
	r, _ := out.(operation.Receipt)
	return r
}

func scope(t *testing.T) tenant.Scope {
	s, err := tenant.Of(org)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// text encodes a value as JSON.
func text(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// group creates a user group.
func (w *world) group(m access.Map) string {
	return w.do("usergroups.create", nil, `{"name":"g","active":true,"user_permissions":`+text(w.t, m)+`}`).Meta.(string)
}

func (w *world) regroup(id string, m access.Map) {
	w.do("usergroups.replace", map[string]string{"groupId": id}, `{"name":"g","active":true,"user_permissions":`+text(w.t, m)+`}`)
}

// member creates a user with permissions.
func (w *world) member(email string, m access.Map) {
	w.do("admin.users.create", nil, text(w.t, map[string]any{"org_id": org, "email_address": email, "user_permissions": m}))
}

func (w *world) deactivate(email string) {
	w.t.Helper()
	list, err := w.users.ByAddress(w.t.Context(), email, org, 1)
	if err != nil || len(list) != 1 {
		w.t.Fatal(list, err)
	}
	w.do("users.revoke", map[string]string{"userId": list[0].ID}, "")
}

// Of many browsers with one nonce, only one succeeds; after a minute none does.
func TestNonceIsUsedOnce(t *testing.T) {
	w := openSSO(t, rules.Grants{Defaults: access.Map{"apis": "read"}})
	nonce := w.mint(rules.AccessData{EmailAddress: "ada@example.com"})
	// Clients put the nonce into URLs without escaping, and may decode it in any
	// alphabet.
	if text, err := base64.StdEncoding.DecodeString(nonce); err != nil || len(text) < 32 || url.QueryEscape(nonce) != nonce {
		t.Errorf("nonce %q: %v", nonce, err)
	}
	var in sync.WaitGroup
	outcomes := make(chan error, 50)
	for range cap(outcomes) {
		in.Go(func() { outcomes <- w.browser("192.0.2.1:1").tap(nonce) })
	}
	in.Wait()
	close(outcomes)
	entered := 0
	for err := range outcomes {
		if err == nil {
			entered++
		} else if fault.CodeOf(err) != session.CodeNonce {
			t.Error(err)
		}
	}
	if entered != 1 {
		t.Error(entered, "browsers got in")
	}
	late := w.mint(rules.AccessData{EmailAddress: "ada@example.com"})
	w.now = w.now.Add(rules.NonceLife)
	if err := w.browser("192.0.2.1:1").tap(late); fault.CodeOf(err) != session.CodeNonce {
		t.Error("a nonce works after a minute:", err)
	}
	if n, err := w.service.Prune(t.Context()); n != 1 || err != nil {
		t.Error("the old nonce is not forgotten:", n, err)
	}
}

// A nonce of a deleted organisation begins no session: its cookies would give access to
// the organisation when it is created again.
func TestNonceOfDeletedOrganisation(t *testing.T) {
	w := openSSO(t, rules.Grants{Defaults: access.Map{"apis": "read"}})
	nonce := w.mint(rules.AccessData{EmailAddress: "ada@example.com"})
	w.do("admin.organisations.delete", map[string]string{"orgID": org}, "")
	b := w.browser("192.0.2.1:1")
	if err := b.tap(nonce); fault.CodeOf(err) != session.CodeNonce || len(b.cookies) > 0 {
		t.Errorf("%v, %d cookies", err, len(b.cookies))
	}
}

// Permissions of a session are computed with every request: when a group changes or is
// deleted, existing sessions are affected.
func TestGuestsFollowTheirGroups(t *testing.T) {
	w := openSSO(t, rules.Grants{Defaults: access.Map{"apis": "read", "keys": "read"}})
	group := w.group(access.Map{"apis": "write", "policies": "read"})
	b := w.browser("192.0.2.1:1")
	if err := b.tap(w.mint(rules.AccessData{EmailAddress: "guest@example.com", GroupID: group})); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(b.permissions()); got != "map[apis:write keys:read policies:read]" {
		t.Error(got)
	}
	if me := b.me(); me.Email != "guest@example.com" || !me.Active || me.GroupID != group || me.Permissions["apis"] != "write" || me.ID == "" {
		t.Errorf("%+v", me)
	}
	w.regroup(group, access.Map{"certs": "read"})
	if got := fmt.Sprint(b.permissions()); got != "map[apis:read certs:read keys:read]" {
		t.Error(got)
	}
	if b.permissions().Admin() {
		t.Error("a guest is an admin")
	}
}

// Of several groups the highest level counts, both for guests and for users to whom the
// broker gives groups; an inactive group gives nothing.
func TestHighestLevelWins(t *testing.T) {
	w := openSSO(t, rules.Grants{Lookup: true})
	w.member("writer@example.com", access.Map{"keys": "write"})
	all := []string{w.group(access.Map{"keys": "deny", "certs": "write"}), w.group(access.Map{"keys": "read", "certs": "deny", "hooks": "deny"})}
	for _, email := range []string{"guest@example.com", "writer@example.com"} {
		b := w.browser("192.0.2.1:1")
		if err := b.tap(w.mint(rules.AccessData{EmailAddress: email, GroupsIDs: all})); err != nil {
			t.Fatal(email, err)
		}
		if got := fmt.Sprint(b.permissions()); got != "map[certs:write hooks:deny keys:read]" {
			t.Errorf("%s: %s", email, got)
		}
	}
}

// A user who is an admin keeps its permissions. Other users get those of the groups
// that the broker names instead of their own, unless the groups do not exist.
func TestRegisteredPeople(t *testing.T) {
	w := openSSO(t, rules.Grants{Lookup: true})
	w.member("writer@example.com", access.Map{"keys": "write"})
	group := w.group(access.Map{"apis": "read"})
	for _, c := range []struct{ email, group, want string }{
		{"admin@example.com", group, "map[IsAdmin:admin]"},
		{"writer@example.com", "", "map[keys:write]"},
		{"writer@example.com", group, "map[apis:read]"},
		{"writer@example.com", "unknown", "map[keys:write]"}, // as without a group
	} {
		w.now = w.now.Add(time.Minute)
		b := w.browser("192.0.2.1:1")
		if err := b.tap(w.mint(rules.AccessData{EmailAddress: c.email, GroupID: c.group})); err != nil {
			t.Fatal(c, err)
		}
		if got := fmt.Sprint(b.permissions()); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
		me := b.me()
		if c.group == group && c.email == "writer@example.com" {
			if fmt.Sprint(me.Permissions) != c.want || me.GroupID != group {
				t.Errorf("%+v: the user is told %v, %q", c, me.Permissions, me.GroupID)
			}
		} else if me.GroupID != "" || fmt.Sprint(me.Permissions) != c.want {
			t.Errorf("%+v: the user is told %v, %q", c, me.Permissions, me.GroupID)
		}
		if !me.LastLogin.Equal(w.now) {
			t.Errorf("%+v: the last login was %s", c, me.LastLogin)
		}
	}
}

// A group that does not exist is ignored: the next source of permissions counts, and
// without any source the person is refused.
func TestUnknownGroups(t *testing.T) {
	for _, c := range []struct {
		name   string
		grants rules.Grants
		want   string
	}{
		{"defaults", rules.Grants{Defaults: access.Map{"apis": "read"}}, "map[apis:read]"},
		{"defaults in place of a default group that is gone", rules.Grants{DefaultGroup: "gone", Defaults: access.Map{"apis": "read"}}, "map[apis:read]"},
		{"nothing", rules.Grants{}, ""},
		{"no admin", rules.Grants{AdminDefault: true}, ""},
	} {
		w := openSSO(t, c.grants)
		b := w.browser("192.0.2.1:1")
		err := b.tap(w.mint(rules.AccessData{EmailAddress: "guest@example.com", GroupID: "unknown"}))
		if c.want == "" {
			if fault.CodeOf(err) != session.CodeRefused {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := fmt.Sprint(b.permissions()); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// People who are not admitted get no session.
func TestRefusedPeople(t *testing.T) {
	w := openSSO(t, rules.Grants{Lookup: true})
	w.member("reader@example.com", access.Map{"keys": "read"})
	w.deactivate("reader@example.com")
	for name, d := range map[string]rules.AccessData{
		"the broker refuses":        {EmailAddress: "admin@example.com", UserNotAllowed: true},
		"no user":                   {EmailAddress: "guest@example.com", GroupID: "g", SSOOnlyForRegisteredUsers: true},
		"an inactive user":          {EmailAddress: "reader@example.com", GroupID: "g"},
		"nothing that grants a bit": {EmailAddress: "guest@example.com"},
	} {
		b := w.browser("192.0.2.1:1")
		nonce := w.mint(d)
		if err := b.tap(nonce); fault.CodeOf(err) != session.CodeRefused || len(b.cookies) > 0 {
			t.Error(name, err)
		}
		if err := b.tap(nonce); fault.CodeOf(err) != session.CodeNonce {
			t.Error(name, "the nonce is not used up:", err)
		}
	}
}

// A nonce is neither stored nor logged in plain text.
func TestNonceIsNotWrittenDown(t *testing.T) {
	w := openSSO(t, rules.Grants{Defaults: access.Map{"apis": "read"}})
	nonce := w.mint(rules.AccessData{EmailAddress: "ada@example.com"})
	if len(nonce) < 40 {
		t.Error("a short nonce")
	}
	stored := ""
	err := w.users.Store.View(t.Context(), tenant.Everyone("test"), func(r store.Reader) error {
		for rec, err := range r.Scan(t.Context(), store.Query{Kind: rules.NonceKind}) {
			if err != nil {
				return err
			}
			stored += fmt.Sprintf("%s %v", rec.Doc, rec.Keys)
		}
		return nil
	})
	if err := w.browser("192.0.2.1:1").tap(nonce); err != nil {
		t.Fatal(err)
	}
	if err != nil || stored == "" || strings.Contains(stored+w.log.String(), nonce) {
		t.Error("the nonce is written down", err)
	}
}
