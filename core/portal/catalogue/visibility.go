package catalogue

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Portal is who sees the pages of a portal at all: a value of the setting
// PortalVisibility.
type Portal string

// The values.
const (
	PortalPublic  Portal = "Public"
	PortalPrivate Portal = "Private" // those who have logged in
	PortalHidden  Portal = "Hidden"  // admins
)

// Sight is what somebody sees of a catalogue.
type Sight struct {
	Seen bool // its products and plans
	Cart bool // and can ask for access to them
}

// See returns what somebody sees of a catalogue on the pages of the portal; nil is
// somebody who has not logged in (docs/wire/portal-catalogues.md#visibility).
func (c Catalogue) See(p Portal, viewer *account.User, audiences []Audience) Sight {
	switch {
	case viewer != nil && viewer.Admin():
		return Sight{true, true}
	case p == PortalHidden, viewer != nil && !viewer.Active:
		return Sight{}
	case viewer == nil:
		return Sight{Seen: p == PortalPublic && c.VisibilityStatus == Public}
	case c.VisibilityStatus == Public, len(audiences) == 0 && !c.Closed:
		return Sight{true, true}
	}
	member := slices.ContainsFunc(audiences, func(a Audience) bool { return slices.Contains(viewer.Teams, a.TeamID) })
	return Sight{member, member}
}

// Shows reports whether a product is visible: one visible catalogue has it. Visible ones are in
// order: pages ask about many products, and portals have many catalogues.
func Shows(visible []table.ID, product []table.ID) bool {
	return slices.ContainsFunc(product, func(id table.ID) bool { return Has(visible, id) })
}

// Has reports whether a catalogue is among visible ones, which are in order.
func Has(visible []table.ID, id table.ID) bool {
	_, has := slices.BinarySearch(visible, id)
	return has
}

// Item is a product or a plan as far as it is offered: its provider, and the catalogues
// that it is in.
type Item struct {
	Provider   table.ID
	Catalogues []table.ID
}

// Offers reports whether a plan is offered for a product: one visible catalogue has both,
// and both have the same provider. Visible ones are in order.
func Offers(visible []table.ID, product, plan Item) bool {
	return product.Provider == plan.Provider && slices.ContainsFunc(product.Catalogues, func(id table.ID) bool {
		return Has(visible, id) && slices.Contains(plan.Catalogues, id)
	})
}
