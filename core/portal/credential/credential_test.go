package credential_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/attribute"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TestStates: the result of every event in every state.
func TestStates(t *testing.T) {
	gone, old := "record not found", "the credential has expired: rotate it first"
	want := map[credential.State][]string{ // rotate, extend, reduce, revoke, expire
		credential.Active:  {"active", "active", "active", "revoked", "expired"},
		credential.Expired: {"active", old, "expired", "revoked", "expired"},
		credential.Revoked: {gone, gone, gone, "revoked", "revoked"},
	}
	for _, s := range credential.States {
		for i, e := range credential.Events {
			to, err := s.On(e)
			have := string(to)
			if err != nil {
				have = err.Error()
				if fault.KindOf(err) != fault.Invalid || to != s {
					t.Errorf("%s, %s: %v", s, e, err)
				}
			}
			if have != want[s][i] {
				t.Errorf("%s, %s: %s", s, e, have)
			}
		}
	}
	if _, err := credential.State("x").On(credential.Rotate); err == nil {
		t.Error("an unknown state has a future")
	}
	for expires, want := range map[time.Time]credential.State{{}: credential.Active, at.Add(1): credential.Active, at: credential.Expired, at.Add(-1): credential.Expired} {
		if have := (credential.Credential{Expires: expires}).State(at); have != want {
			t.Error(expires, have)
		}
	}
}

// TestSharing: the products of a credential when access requests join and leave.
func TestSharing(t *testing.T) {
	one := request.Request{Base: table.Base{ID: 1}, AppID: 2, PlanID: 3, AuthType: "authToken", ProductIDs: []table.ID{10, 11}}
	two := request.Request{Base: table.Base{ID: 2}, AppID: 2, PlanID: 3, AuthType: "authToken", ProductIDs: []table.ID{12}}
	c := credential.Credential{AppID: 2, RequestID: 1, PlanID: 3, AuthType: "authToken", Products: []table.ID{10, 11}}
	if wrong := c.Reusable(two, at); len(wrong) != 0 {
		t.Fatal(wrong)
	}
	both := c.With(two)
	if !slices.Equal(both.Products, []table.ID{10, 11, 12}) || !slices.Equal(both.Requests(), []table.ID{1, 2}) || len(c.Shared) != 0 {
		t.Errorf("%+v", both)
	}
	left, some := both.Without(one, []request.Request{two})
	if !some || left.RequestID != 2 || len(left.Shared) != 0 || !slices.Equal(left.Products, []table.ID{12}) || len(both.Products) != 3 {
		t.Errorf("%+v", left)
	}
	if _, some := left.Without(two, nil); some {
		t.Error("something is left of nothing")
	}
	for _, c := range []struct {
		product  table.ID
		products []table.ID
		requests []table.ID
		over     int // requests without products left
	}{{10, []table.ID{11, 12}, []table.ID{1, 2}, 0}, {12, []table.ID{10, 11}, []table.ID{1}, 1}} {
		left, changed, ok := both.Less(c.product, []request.Request{one, two})
		if !ok || !slices.Equal(left.Products, c.products) || !slices.Equal(left.Requests(), c.requests) || len(changed) != 1 || (len(changed[0].ProductIDs) == 0) != (c.over == 1) || len(both.Products) != 3 || len(one.ProductIDs) != 2 {
			t.Errorf("%+v %+v", left, changed)
		}
	}
	for _, id := range []table.ID{9, 12} { // a product that it does not have, and its only one
		if left, _, ok := (credential.Credential{RequestID: 2, Products: []table.ID{12}}).Less(id, []request.Request{two}); ok {
			t.Errorf("%+v", left)
		}
	}
	for what, r := range map[string]request.Request{
		"is invalid": {AppID: 9}, "another plan": {AppID: 2, PlanID: 4, AuthType: "authToken"}, "another authentication": {AppID: 2, PlanID: 3, AuthType: "jwt"},
		"has the product": {AppID: 2, PlanID: 3, AuthType: "authToken", ProductIDs: []table.ID{11}},
		"too many":        {AppID: 2, PlanID: 3, AuthType: "authToken", ProductIDs: make([]table.ID, 50)},
	} {
		if wrong := c.Reusable(r, at); len(wrong) != 1 || !strings.Contains(wrong[0], what) {
			t.Errorf("%s: %q", what, wrong)
		}
	}
	// A request for all products of a client under another plan moves the credential to this
	// plan, and back when the request is removed.
	moving := request.Request{Base: table.Base{ID: 4}, AppID: 2, PlanID: 4, AuthType: "authToken", ProductIDs: []table.ID{11, 10}, DCREnabled: true}
	if wrong := c.Reusable(moving, at); len(wrong) != 0 {
		t.Error(wrong)
	}
	for _, list := range [][]table.ID{{10}, {10, 11, 12}, {10, 12}} {
		part := moving
		if part.ProductIDs = list; c.Moves(part) || len(c.Reusable(part, at)) == 0 {
			t.Errorf("a request for %v moves a credential for %v", list, c.Products)
		}
	}
	moved := c.With(moving)
	if moved.PlanID != 4 || !slices.Equal(moved.Products, c.Products) {
		t.Errorf("%+v", moved)
	}
	if left, some := moved.Without(moving, []request.Request{one}); !some || left.PlanID != 3 || !slices.Equal(left.Products, c.Products) {
		t.Errorf("%+v", left)
	}
	if left, some := moved.Without(one, []request.Request{moving}); !some || left.PlanID != 4 {
		t.Errorf("%+v", left)
	}
	c.Expires = at
	if wrong := c.Reusable(two, at); len(wrong) != 1 || !strings.Contains(wrong[0], "expired") {
		t.Error(wrong)
	}
	if c.ClientID = "c1"; len(c.Reusable(two, at)) != 0 {
		t.Error(c.Reusable(two, at))
	}
}

// TestSession: the session of an app's key.
func TestSession(t *testing.T) {
	b := credential.Bearer{App: 5, Name: "Till", Developer: 7, Organisation: 2, Teams: []table.ID{20, 21},
		Names: []credential.Entry{{Name: "First", Text: "Ada"}, {Name: "TeamNames", Texts: []string{"A", "B"}}}}
	s := credential.Session(b, "org", credential.Policies([]string{"one", "", "two"}, "gold"), credential.After(at, 3600))
	want := `{"apply_policies":["one","two","gold"],"org_id":"org","expires":1767326645,"alias":"Till (5)","meta_data":{"DeveloperID":7,"ApplicationID":5,"OrganisationID":2,"TeamIDs":[20,21],"First":"Ada","TeamNames":["A","B"]},"tags":["portal-app-5","portal-org-2"]}`
	if have := string(s.JSON()); have != want {
		t.Errorf("%s\nwant %s", have, want)
	}
	s = credential.Session(credential.Bearer{}, "", nil, credential.After(at, 0))
	if s.Get("expires").Int() != 0 || s.Get("org_id") != nil || s.Get("meta_data", "TeamIDs").Len() != 0 || s.Get("meta_data", "TeamIDs") == nil {
		t.Error(string(s.JSON()))
	}
}

// TestReserved: attributes do not replace the reserved members of metadata.
func TestReserved(t *testing.T) {
	b := credential.Bearer{App: 7, Developer: 3, Organisation: 2}
	for _, name := range append([]string{"Shoe"}, attribute.Reserved...) {
		b.Names = append(b.Names, credential.Entry{Name: name, Text: "1"})
	}
	if got := string(b.MetaData().JSON()); got != `{"DeveloperID":3,"ApplicationID":7,"OrganisationID":2,"TeamIDs":[],"Shoe":"1"}` {
		t.Error(got)
	}
}

// TestTables: the fields of credentials and of the bodies that change them.
func TestTables(t *testing.T) {
	tabletest.Sound[credential.Credential](t, `{}`)
	tabletest.Sound[credential.Renewal](t, `{"Certificate":"pem"}`)
	tabletest.Sound[credential.Renamed](t, `{"Alias":"till"}`)
	tabletest.Sound[credential.CustomOrder](t, `{"Alias":"till","Type":"`+credential.Elsewhere+`","CredentialKey":"k"}`)
}
