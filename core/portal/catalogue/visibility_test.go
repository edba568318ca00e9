package catalogue_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// viewers are all kinds of viewers.
var viewers = map[string]*account.User{
	"anonymous":     nil,
	"member":        {Role: account.Member, Active: true, Teams: []table.ID{1, 7}},
	"stranger":      {Role: account.ConsumerAdmin, Active: true, Teams: []table.ID{1}},
	"without teams": {Role: account.Member, Active: true},
	"locked out":    {Role: account.Member, Teams: []table.ID{7}},
	"admin":         {Role: account.ProviderAdmin, Active: true},
	"super-admin":   {Role: account.SuperAdmin, Active: true},
}

// TestSee tests all combinations of portal, visibility, audiences and viewer. A catalogue with
// an empty status is private.
func TestSee(t *testing.T) {
	nothing, seen, all := catalogue.Sight{}, catalogue.Sight{Seen: true}, catalogue.Sight{Seen: true, Cart: true}
	type row map[string]catalogue.Sight
	same := func(anonymous, member, stranger catalogue.Sight) row {
		return row{"anonymous": anonymous, "member": member, "stranger": stranger, "without teams": stranger, "locked out": nothing, "admin": all, "super-admin": all}
	}
	admins := same(nothing, nothing, nothing)
	want := map[string]row{
		"Public/Public/none": same(seen, all, all), "Public/Public/some": same(seen, all, all),
		"Public/Private/none": same(nothing, all, all), "Public/Private/some": same(nothing, all, nothing),
		"Public//none": same(nothing, all, all), "Public//some": same(nothing, all, nothing),
		"Private/Public/none": same(nothing, all, all), "Private/Public/some": same(nothing, all, all),
		"Private/Private/none": same(nothing, all, all), "Private/Private/some": same(nothing, all, nothing),
		"Private//none": same(nothing, all, all), "Private//some": same(nothing, all, nothing),
		"Hidden/Public/none": admins, "Hidden/Public/some": admins, "Hidden/Private/none": admins,
		"Hidden/Private/some": admins, "Hidden//none": admins, "Hidden//some": admins,
	}
	asked := 0
	for _, portal := range []catalogue.Portal{catalogue.PortalPublic, catalogue.PortalPrivate, catalogue.PortalHidden} {
		for _, status := range []string{catalogue.Public, catalogue.Private, ""} {
			for name, audiences := range map[string][]catalogue.Audience{"none": nil, "some": {{TeamID: 9}, {TeamID: 7}}} {
				key := fmt.Sprintf("%s/%s/%s", portal, status, name)
				for who, viewer := range viewers {
					asked++
					if got := (catalogue.Catalogue{VisibilityStatus: status}).See(portal, viewer, audiences); got != want[key][who] {
						t.Errorf("%s, %s: %+v, want %+v", key, who, got, want[key][who])
					}
				}
			}
		}
	}
	if asked != len(want)*len(viewers) {
		t.Errorf("the table has %d rows for %d viewers; asked %d times", len(want), len(viewers), asked)
	}
}

// TestSeeClosed: a private catalogue does not open when the teams of its audiences are
// deleted.
func TestSeeClosed(t *testing.T) {
	c := catalogue.Catalogue{VisibilityStatus: catalogue.Private, Closed: true}
	for name, want := range map[string]bool{"member": false, "stranger": false, "anonymous": false, "admin": true} {
		if got := c.See(catalogue.PortalPublic, viewers[name], nil); got.Seen != want || got.Cart != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if !c.See(catalogue.PortalPublic, viewers["member"], []catalogue.Audience{{TeamID: 7}}).Seen {
		t.Error("a member of another audience does not see it")
	}
	if c.VisibilityStatus = catalogue.Public; !c.See(catalogue.PortalPublic, viewers["stranger"], nil).Seen {
		t.Error("a public catalogue is closed")
	}
}

// TestOffers: a product is visible in a visible catalogue, and a plan is offered in a visible
// catalogue that has both.
func TestOffers(t *testing.T) {
	ids := func(list ...table.ID) []table.ID { return list }
	for name, c := range map[string]struct {
		visible       []table.ID
		product, plan catalogue.Item
		shown, offers bool
	}{
		"one catalogue with both":         {ids(1), catalogue.Item{1, ids(1)}, catalogue.Item{1, ids(1)}, true, true},
		"one of several":                  {ids(2, 3), catalogue.Item{1, ids(1, 3)}, catalogue.Item{1, ids(3)}, true, true},
		"each in another":                 {ids(1, 2), catalogue.Item{1, ids(1)}, catalogue.Item{1, ids(2)}, true, false},
		"the common one is not visible":   {ids(1), catalogue.Item{1, ids(1, 2)}, catalogue.Item{1, ids(2)}, true, false},
		"only the plan is visible":        {ids(2), catalogue.Item{1, ids(1)}, catalogue.Item{1, ids(2)}, false, false},
		"providers differ":                {ids(1), catalogue.Item{1, ids(1)}, catalogue.Item{2, ids(1)}, true, false},
		"a product only to read about":    {ids(1), catalogue.Item{0, ids(1)}, catalogue.Item{1, ids(1)}, true, false},
		"nothing is visible":              {nil, catalogue.Item{1, ids(1)}, catalogue.Item{1, ids(1)}, false, false},
		"the product is in no catalogue":  {ids(1), catalogue.Item{1, nil}, catalogue.Item{1, ids(1)}, false, false},
		"neither is in a catalogue":       {ids(1), catalogue.Item{1, nil}, catalogue.Item{1, nil}, false, false},
		"the plan is in no catalogue":     {ids(1), catalogue.Item{1, ids(1)}, catalogue.Item{1, nil}, true, false},
		"all three in several catalogues": {ids(1, 2, 3), catalogue.Item{4, ids(3, 2)}, catalogue.Item{4, ids(2, 3)}, true, true},
	} {
		if got := catalogue.Shows(c.visible, c.product.Catalogues); got != c.shown {
			t.Errorf("%s: shown %v", name, got)
		}
		if got := catalogue.Offers(c.visible, c.product, c.plan); got != c.offers {
			t.Errorf("%s: offered %v", name, got)
		}
	}
}
