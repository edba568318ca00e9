package portal

import (
	"cmp"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// checkoutFields maps the names of fields in faults to fields of the form.
var checkoutFields = map[string]string{"Name": "client_name", "Description": "description", "RedirectURLs": "redirect_urls", "Visibility": "client_visibility",
	"PlanID": "plan", "DCRTemplateID": "app-action-template", "CredentialID": "credential_id", "Certificate": "certificate", "CertificateName": "certificate_name"}

// maxAppsSearched is how many apps are searched for reusable credentials and certificates.
const maxAppsSearched = 100

// reusables are the reusable credentials and certificates of the viewer's apps.
type reusables struct {
	credentials []credential
	certs       map[string]certificate // by fingerprint
}

// reusable searches the viewer's apps.
func (v *visit) reusable(apps []client) reusables {
	out := reusables{certs: map[string]certificate{}}
	for _, app := range v.wholes(apps) {
		for _, c := range app.Credentials {
			if !c.Custom && !c.Expired && c.AccessRequestID != 0 {
				out.credentials = append(out.credentials, c)
			}
			if c.Certificate != nil {
				out.certs[c.Certificate.Fingerprint] = *c.Certificate
			}
		}
	}
	return out
}

// cert finds a certificate by its number or its fingerprint.
func (r reusables) cert(named string) (certificate, bool) {
	for _, c := range r.certs {
		if c.ID == named || c.Fingerprint == named {
			return c, true
		}
	}
	return certificate{}, false
}

// wholes returns apps with their access, at most maxAppsSearched.
func (v *visit) wholes(apps []client) (out []*client) {
	for _, one := range apps[:min(len(apps), maxAppsSearched)] {
		app := &client{}
		if v.peek("/apps/"+strconv.Itoa(one.ID), nil, app) {
			app.settle()
			out = append(out, app)
		}
	}
	return out
}

// usableFor reports whether a credential could get access to the products of an item.
func usableFor(c credential, i item) bool {
	return c.AuthType == i.AuthType && !slices.ContainsFunc(c.Products, func(p product) bool {
		return slices.ContainsFunc(i.Products, func(q product) bool { return p.ID == q.ID })
	})
}

// credentialsVM is the view of reusable credentials for themes.
type credentialsVM struct {
	list []credential
	cart []item
}

// credentialState holds the reusable credentials of an app for an item of the cart. Themes
// print it, or use its fields.
type credentialState struct {
	Credentials []usable
	Messages    map[string]string
}

// usable is a reusable credential.
type usable struct {
	ID                              int
	DisplayName, PlanName, AuthType string
}

// stateMessages are the texts around the choice.
var stateMessages = map[string]string{
	"NoCredentialsTitle": "No credential fits.", "NoCredentialsBody": "A new credential will be made.",
	"GenerateNewLabel": "New credential", "ReuseExistingLabel": "Existing credential", "NewCredentialInfo": "A new credential will be made.",
	"SelectPlaceholder": "Choose a credential", "SelectCredentialHelp": "The credential will open these products as well.",
}

// ShowRadio reports whether there is a choice.
func (s credentialState) ShowRadio() bool { return len(s.Credentials) > 0 }

// ShowAlert reports whether there is no choice.
func (s credentialState) ShowAlert() bool { return !s.ShowRadio() }

// String returns a text that says whether credentials can be reused.
func (s credentialState) String() string {
	if s.ShowAlert() {
		return "none"
	}
	return "reusable"
}

// GetState returns the reusable credentials: of the app with a number, for the item at an index
// of the cart; without arguments, of all apps for all items.
func (c credentialsVM) GetState(about ...int) credentialState {
	out := credentialState{Messages: stateMessages}
	for _, one := range c.list {
		if len(about) > 0 && one.of.ID != about[0] || len(about) > 1 && (about[1] < 0 || about[1] >= len(c.cart) || !usableFor(one, c.cart[about[1]])) {
			continue
		}
		out.Credentials = append(out.Credentials, usable{one.ID, cmp.Or(one.Alias, strconv.Itoa(one.ID)), one.Plan.Name, one.AuthType})
	}
	return out
}

// ToJSON returns the list for scripts, without secrets.
func (c credentialsVM) ToJSON() template.JS {
	type one struct{ ID, ClientID, PlanID int }
	out := []one{}
	for _, c := range c.list {
		out = append(out, one{c.ID, c.of.ID, c.PlanID})
	}
	text, err := json.Marshal(out)
	if err != nil {
		return "[]"
	}
	return template.JS(text) //nolint:gosec // only numbers are in it
}

// checkoutForm shows the cart, without what is no longer offered.
func (v *visit) checkoutForm() {
	items := v.cart()
	var gone []string
	if count(items) < len(v.picks()) {
		v.keepRest(items)
		gone = []string{"Products that are no longer offered were removed from your cart."}
	}
	v.checkingOut(items, gone, http.StatusOK, nil)
}

// count returns the number of products in a cart.
func count(items []item) (n int) {
	for _, i := range items {
		n += len(i.Products)
	}
	return n
}

// checkingOut shows the form for access requests. now holds selected values, besides what the
// user has typed.
func (v *visit) checkingOut(items []item, faults []string, status int, now map[string]any) {
	v.title = "Ask for access"
	for i := range items {
		items[i].Index = i
	}
	apps, _ := v.clients(0)
	again := v.reusable(apps)
	var list []credential // credentials that an item could also use
	for _, c := range again.credentials {
		if slices.ContainsFunc(items, func(i item) bool { return usableFor(c, i) }) {
			list = append(list, c)
		}
	}
	var types []clientType
	certified, catalogues := false, map[int]bool{}
	for _, i := range items {
		types, certified = append(types, i.ClientTypes...), certified || i.NeedsCertificate
		catalogues[i.Catalogue.ID] = true
	}
	known := v.typed("app-action", "client_name", "client_visibility", "description", "redirect_urls", "selected-app", "credential_action", "credential_id", "cert-action", "certificate_name", "certificate_id", "app-action-template", "certificate")
	for name, value := range now {
		known[name] = value
	}
	word := v.r.URL.Query().Get("done")
	form := known
	data := map[string]any{"form": form, "cart": items, "apps": apps, "catalogue_count": len(catalogues), "certs": again.certs, "provisioned": word == "granted" || word == "requested",
		"templates": types, "credentialsVM": credentialsVM{list, items}, "credentials": list, "certified": certified, "isDirectCheckout": v.direct(), "isDefaultOrgUser": v.lonely(),
		"cart_size": count(items), "contents": contents(items), "action": v.r.URL.RequestURI()}
	if asked, some := now["asked"]; some {
		data["done"] = asked
	}
	names := checkoutFields
	if known["app-action"] == "existing" { // the fields for a new app do not apply
		names = maps.Clone(names)
		delete(names, "RedirectURLs")
	}
	v.show(status, "portal_checkout", v.said(faults, data, names))
}

// checkout makes one access request for each item of the cart, for a new or an existing app. A
// form that names a catalogue is only about the items of that catalogue. When a request fails,
// the requests before it stay, and their products are removed from the cart. A new app without
// any access request is deleted again.
func (v *visit) checkout() {
	left := v.cart()
	if !v.ofCart(left) {
		v.checkingOut(left, []string{changedCart}, http.StatusUnprocessableEntity, nil)
		return
	}
	v.choosePlans(left)
	items := slices.DeleteFunc(slices.Clone(left), func(i item) bool {
		named := v.field("catalogue-id")
		return named != "" && strconv.Itoa(i.Catalogue.ID) != named
	})
	if len(items) == 0 {
		v.checkingOut(left, []string{"There is nothing to ask for: choose a product first."}, http.StatusUnprocessableEntity, nil)
		return
	}
	app, a := v.chosenApp()
	if a != nil {
		v.checkingOut(left, a.faults(), statusOf(a), nil)
		return
	}
	apps := []client{{ID: app}}
	again := v.reusable(apps)
	if v.field("cert-action") == "existing" {
		all, _ := v.clients(0)
		again.certs = v.reusable(all).certs
	}
	word := "granted"
	for n, one := range items {
		order := v.orderOf(one, again)
		what := hashed([]any{order["PlanID"], order["ProductIDs"], order["CatalogueID"]}) // after a step back another plan is another request
		a := v.make("/apps/"+strconv.Itoa(app)+"/access-requests", "-"+strconv.Itoa(one.Index)+"-"+what, order)
		if !a.ok() {
			v.keepRest(left)
			for i := range left {
				left[i].Refused = len(left) > 1 && left[i].Index == one.Index
			}
			now := map[string]any{"app-action": "existing", "selected-app": strconv.Itoa(app), "asked": asked(items[:n])}
			if n == 0 && v.field("app-action") != "existing" { // the app was created for these requests, and none was made
				at, made := "/apps/"+strconv.Itoa(app), client{}
				if v.peek(at, nil, &made) && len(made.AccessRequests) == 0 && v.call(http.MethodDelete, at, nil, nil).ok() {
					now = nil
				}
			}
			v.checkingOut(left, a.faults(), statusOf(a), now)
			return
		}
		left = slices.DeleteFunc(left, func(i item) bool { return i.Index == one.Index })
		var made accessRequest
		if json.Unmarshal(a.body.Bytes(), &made) != nil || made.Status != "approved" {
			word = "requested"
		}
	}
	v.keepRest(left)
	if v.field("redirect-to-app") == "" && !v.direct() {
		v.goTo(checkoutPage + "?done=" + word)
		return
	}
	v.goTo(appsPage + "/" + strconv.Itoa(app) + "?done=" + word)
}

// chosenApp returns the number of the app that gets access, which may be created now. On
// failure it returns the reply with the error.
func (v *visit) chosenApp() (int, *reply) {
	if v.field("app-action") == "existing" {
		id, err := strconv.Atoi(v.field("selected-app"))
		if err != nil {
			return 0, wrong("Choose an app.")
		}
		if a := v.call(http.MethodGet, "/apps/"+strconv.Itoa(id), nil, nil); !a.ok() {
			return 0, wrong("The app is not there any more: choose another one.")
		}
		return id, nil
	}
	if v.field("credential_action") == "reuse_existing" {
		return 0, wrong("A new app has no credential to use again: choose the app that has one, or a new credential.")
	}
	body := map[string]string{"Name": v.field("client_name"), "Description": v.field("description"), "RedirectURLs": v.field("redirect_urls")}
	if to := v.field("client_visibility"); to != "" {
		body["Visibility"] = to
	}
	a := v.makeNew(body)
	if !a.ok() {
		return 0, a
	}
	var made client
	_ = json.Unmarshal(a.body.Bytes(), &made) // an answer of our API
	return made.ID, nil
}

// wrong returns a reply for a form error that no operation has reported.
func wrong(text string) *reply {
	out := &reply{header: http.Header{}, status: http.StatusUnprocessableEntity}
	_ = json.NewEncoder(&out.body).Encode(map[string][]string{"errors": {text}}) // writes to memory
	return out
}

// orderOf returns the body of the access request for an item.
func (v *visit) orderOf(one item, again reusables) map[string]any {
	ids := make([]int, len(one.Products))
	for i, p := range one.Products {
		ids[i] = p.ID
	}
	body := map[string]any{"PlanID": cmp.Or(v.field(planField(one.Index)), strconv.Itoa(one.Plan.ID)), "ProductIDs": ids, "CatalogueID": one.Catalogue.ID}
	if one.DCREnabled {
		body["DCRTemplateID"] = v.field("app-action-template")
	}
	if v.field("credential_action") == "reuse_existing" {
		chosen := slices.IndexFunc(again.credentials, func(c credential) bool { return strconv.Itoa(c.ID) == v.field("credential_id") })
		if chosen < 0 || usableFor(again.credentials[chosen], one) {
			body["CredentialID"] = v.field("credential_id")
			return body // the reused credential has its certificate already
		}
	}
	if one.NeedsCertificate {
		body["Certificate"], body["CertificateName"] = v.pem(), v.field("certificate_name")
		if c, known := again.cert(v.field("certificate_id")); known && v.field("cert-action") == "existing" {
			body["Certificate"], body["CertificateName"] = c.Certificate, c.given()
		}
	}
	return body
}

// keepRest keeps in the cart only the items without an access request.
func (v *visit) keepRest(items []item) {
	if v.direct() {
		return
	}
	var rest []picked
	for _, p := range v.picks() {
		if slices.ContainsFunc(items, func(i item) bool {
			return i.Catalogue.ID == p.catalogue && slices.ContainsFunc(i.Products, func(q product) bool { return q.ID == p.product })
		}) {
			rest = append(rest, p)
		}
	}
	v.keep(rest)
}
