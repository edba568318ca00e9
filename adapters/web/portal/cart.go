package portal

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// cartRoutes are the pages on which developers request access.
var cartRoutes = map[string]func(*visit){
	"POST /portal/catalogue-products/{path}":                 (*visit).pick,
	"GET /portal/private/cart/provision":                     (*visit).checkoutForm,
	"POST /portal/private/cart/provision":                    (*visit).checkout,
	"GET /portal/private/cart/remove/{catalogue}/{product}":  (*visit).unpick,
	"POST /portal/private/cart/remove/{catalogue}/{product}": (*visit).unpick,
}

// checkoutPage is the page with the form for access requests.
const checkoutPage = "/portal/private/cart/provision"

// picked is an item in the cart: a product of a catalogue under a plan. It only contains
// names, which are looked up in the catalogue each time.
type picked struct {
	catalogue, product, plan int
	path                     string // of the product
}

// Bounds of a cart.
const (
	maxPicks  = 20
	maxCookie = 3500
)

// cartCookie is the name of the cookie with the cart.
const cartCookie = "portal-cart"

// picks returns the items in the viewer's cart: from the cookie, or from the address if the
// portal has no cart. A cookie of another user of the same browser counts as an empty cart.
func (v *visit) picks() (out []picked) {
	if v.site.Viewer == nil {
		return nil
	}
	if v.direct() {
		q := v.r.URL.Query()
		p, ok := pickOf(q.Get("catalogue"), q.Get("product"), q.Get("plan"), q.Get("path"))
		if ok && v.r.URL.Path == checkoutPage {
			out = append(out, p)
		}
		return out
	}
	c, err := v.r.Cookie(cartCookie)
	if err != nil || len(c.Value) > maxCookie {
		return nil
	}
	owner, list, _ := strings.Cut(c.Value, ":")
	if owner != strconv.Itoa(v.site.Viewer.ID) {
		return nil
	}
	for one := range strings.SplitSeq(list, "_") {
		parts := strings.SplitN(one, ".", 4)
		if len(parts) < 4 || len(out) == maxPicks {
			continue
		}
		path, err := url.QueryUnescape(parts[3])
		if p, ok := pickOf(parts[0], parts[1], parts[2], path); ok && err == nil {
			out = append(out, p)
		}
	}
	return out
}

func pickOf(catalogue, product, plan, path string) (p picked, ok bool) {
	var wrong [3]error
	p.catalogue, wrong[0] = strconv.Atoi(catalogue)
	p.product, wrong[1] = strconv.Atoi(product)
	p.plan, wrong[2] = strconv.Atoi(plan)
	p.path = path
	return p, wrong == [3]error{} && strings.Trim(path, ".") != ""
}

// direct reports whether access is requested without a cart.
func (v *visit) direct() bool { return v.site.APIAccessFlow == "direct" }

// keep stores the cart in the browser. It returns false when the cart is full.
func (v *visit) keep(list []picked) bool {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = strings.Join([]string{strconv.Itoa(p.catalogue), strconv.Itoa(p.product), strconv.Itoa(p.plan), strings.ReplaceAll(url.QueryEscape(p.path), "_", "%5F")}, ".")
	}
	c := &http.Cookie{Name: cartCookie, Value: strconv.Itoa(v.site.Viewer.ID) + ":" + strings.Join(texts, "_"), Path: "/", HttpOnly: true, Secure: v.Secure, SameSite: http.SameSiteStrictMode}
	if len(list) > maxPicks || len(c.Value) > maxCookie {
		return false
	}
	if len(list) == 0 {
		c.MaxAge = -1
	}
	http.SetCookie(v.w, c)
	return true
}

// pick puts a product into the cart or, without a cart, redirects to the form for the
// request.
func (v *visit) pick() {
	here := v.r.URL.Path
	if v.site.Viewer == nil {
		v.goTo("/auth/password/login?" + url.Values{"next": {here}}.Encode())
		return
	}
	p, ok := pickOf(v.field("catalogue_id"), v.field("product_id"), v.field("plan_id"), v.r.PathValue("path"))
	if !ok {
		v.notice(http.StatusBadRequest, "Choose a plan.")
		return
	}
	if _, offered := v.offer(p); !offered {
		v.notice(http.StatusUnprocessableEntity, "The product is not offered under this plan. Load its page again, and choose another one.")
		return
	}
	if v.direct() {
		v.goTo(checkoutPage + "?" + url.Values{"catalogue": {v.field("catalogue_id")}, "product": {v.field("product_id")}, "plan": {v.field("plan_id")}, "path": {p.path}}.Encode())
		return
	}
	list := slices.DeleteFunc(v.picks(), func(o picked) bool { return o.catalogue == p.catalogue && o.product == p.product })
	if !v.keep(append(list, p)) {
		v.notice(http.StatusUnprocessableEntity, "The cart is full. Ask for what is in it first.")
		return
	}
	v.goTo(here + v.back("added"))
}

// unpick removes a product from the cart. Only the browser's cookie changes. Some themes
// send the position of the item in the cart instead of its catalogue: if the product is not
// in the named catalogue, unpick removes it anyway.
func (v *visit) unpick() {
	list := v.picks()
	named := func(p picked) bool { return strconv.Itoa(p.product) == v.r.PathValue("product") }
	exactly := func(p picked) bool { return named(p) && strconv.Itoa(p.catalogue) == v.r.PathValue("catalogue") }
	gone := named
	if slices.ContainsFunc(list, exactly) {
		gone = exactly
	}
	v.keep(slices.DeleteFunc(list, gone))
	v.goTo(checkoutPage + "?done=removed")
}

// item becomes one access request: products of a catalogue with the same authentication and
// the same plan.
type item struct {
	Index                        int
	AuthType                     string
	Catalogue                    shelf
	Products                     []product
	Plan                         plan
	Plans                        []plan // offered for all of the products
	DCREnabled, NeedsCertificate bool
	ClientTypes                  []clientType
	ProviderID                   int
	Refused                      bool // the item, among several, whose request failed
}

// clientType is a type of client that can be registered with an identity provider.
type clientType struct {
	ID                                                                                int
	Name, Description, GrantType, ResponseTypes, TokenEndpointAuthMethod, OktaAppType string
}

// AuthTypeMode returns who supplies the certificate for products that need one.
func (i item) AuthTypeMode() string {
	switch {
	case i.NeedsCertificate:
		return "mtls_self-serve"
	case i.AuthType == "multiAuth":
		return "mtls_managed"
	}
	return ""
}

// appTemplate is a client type in the form of a cart, with lists.
type appTemplate struct {
	ID                                        int
	Name, Description                         string
	GrantTypes, ResponseTypes, TokenEndpoints []string
}

// AppTemplates returns the client types that a request can choose from.
func (i item) AppTemplates() (out []appTemplate) {
	for _, t := range i.ClientTypes {
		out = append(out, appTemplate{t.ID, t.Name, t.Description, words(t.GrantType), words(t.ResponseTypes), words(t.TokenEndpointAuthMethod)})
	}
	return out
}

// words splits a text at spaces and commas.
func words(s string) []string { return strings.Fields(strings.ReplaceAll(s, ",", " ")) }

// cart returns the items of the cart, without what is no longer offered to the viewer.
func (v *visit) cart() (out []item) {
	for _, p := range v.picks() {
		one, ok := v.offer(p)
		if !ok {
			continue
		}
		i := slices.IndexFunc(out, func(o item) bool {
			return o.Catalogue.ID == one.Catalogue.ID && o.AuthType == one.AuthType && o.Plan.ID == one.Plan.ID && o.DCREnabled == one.DCREnabled && o.ProviderID == one.ProviderID && o.NeedsCertificate == one.NeedsCertificate
		})
		if i < 0 {
			one.Index = len(out)
			out = append(out, one)
			continue
		}
		o := &out[i]
		o.Products = append(o.Products, one.Products...)
		o.Plans = slices.DeleteFunc(o.Plans, func(a plan) bool {
			return !slices.ContainsFunc(one.Plans, func(b plan) bool { return a.ID == b.ID })
		})
		o.ClientTypes = slices.DeleteFunc(o.ClientTypes, func(a clientType) bool { return !slices.Contains(one.ClientTypes, a) })
	}
	for i := range out { // the choices on a page are bounded; the page of a product shows all plans
		o := &out[i]
		if most := maxOffers / len(out); len(o.Plans) > most {
			o.Plans = slices.DeleteFunc(o.Plans, func(a plan) bool { return a.ID == o.Plan.ID })
			o.Plans = append([]plan{o.Plan}, o.Plans[:most-1]...)
		}
	}
	return out
}

// offer looks up an item that the viewer picked.
func (v *visit) offer(at picked) (out item, ok bool) {
	var p product
	if !v.peek("/catalogue-products/"+url.PathEscape(at.path), nil, &p) || p.ID != at.product || !p.Requesting {
		return out, false
	}
	out = item{AuthType: p.AuthType, Products: []product{p}, DCREnabled: p.DCREnabled, NeedsCertificate: p.NeedsCertificate, ClientTypes: p.ClientTypes, ProviderID: p.ProviderID}
	for _, s := range p.Shelves {
		if s.ID == at.catalogue && s.Cart {
			out.Catalogue = s
		}
	}
	for _, one := range p.Plans {
		if slices.Contains(one.Catalogues, at.catalogue) {
			out.Plans = append(out.Plans, one)
			if one.ID == at.plan {
				out.Plan = one
			}
		}
	}
	return out, out.Catalogue.ID != 0 && out.Plan.ID != 0
}

// offerIn sets for each plan the catalogue in which the viewer may request it.
func (p product) offerIn() {
	for i := range p.Plans {
		for _, s := range p.Shelves {
			if s.Cart && p.Requesting && p.Plans[i].OfferedIn == 0 && slices.Contains(p.Plans[i].Catalogues, s.ID) {
				p.Plans[i].OfferedIn = s.ID
			}
		}
	}
}
