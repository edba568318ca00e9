package portal

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// Bounds of the alternative plans that a page of an app offers.
const (
	maxMoving  = 10   // products of a credential
	maxLookups = 20   // products that are looked up, for all plans
	maxOffers  = 1000 // plans, counted for each credential
)

// moves caches the plans of products, so that each product is looked up once.
type moves struct {
	*visit
	known map[string][]plan // by path; nil: it is no longer offered
}

// offerPlans looks up alternative plans for the credentials of a page: first for the credential
// that the address or a form names, then for others as far as the bounds allow. MorePlans marks
// the rest.
func (v *visit) offerPlans(list []credential) {
	named, m, left := cmp.Or(v.r.PathValue("credential"), v.r.URL.Query().Get("plans")), moves{v, map[string][]plan{}}, maxOffers
	order := make([]*credential, 0, len(list))
	for i := range list {
		if c := &list[i]; strconv.Itoa(c.ID) == named {
			order = slices.Insert(order, 0, c)
		} else {
			order = append(order, c)
		}
	}
	for _, c := range order {
		if !c.movable() || len(c.Products) > maxMoving {
			continue
		}
		looked := len(m.known) // with the products of this credential
		for _, p := range c.Products {
			if _, known := m.known[p.Path]; !known {
				looked++
			}
		}
		if left <= 0 || looked > maxLookups {
			c.MorePlans = true
			continue
		}
		offered := m.plansOf(*c)
		if len(offered) > left && left < maxOffers { // the first credential may use up the bound
			c.MorePlans = true
			continue
		}
		c.OtherPlans = offered[:min(len(offered), left)]
		left -= len(c.OtherPlans)
	}
}

// movable reports whether a credential can change its plan: clients of identity providers and
// of gateways can (docs/wire/portal-own-apps.md#asking-for-access).
func (c credential) movable() bool {
	r := c.request()
	return !c.Custom && c.OAuthClientID != "" && r != nil && (r.DCREnabled || r.AuthType == "oauth")
}

// plansOf returns the plans under which all products of a credential are offered, except its
// current plan.
func (m moves) plansOf(c credential) (out []plan) {
	for i, p := range c.Products {
		offered, known := m.known[p.Path]
		if !known {
			var all product
			if m.peek("/catalogue-products/"+url.PathEscape(p.Path), nil, &all) {
				all.offerIn()
				offered = slices.DeleteFunc(all.Plans, func(o plan) bool { return o.OfferedIn == 0 })
				for i := range offered { // pages identify plans by name and limits
					offered[i].Description = ""
				}
			}
			m.known[p.Path] = offered
		}
		if i == 0 {
			out = slices.DeleteFunc(slices.Clone(offered), func(o plan) bool { return o.ID == c.PlanID })
			continue
		}
		out = slices.DeleteFunc(out, func(o plan) bool {
			return !slices.ContainsFunc(offered, func(other plan) bool { return other.ID == o.ID })
		})
	}
	return out
}

// changePlan requests another plan for a credential. The old plan stays in force until the
// request is approved.
func (v *visit) changePlan() {
	var app client
	if !v.get("/apps"+v.part("app"), nil, &app) {
		return
	}
	app.settle()
	i := slices.IndexFunc(app.Credentials, func(c credential) bool { return strconv.Itoa(c.ID) == v.r.PathValue("credential") })
	if i < 0 {
		v.absent()
		return
	}
	c := app.Credentials[i]
	if !c.movable() {
		v.managed([]string{"This credential keeps its plan. Ask for access under the other plan, and delete this credential when you have the new one."}, http.StatusUnprocessableEntity, nil)
		return
	}
	ids := make([]int, len(c.Products))
	for i, p := range c.Products {
		ids[i] = p.ID
	}
	order := map[string]any{"PlanID": v.field("new_plan_id"), "ProductIDs": ids, "CredentialID": c.ID}
	if t := c.request().DCRTemplateID; t != 0 {
		order["DCRTemplateID"] = t
	}
	a := v.call(http.MethodPost, "/apps"+v.part("app")+"/access-requests", nil, order)
	var made accessRequest
	if a.ok() && json.Unmarshal(a.body.Bytes(), &made) == nil && made.Status == "approved" {
		v.after(a, "moved")
		return
	}
	v.after(a, "requested")
}
