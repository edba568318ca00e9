package identity_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestBootstrap states that Bootstrap creates missing records, changes no existing
// ones, and returns the same however often it runs.
func TestBootstrap(t *testing.T) {
	const key = "0123456789abcdef0123456789abcdef"
	for name, c := range map[string]struct {
		before  func(h *house)
		first   identity.First
		org     tenant.ID // "": generated
		key     string    // "": generated
		created bool
	}{
		"an empty store":         {first: identity.First{Email: "me@example.com"}, created: true},
		"with all that it takes": {first: identity.First{OrgID: acme, Email: "Me@Example.com", AccessKey: key, Password: "secret-word"}, org: acme, key: key, created: true},
		"the organisation is there, by ID": {before: func(h *house) { h.organisation(t, acme) },
			first: identity.First{OrgID: acme, Email: "me@example.com"}, org: acme, created: true},
		"the organisation is there, by slug": {before: func(h *house) { h.organisation(t, acme) },
			first: identity.First{OwnerSlug: acme, Email: "me@example.com"}, org: acme, created: true},
		"another organisation is there": {before: func(h *house) { h.organisation(t, other) },
			first: identity.First{OrgID: acme, Email: "me@example.com"}, org: acme, created: true},
		"the slug is another's, but there is an ID": {before: func(h *house) { h.organisation(t, other) },
			first: identity.First{OrgID: acme, OwnerSlug: other, Email: "me@example.com"}, org: acme, created: true},
		"the address is there": {before: func(h *house) {
			h.organisation(t, acme)
			h.user(t, `{"org_id":"`+acme+`","email_address":"me@example.com"}`)
		}, first: identity.First{OrgID: acme, Email: "ME@example.com", AccessKey: key}, org: acme},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			if c.before != nil {
				c.before(h)
			}
			b, err := h.Bootstrap(t.Context(), c.first)
			if err != nil || b.Created != c.created || b.OrgID == "" || c.org != "" && b.OrgID != c.org || c.key != "" && b.AccessKey != c.key {
				t.Fatalf("%+v, %v", b, err)
			}
			call, err := h.login(t, b.AccessKey, access.IsAdmin, access.Write)
			if err != nil || call.Principal.ID != b.UserID || call.Scope.Org() != b.OrgID || !call.Principal.Permissions.Admin() {
				t.Errorf("the admin is %+v, %v", call.Principal, err)
			}
			again, err := h.Bootstrap(t.Context(), c.first)
			if b.Created = false; err != nil || again != b {
				t.Errorf("the second time: %+v, %v; want %+v", again, err, b)
			}
		})
	}
}

// TestBootstrapRefuses states that the error names the setting that is wrong, and that
// Bootstrap does not take over an address of another user.
func TestBootstrapRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		first identity.First
		code  string
		kind  fault.Kind
	}{
		"an organisation of no form":         {identity.First{OrgID: "a/b", Email: "me@example.com"}, "organisation.id", fault.Invalid},
		"no address":                         {identity.First{}, "user.email_address", fault.Invalid},
		"a short password":                   {identity.First{Email: "me@example.com", Password: "1"}, "user.password", fault.Invalid},
		"an address of another organisation": {identity.First{OrgID: acme, Email: "taken@example.com"}, "user.taken", fault.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			h.organisation(t, other)
			h.user(t, `{"org_id":"`+other+`","email_address":"taken@example.com"}`)
			b, err := h.Bootstrap(t.Context(), c.first)
			wants(t, err, c.kind, c.code)
			if b.AccessKey != "" {
				t.Errorf("an access key is given out: %+v", b)
			}
			err = h.Store.View(t.Context(), tenant.Everyone("test"), func(r store.Reader) error {
				n, err := r.Count(t.Context(), store.Query{Kind: "organisation"})
				if n != 1 {
					t.Errorf("%d organisations: one has no admin", n)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBootstrapAnew: an address of a user of a deleted organisation can be used again.
func TestBootstrapAnew(t *testing.T) {
	h := open(t)
	h.organisation(t, other)
	h.user(t, `{"org_id":"`+other+`","email_address":"ann@example.com"}`)
	if _, err := h.Bootstrap(t.Context(), identity.First{OrgID: acme, Email: "ann@example.com"}); fault.KindOf(err) != fault.Conflict {
		t.Error(err)
	}
	if _, err := h.ask(t, "admin.organisations.delete", operation.Call{Scope: tenant.Everyone("test"), Path: map[string]string{"orgID": other}}, ""); err != nil {
		t.Fatal(err)
	}
	if b, err := h.Bootstrap(t.Context(), identity.First{OrgID: acme, Email: "ann@example.com"}); err != nil || b.OrgID != acme {
		t.Error(b, err)
	}
}

func TestEmpty(t *testing.T) {
	h := open(t)
	if empty, err := h.Empty(t.Context()); !empty || err != nil {
		t.Errorf("a new store: %v, %v", empty, err)
	}
	h.user(t, `{"email_address":"root@example.com"}`) // an organisation decides, not a user
	if empty, err := h.Empty(t.Context()); !empty || err != nil {
		t.Errorf("with a super user: %v, %v", empty, err)
	}
	h.organisation(t, acme)
	if empty, err := h.Empty(t.Context()); empty || err != nil {
		t.Errorf("with an organisation: %v, %v", empty, err)
	}
}

// TestOrganisations states that the super-admin reads organisations by ID and in pages,
// and cannot create a second organisation with an ID.
func TestOrganisations(t *testing.T) {
	h := open(t)
	ask := func(id string, path, query map[string]string, body string) (string, error) {
		c := operation.Call{Path: path, Query: map[string][]string{}, Scope: tenant.Everyone("test")}
		for k, v := range query {
			c.Query[k] = []string{v}
		}
		return h.ask(t, id, c, body)
	}
	for _, c := range []struct{ body, code string }{
		{`{"id":"a","owner_name":"A"}`, ""}, {`{"id":"b"}`, ""}, {`{"owner_slug":"generated"}`, ""},
		{`{"id":"a","owner_name":"thief"}`, "organisation.taken"}, {`{"id":"no/path"}`, "organisation.id"},
	} {
		_, err := ask("admin.organisations.create", nil, nil, c.body)
		wants(t, err, map[string]fault.Kind{"organisation.taken": fault.Conflict, "organisation.id": fault.Invalid}[c.code], c.code)
	}
	text, err := ask("admin.organisations.get", map[string]string{"orgID": "a"}, nil, "")
	if err != nil || !strings.Contains(text, `"owner_name":"A"`) {
		t.Errorf("%s, %v", text, err)
	}
	_, err = ask("admin.organisations.get", map[string]string{"orgID": "c"}, nil, "")
	wants(t, err, fault.NotFound, "organisation.not_found")
	for page, want := range map[string]int{"1": 2, "2": 1} {
		text, err := ask("admin.organisations.list", nil, map[string]string{"p": page}, "")
		if n := strings.Count(text, `"owner_slug"`); err != nil || n != want {
			t.Errorf("page %s has %d: %s, %v", page, n, text, err)
		}
	}
}

// TestRules states that the rules of the service decide for an organisation that has no
// rules of its own or is deleted.
func TestRules(t *testing.T) {
	h := open(t)
	h.organisation(t, other)
	if _, err := h.ask(t, "admin.organisations.create", operation.Call{Scope: tenant.Everyone("test")}, `{"id":"`+acme+`","open_policy":{"enabled":true,"rules":"package dashboard_users"}}`); err != nil {
		t.Fatal(err)
	}
	for org, want := range map[tenant.ID]string{acme: "package dashboard_users", other: "", "gone": ""} {
		if rules, err := h.Rules(t.Context(), org); rules != want || err != nil {
			t.Errorf("%s: %q, %v", org, rules, err)
		}
	}
}

// TestReadable states which stored records are refused: organisations and users that
// cannot be decoded, and no records of other kinds.
func TestReadable(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		readable   bool
	}{
		{"organisation", `{"id":"a"}`, true}, {"organisation", `{"id":5}`, false}, {"user", `{"id":"u"}`, true}, {"user", `{"id":`, false},
		{"user", `{"active":"yes"}`, false}, {"api", `{"id":`, true},
	} {
		known := crud.Kinds{identity.Organisations(nil, nil).Registration(), identity.UserRegistration()}
		if err := known.Readable(store.Record{Kind: c.kind, Doc: []byte(c.text)}); (err == nil) != c.readable {
			t.Errorf("%s %s: %v", c.kind, c.text, err)
		}
	}
}
