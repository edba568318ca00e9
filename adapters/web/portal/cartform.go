package portal

import (
	"slices"
	"strconv"
	"strings"
)

// changedCart is the error for a form that shows another cart than the present one.
const changedCart = "Your cart has changed since this form was shown: products that are no longer offered, or that you have asked for already, were removed. Check the cart and send it again."

// planFields begins the names of the fields that choose plans.
const planFields = "plan-for-"

// planField is the field that chooses the plan of an item.
func planField(index int) string { return planFields + strconv.Itoa(index) }

// contents names what is in a cart, in order. The form has it, so that what it says about an
// item is never taken for another one.
func contents(items []item) string {
	var out []string
	for _, i := range items {
		for _, p := range i.Products {
			out = append(out, strconv.Itoa(i.Index)+"."+strconv.Itoa(i.Catalogue.ID)+"."+strconv.Itoa(p.ID))
		}
	}
	return strings.Join(out, " ")
}

// ofCart reports whether a form shows this cart. Forms of other themes do not have the field cart:
// one that chooses plans for more items than there are shows another cart.
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

// asked names the products whose requests were sent before one was refused; "": none.
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

// choosePlans gives items the plans that the form chooses, so that its page shows them again.
func (v *visit) choosePlans(items []item) {
	for i := range items {
		o := &items[i]
		if n := slices.IndexFunc(o.Plans, func(p plan) bool { return strconv.Itoa(p.ID) == v.field(planField(i)) }); n >= 0 {
			o.Plan = o.Plans[n]
		}
	}
}
