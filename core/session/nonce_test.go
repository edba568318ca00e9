package session_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/session"
)

func TestPerson(t *testing.T) {
	good := session.AccessData{ForSection: "dashboard", GroupID: "g1", GroupsIDs: []string{"g2", "", "g1"}, SSOOnlyForRegisteredUsers: true, UserNotAllowed: true, DisplayName: "Ada"}
	p, err := good.Person("ada@example.com")
	want := session.Person{Section: "dashboard", Email: "ada@example.com", DisplayName: "Ada", Groups: []string{"g1", "g2"}, Registered: true, Refused: true}
	if err != nil || !reflect.DeepEqual(p, want) {
		t.Errorf("%+v %v", p, err)
	}
	for field, d := range map[string]session.AccessData{
		"ForSection":  {ForSection: "Dashboard"},
		"DisplayName": {ForSection: "portal", DisplayName: strings.Repeat("x", 321)},
		"GroupsIDs":   {ForSection: "portal", GroupsIDs: make([]string, 101)},
	} {
		_, err := d.Person("ada@example.com")
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if p, err := (session.AccessData{}).Person("a@b.c"); err != nil || p.Section != session.Dashboard {
		t.Error("without a section it is for the dashboard:", p, err)
	}
	if _, err := (session.AccessData{ForSection: "portal", GroupID: strings.Repeat("x", 321)}).Person("a@b.c"); err == nil {
		t.Error("a group of 321 characters")
	}
	if _, err := good.Person(""); err == nil {
		t.Error("no address")
	}
	if p, err := good.Guest(""); err != nil || p.Email != "" || len(p.Groups) != 2 {
		t.Error("a guest without an address:", p, err)
	}
	good.EmailAddress = "none"
	if _, err := good.Guest(""); err == nil {
		t.Error("what is no address")
	}
}

// TestSource has the order in which the permissions of a person are looked for.
func TestSource(t *testing.T) {
	defaults, admin := access.Map{"apis": "read"}, access.Map{"IsAdmin": "admin"}
	for _, c := range []struct {
		name   string
		grants session.Grants
		groups []string // g and d exist
		want   session.Source
		ok     bool
	}{
		{"groups that exist", session.Grants{DefaultGroup: "d"}, []string{"gone", "g"}, session.Source{Groups: []string{"g"}}, true},
		{"the default group for groups that are gone", session.Grants{DefaultGroup: "d", Defaults: defaults}, []string{"gone"}, session.Source{Groups: []string{"d"}}, true},
		{"defaults for groups that are gone", session.Grants{DefaultGroup: "gone too", Defaults: defaults, AdminDefault: true}, []string{"gone"}, session.Source{Defaults: defaults}, true},
		{"nothing for a group that is gone", session.Grants{AdminDefault: true}, []string{"gone"}, session.Source{}, false},
		{"nothing for a default group that is gone", session.Grants{DefaultGroup: "gone", AdminDefault: true}, nil, session.Source{}, false},
		{"groups of the request, and defaults", session.Grants{DefaultGroup: "d", Defaults: defaults, AdminDefault: true}, []string{"g"}, session.Source{Groups: []string{"g"}, Defaults: defaults}, true},
		{"the default group", session.Grants{DefaultGroup: "d", Defaults: defaults, AdminDefault: true}, nil, session.Source{Groups: []string{"d"}}, true},
		{"defaults", session.Grants{Defaults: defaults, AdminDefault: true}, nil, session.Source{Defaults: defaults}, true},
		{"admin, if that is allowed", session.Grants{AdminDefault: true}, nil, session.Source{Defaults: admin}, true},
		{"nothing", session.Grants{}, nil, session.Source{}, false},
	} {
		got, ok := c.grants.Source(session.Person{Groups: c.groups}, []string{"g", "d"})
		if ok != c.ok || !slices.Equal(got.Groups, c.want.Groups) || !reflect.DeepEqual(got.Defaults, c.want.Defaults) {
			t.Errorf("%s: %+v %v", c.name, got, ok)
		}
	}
}
