package identity_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
)

// change decodes a body.
func change(t testing.TB, body string) (c identity.UserChange) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// many returns n quoted words, each followed by a text.
func many(n int, after string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"g` + strings.Repeat("x", i) + `"` + after)
	}
	return b.String()
}

// TestNewMember: required values of a user of an organisation, and the fields of refusals.
func TestNewMember(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const named = `"first_name":"A","last_name":"B",`
	for body, want := range map[string]string{
		`{` + named + `"email_address":"A@b.example","user_permissions":{"apis":"read"}}`:                                 "",
		`{` + named + `"email_address":"a@b.example","group_id":"g"}`:                                                     "",
		`{` + named + `"email_address":"a@b.example","group_ids":["g"],"user_permissions":null}`:                          "",
		`{` + named + `"email_address":"a@b.example"}`:                                                                    "user_permissions",
		`{` + named + `"email_address":"a@b.example","user_permissions":{"ResetPassword":"admin"}}`:                       "user_permissions",
		`{` + named + `"email_address":"a@b.example","user_permissions":{"apis":"own"}}`:                                  "user_permissions.apis",
		`{` + named + `"user_permissions":{"apis":"read"}}`:                                                               "email_address",
		`{"first_name":"A","email_address":"a@b.example","user_permissions":{"apis":"read"}}`:                             "first_name and last_name",
		`{"first_name":" ","last_name":"B","email_address":"a@b.example","group_id":"g"}`:                                 "first_name",
		`{"first_name":"A","last_name":"","email_address":"a@b.example","group_id":"g"}`:                                  "last_name",
		`{` + named + `"email_address":"a@b.example","group_id":"g","password_max_days":40000}`:                           "password_max_days",
		`{` + named + `"email_address":"a@b.example","group_ids":[` + many(101, "") + `]}`:                                "group_ids",
		`{` + named + `"email_address":"a@b.example","user_permissions":{` + many(1001, `:"read"`) + `}}`:                 "user_permissions",
		`{"first_name":"` + strings.Repeat("a", 1001) + `","last_name":"B","email_address":"a@b.example","group_id":"g"}`: "first_name",
	} {
		u, err := identity.NewMember("1", "o", now, change(t, body))
		if field(err) != want || (err == nil) != (want == "") {
			t.Errorf("%.80s: %v", body, err)
		}
		if fault.KindOf(err) == fault.Denied && !strings.Contains(body, "user_permissions") {
			t.Errorf("%.80s: what is missing is not said: %v", body, err)
		}
		if err == nil && (u.ID != "1" || u.OrgID != "o" || u.Created != now || !u.Active || u.Email != "a@b.example" || u.Permissions == nil) {
			t.Errorf("%s: %+v", body, u)
		}
	}
}

// TestApply: a change keeps absent members.
func TestApply(t *testing.T) {
	was := identity.User{ID: "1", FirstName: "A", Email: "a@b.example", Active: true, GroupIDs: []string{"g"}, Permissions: access.Map{"apis": "read", "ResetPassword": "admin"}}
	for body, c := range map[string]struct {
		kind fault.Kind
		want func(u identity.User) bool
	}{
		`{}`:                {want: func(u identity.User) bool { return u.FirstName == "A" && u.Active && u.Permissions["apis"] == "read" }},
		`{"last_name":""}`:  {want: func(u identity.User) bool { return u.LastName == "" }},
		`{"first_name":""}`: {kind: fault.Invalid},
		`{"active":false}`:  {want: func(u identity.User) bool { return !u.Active && u.Email == "a@b.example" }},
		`{"user_permissions":{"keys":"deny"}}`: {want: func(u identity.User) bool {
			return maps.Equal(u.Permissions, access.Map{"keys": "deny", "ResetPassword": "admin"})
		}},
		`{"password_max_days":30}`: {want: func(u identity.User) bool { return u.PasswordMaxDays == 30 }},
		`{"user_permissions":{}}`: {want: func(u identity.User) bool { // the groups give the others
			return maps.Equal(u.Permissions, access.Map{"ResetPassword": "admin"})
		}},
		`{"group_id":"h"}`:               {want: func(u identity.User) bool { return slices.Equal(u.Groups(), []string{"h", "g"}) && u.Grouped }},
		`{"group_id":"g"}`:               {want: func(u identity.User) bool { return slices.Equal(u.Groups(), []string{"g"}) }},
		`{"group_ids":["g","","g","h"]}`: {want: func(u identity.User) bool { return slices.Equal(u.Groups(), []string{"g", "h"}) }},
	} {
		u, err := was.Apply(change(t, body))
		if c.want == nil && fault.KindOf(err) != c.kind || c.want != nil && (err != nil || !c.want(u)) {
			t.Errorf("%s: %+v, %v", body, u, err)
		}
	}
	bare := identity.User{Permissions: access.Map{"apis": "read"}}
	if _, err := bare.Apply(change(t, `{"user_permissions":{}}`)); fault.KindOf(err) != fault.Denied {
		t.Error(err)
	}
	bare.Permissions["ResetPassword"] = "admin" // users cannot give this, so it does not count as a request
	if _, err := bare.Apply(change(t, `{"user_permissions":{}}`)); fault.KindOf(err) != fault.Denied {
		t.Error(err)
	}
	if !slices.Equal(was.GroupIDs, []string{"g"}) {
		t.Error("a change touches what it is given")
	}
}

// TestGroups: the combined permissions of memberships.
func TestGroups(t *testing.T) {
	group := func(id string, active bool, m access.Map) identity.UserGroup {
		return identity.UserGroup{ID: id, Active: active, Permissions: m}
	}
	readers, writers, asleep := group("r", true, access.Map{"apis": "read"}), group("w", true, access.Map{"keys": "write"}), group("s", false, access.Map{"IsAdmin": "admin"})
	in := func(own access.Map, ids ...string) identity.User { return identity.User{Permissions: own}.In("", ids) }
	for name, c := range map[string]struct {
		have, want access.Map
	}{
		"the group in place of the own map": {in(access.Map{"hooks": "write"}, "r").Effective(readers), access.Map{"apis": "read"}},
		"several":                           {in(nil, "r", "w").Effective(readers, writers), access.Map{"apis": "read", "keys": "write", "oauth": "read"}},
		"an inactive one gives nothing":     {in(access.Map{"hooks": "write"}, "s").Effective(asleep), access.Map{}},
		"one that is gone gives nothing":    {in(access.Map{"hooks": "write"}, "x").Effective(), access.Map{}},
		"an admin stays one":                {in(access.Map{"IsAdmin": "true"}, "r").Effective(readers), access.Map{"apis": "read", "IsAdmin": "admin"}},
		"without the group: the own map":    {in(access.Map{"hooks": "write"}, "r").Without("r").Effective(), access.Map{"hooks": "write"}},
	} {
		if !maps.Equal(c.have, c.want) {
			t.Errorf("%s: %v, want %v", name, c.have, c.want)
		}
	}
	if readers.Permissions.Admin() || len(readers.Permissions) != 1 {
		t.Error("the map of a group has been changed")
	}
	if u := in(nil, "r").Without("r"); u.Effective().Admin() || len(u.Groups()) != 0 {
		t.Errorf("%+v", u)
	}
	if u := (identity.User{}).In("r", []string{"w"}).Without("r"); u.GroupID != "" || !slices.Equal(u.GroupIDs, []string{"w"}) {
		t.Errorf("%+v", u)
	}
}

// TestGroupDrafts: required values of a group, and that ResetPassword stays unchanged.
func TestGroupDrafts(t *testing.T) {
	no := false
	for _, name := range []string{"", " \t"} {
		if _, err := identity.NewGroup("1", "o", identity.GroupDraft{Name: name, Permissions: access.Map{"apis": "read"}}); fault.CodeOf(err) != identity.CodeGroupName || field(err) != "name" {
			t.Errorf("%q: %v", name, err)
		}
	}
	for want, d := range map[string]identity.GroupDraft{
		"":                        {Name: "g", Permissions: access.Map{"apis": "read"}},
		"name ":                   {Name: "g\u202e", Permissions: access.Map{"apis": "read"}},
		"name":                    {Name: strings.Repeat("a", 1001), Permissions: access.Map{"apis": "read"}},
		"description":             {Name: "g", Description: strings.Repeat("a", 1001), Permissions: access.Map{"apis": "read"}},
		"password_max_days":       {Name: "g", PasswordMaxDays: -1, Permissions: access.Map{"apis": "read"}},
		"user_permissions":        {Name: "g"},
		"user_permissions.portal": {Name: "g", Permissions: access.Map{"portal": "yes"}},
	} {
		if g, err := identity.NewGroup("1", "o", d); field(err) != strings.TrimSpace(want) || err == nil && (!g.Active || g.ID != "1" || g.OrgID != "o") {
			t.Errorf("%+v: %+v, %v", d, g, err)
		}
	}
	g := identity.UserGroup{Active: true, Permissions: access.Map{"ResetPassword": "write"}}
	g, err := g.Replace(identity.GroupDraft{Name: "g", Active: &no, Permissions: access.Map{"ResetPassword": "admin", "apis": "read"}})
	if err != nil || g.Active || !maps.Equal(g.Permissions, access.Map{"ResetPassword": "write", "apis": "read"}) {
		t.Errorf("%+v, %v", g, err)
	}
	if g, err = g.Replace(identity.GroupDraft{Name: "g", Permissions: access.Map{"apis": "read"}}); err != nil || g.Active {
		t.Errorf("%+v, %v", g, err)
	}
}

// TestGives: an inactive group gives its members nothing.
func TestGives(t *testing.T) {
	g := identity.UserGroup{Active: true, Permissions: access.Map{"apis": "write"}}
	if !g.Gives().Allows(access.APIs, access.Write) {
		t.Error("an active group gives", g.Gives())
	}
	if g.Active = false; len(g.Gives()) != 0 {
		t.Error("an inactive group gives", g.Gives())
	}
}
