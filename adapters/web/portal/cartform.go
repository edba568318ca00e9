package portal

import (
	"slices"
	"strconv"
	"strings"
)

// changedCart is the error for a form that was made for another cart than the current one.
const changedCart = "Your cart has changed since this form was shown: products that are no longer offered, or that you have asked for already, were removed. Check the cart and send it again."

// planFields is the prefix of the names of the form fields that choose plans.
const planFields = "plan-for-"

// planField returns the name of the field that chooses the plan of an item.
func planField(index int) string { return planFields + strconv.Itoa(index) }

// contents returns a text that identifies the items of a cart, in order. The form contains it, so
// that its choices are never applied to other items.
func contents(items []item) string {
	var out []string
	for _, i := range items {
		for _, p := range i.Products {
			out = append(out, strconv.Itoa(i.Index)+"."+strconv.Itoa(i.Catalogue.ID)+"."+strconv.Itoa(p.ID))
		}
	}
	return strings.Join(out, " ")
}

// ofCart reports whether a form was made for this cart. Forms of other themes lack the field cart:
// if such a form chooses plans for more items than there are, it was made for another cart.
func (v *visit) ofCart(items []item) bool {
	if v.r.PostForm.Has("cart") {
		return v.field("cart") == contents(items)
	}
	for name := range v.r.PostForm {
		if place, is := strings.CutPrefix(name, planFields); is {
			if n, err := strconv.Atoi(place); err == nil && n >= len(items) {
				return false
			}
		}
	}
	return true
}

// asked returns the names of the products whose requests were sent before one failed; "": none.
func asked(items []item) string {
	var names []string
	for _, i := range items {
		for _, p := range i.Products {
			names = append(names, p.DisplayName())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Your request for " + strings.Join(names, ", ") + " was sent and is out of the cart. The products below have not been asked for yet."
}

// choosePlans applies the form's choice of plans to items, so that the page shows them again.
func (v *visit) choosePlans(items []item) {
	for i := range items {
		o := &items[i]
		if n := slices.IndexFunc(o.Plans, func(p plan) bool { return strconv.Itoa(p.ID) == v.field(planField(i)) }); n >= 0 {
			o.Plan = o.Plans[n]
		}
	}
}
