package portal

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// maxMoving bounds the credentials for which a page looks up other plans, and the products
// of each.
const maxMoving = 10

// movable reports whether a credential can have another plan: clients of identity providers
// and of gateways can (docs/wire/portal-own-apps.md#asking-for-access).
func (c credential) movable() bool {
	r := c.request()
	return !c.Custom && c.OAuthClientID != "" && r != nil && (r.DCREnabled || r.AuthType == "oauth")
}

// plansOf returns the plans under which all products of a credential are offered, but for
// the one that it has.
func (v *visit) plansOf(c credential) (out []plan) {
	for i, p := range c.Products {
		var all product
		if !v.peek("/catalogue-products/"+url.PathEscape(p.Path), nil, &all) {
			return nil // it is not offered any more
		}
		all.offerIn()
		offered := slices.DeleteFunc(all.Plans, func(o plan) bool { return o.OfferedIn == 0 || o.ID == c.PlanID })
		if i == 0 {
			out = offered
			continue
		}
		out = slices.DeleteFunc(out, func(o plan) bool {
			return !slices.ContainsFunc(offered, func(other plan) bool { return other.ID == o.ID })
		})
	}
	return out
}

// changePlan asks for another plan for a credential. The one before stays in force until
// somebody has approved the request.
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
