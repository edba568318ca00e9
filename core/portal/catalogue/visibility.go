package catalogue

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Portal says who sees the pages of a portal: a value of the setting PortalVisibility.
type Portal string

// The values.
const (
	PortalPublic  Portal = "Public"
	PortalPrivate Portal = "Private" // users who have logged in
	PortalHidden  Portal = "Hidden"  // admins
)

// Sight is how much a viewer sees of a catalogue.
type Sight struct {
	Seen bool // its products and plans
	Cart bool // and the viewer can request access to them
}

// See returns what a viewer sees of a catalogue on the pages of the portal; nil is a visitor
// who has not logged in (docs/wire/portal-catalogues.md#visibility).
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

// Shows reports whether a product is visible: it is in a visible catalogue. visible must be
// sorted, because pages ask about many products, and portals have many catalogues.
func Shows(visible []table.ID, product []table.ID) bool {
	return slices.ContainsFunc(product, func(id table.ID) bool { return Has(visible, id) })
}

// Has reports whether a catalogue is in visible, which must be sorted.
func Has(visible []table.ID, id table.ID) bool {
	_, has := slices.BinarySearch(visible, id)
	return has
}

// Item is the data of a product or a plan for offers: its provider, and its catalogues.
type Item struct {
	Provider   table.ID
	Catalogues []table.ID
}

// Offers reports whether a plan is offered for a product: both are in one visible catalogue,
// and both have the same provider. visible must be sorted.
func Offers(visible []table.ID, product, plan Item) bool {
	return product.Provider == plan.Provider && slices.ContainsFunc(product.Catalogues, func(id table.ID) bool {
		return Has(visible, id) && slices.Contains(plan.Catalogues, id)
	})
}
