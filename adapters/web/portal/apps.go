package portal

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

// appRoutes are the pages about a developer's apps.
var appRoutes = map[string]func(*visit){
	"GET /portal/private/dashboard":   (*visit).apps,
	"GET /portal/private/apps":        (*visit).apps,
	"GET /portal/private/apps/new":    func(v *visit) { v.creating(nil, http.StatusOK) },
	"POST /portal/private/dashboard":  (*visit).makeApp,
	"POST /portal/private/apps":       (*visit).makeApp,
	"GET /portal/private/apps/{app}":  func(v *visit) { v.managed(nil, http.StatusOK, nil) },
	"POST /portal/private/apps/{app}": (*visit).changeApp,
	"POST /portal/private/apps/{app}/access-requests/{request}": func(v *visit) {
		v.after(v.call(http.MethodDelete, "/apps"+v.part("app")+"/access-requests"+v.part("request"), nil, nil), "withdrawn")
	},
	"POST /portal/private/apps/{app}/access-requests/{request}/webhooks":   (*visit).subscribe,
	"POST /portal/private/apps/{app}/access-requests/{request}/products":   (*visit).drop,
	"POST /portal/private/apps/{app}/cert/{certificate...}":                (*visit).certificate, // themes have no number for a request without a certificate
	"POST /portal/private/apps/{app}/credentials/{credential}/change-plan": (*visit).changePlan,
	"GET /portal/private/analytics":                                        (*visit).analytics,
	"GET /portal/private/analytics/api/chart/{chart}":                      (*visit).chartData,
	"GET /portal/private/users/{user}":                                     func(v *visit) { v.member("user_detail", nil, http.StatusOK) },
	"GET /portal/private/users/{user}/edit": func(v *visit) {
		if v.leads() {
			v.member("user_edit", nil, http.StatusOK)
		}
	},
	"POST /portal/private/users/{user}":      (*visit).changePerson,
	"POST /portal/private/users/{user}/edit": (*visit).changePerson,
	"GET /portal/private/profile/delete":     (*visit).leave,
	"POST /portal/private/profile/delete":    (*visit).leave,
	"POST /portal/private/credentials":       (*visit).credential,
}

// appsPage is the page that lists apps.
const appsPage = "/portal/private/apps"

// dashboardPage also lists apps.
const dashboardPage = "/portal/private/dashboard"

// appFields maps the names of an app's fields in faults to form fields.
var appFields = map[string]string{"Name": "name", "Description": "description", "RedirectURLs": "redirectURLs", "Visibility": "visibility"}

// clients returns the apps that the viewer may use: one page of them or, with page 0, all apps
// that pages offer as a choice.
func (v *visit) clients(page int) (out []client, total int) {
	if v.site.Viewer == nil {
		return nil, 0
	}
	q := url.Values{"per_page": {strconv.Itoa(maxChoice)}}
	if page > 0 {
		q = url.Values{"per_page": {strconv.Itoa(appsPerPage)}, "page": {strconv.Itoa(page)}}
	}
	a := v.call(http.MethodGet, "/apps", q, nil)
	if !a.ok() || json.Unmarshal(a.body.Bytes(), &out) != nil {
		return nil, 0
	}
	return out, max(a.total(), len(out))
}

// How many apps a page lists, how many credentials and access requests the page of an app shows,
// and how many choices of one kind a page offers.
const (
	appsPerPage  = 50
	itemsPerPage = 100
	partsPerPage = 300 // products and event types of these credentials and access requests
	maxChoice    = 1000
)

// number returns the page number in the address.
func (v *visit) number() int {
	n, err := strconv.Atoi(v.r.URL.Query().Get("page"))
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// cameFrom returns the page number of the list from which a form was sent.
func (v *visit) cameFrom() int {
	if from, err := url.Parse(v.r.Referer()); err == nil && from.Host == v.r.Host && v.r.URL.Query().Get("page") == "" {
		n, _ := strconv.Atoi(from.Query().Get("page"))
		return max(n, 1)
	}
	return v.number()
}

// back returns the query of the page to which a form returns, with the word for what was done.
func (v *visit) back(word string) string {
	if n := v.cameFrom(); n > 1 {
		return "?done=" + word + "&page=" + strconv.Itoa(n)
	}
	return "?done=" + word
}

// pageOf returns the page number of an app's credentials and requests: the page with the object
// of a form, if the form has one.
func (v *visit) pageOf(app client) int {
	if v.r.Method == http.MethodGet {
		return v.number()
	}
	one, asked := cmp.Or(v.r.PathValue("credential"), v.r.PathValue("certificate"), v.field("cred_id")), cmp.Or(v.r.PathValue("request"), v.field("access-request"))
	at := slices.IndexFunc(app.Credentials, func(c credential) bool {
		return strconv.Itoa(c.ID) == one || c.Certificate != nil && (c.Certificate.ID == one || c.Certificate.Fingerprint == one)
	})
	if at < 0 {
		at = slices.IndexFunc(app.AccessRequests, func(r accessRequest) bool { return strconv.Itoa(r.ID) == asked })
	}
	if at < 0 {
		return v.cameFrom()
	}
	return at/app.perPage() + 1
}

// ledFrom reports whether a link on a page led here, in a theme other than the standard one:
// public themes use some addresses for other purposes.
func (v *visit) ledFrom(page string) bool {
	from, err := url.Parse(v.r.Referer())
	if err != nil || from.Host != v.r.Host || from.Path != page {
		return false
	}
	t, err := v.worn(v.r.Context())
	return err == nil && t.Name != theme.Default
}

func (v *visit) apps() {
	if v.r.URL.Path == appsPage && v.ledFrom(dashboardPage) {
		v.creating(nil, http.StatusOK)
		return
	}
	number := v.number()
	list, total := v.clients(number)
	v.title = "Your apps"
	v.show(http.StatusOK, "user_home", v.said(nil, map[string]any{"apps": list, "paging": v.pages(number, appsPerPage, total)}, nil))
}

// lonely reports whether the viewer's organisation has no colleagues to share apps with.
func (v *visit) lonely() bool { return v.site.Viewer == nil || v.site.Viewer.OrganisationID <= 1 }

// creating shows the form of a new app.
func (v *visit) creating(faults []string, status int) {
	v.title = "New app"
	known := v.typed("name", "description", "redirectURLs", "visibility")
	known["isDefaultOrgUser"] = v.lonely()
	v.show(status, "app_form_create", v.said(faults, known, appFields))
}

func (v *visit) makeApp() {
	a := v.makeNew(v.filled(appFields))
	if !a.ok() {
		v.creating(a.faults(), statusOf(a))
		return
	}
	var made client
	_ = json.Unmarshal(a.body.Bytes(), &made) // an answer of our API
	v.goTo(appsPage + "/" + strconv.Itoa(made.ID) + "?done=created")
}

// managed shows an app with its credentials and access requests.
func (v *visit) managed(faults []string, status int, shown *revealed) {
	var app client
	if !v.get("/apps"+v.part("app"), nil, &app) {
		return
	}
	app.settle()
	total, per := max(len(app.AccessRequests), len(app.Credentials)), app.perPage()
	page := min(v.pageOf(app), 1+max(0, total-1)/per)
	from := (page - 1) * per
	v.offerPlans(app.Credentials[min(from, len(app.Credentials)):min(from+per, len(app.Credentials))])
	v.title = app.Name
	typed := v.typed("name", "description", "redirectURLs", "visibility")
	if faults == nil || !v.r.PostForm.Has("name") {
		typed = map[string]any{"name": app.Name, "description": app.Description, "redirectURLs": app.RedirectURLs, "visibility": app.Visibility}
	}
	all := map[string]certificate{} // by fingerprint
	brings := map[int]bool{}        // by access request: the developer supplies a certificate
	for _, c := range app.Credentials {
		if c.Certificate != nil {
			all[c.Certificate.Fingerprint] = *c.Certificate
		}
		for _, id := range c.AccessRequests {
			brings[id] = c.Certified
		}
	}
	authType := "" // empty unless the whole app has the same
	if len(app.AccessRequests) > 0 {
		authType = app.AccessRequests[0].AuthType
	}
	known := map[string]any{"app": app.excerpt(from, from+per), "form": typed,
		"paging": v.pagesOf(appsPage+v.part("app"), page, per, total),
		"shown":  shown, "appCerts": app.certificates(), "allCerts": all, "authType": authType,
		"currentUser": v.site.Viewer, "isDefaultOrgUser": v.lonely(), "showMTLSSection": brings, "at": v.field("at"), "webhook": v.typed("webhook-url"), "tested": v.tested, "testedAt": v.testedAt}
	for _, c := range app.Credentials {
		known["availablePlans_"+strconv.Itoa(c.ID)] = c.OtherPlans
	}
	names := map[string]string{"WebhookURL": "webhook-url", "WebhookSecret": "webhook-secret", "WebhookEventTypes": "webhook-event-types", "Certificate": "certificate", "CertificateName": "certificate_name"}
	for fault, field := range appFields {
		names[fault] = field
	}
	v.show(status, "app_form_update", v.said(faults, known, names))
}

// after redirects to the app when an operation has succeeded; otherwise it shows the error
// there.
func (v *visit) after(a *reply, word string) {
	if a.ok() {
		v.goTo(appsPage + v.part("app") + v.back(word))
		return
	}
	v.failed(a)
}

// failed shows the app with the error of an operation.
func (v *visit) failed(a *reply) {
	if a.status == http.StatusUnauthorized || a.status == http.StatusNotFound {
		v.refused(a)
		return
	}
	v.managed(a.faults(), statusOf(a), nil)
}

func (v *visit) changeApp() {
	switch v.field("mode") {
	case "delete":
	case "cancel":
		v.goTo(appsPage + v.part("app"))
		return
	default:
		v.after(v.call(http.MethodPut, "/apps"+v.part("app"), nil, v.filled(appFields)), "saved")
		return
	}
	if a := v.call(http.MethodDelete, "/apps"+v.part("app"), nil, nil); !a.ok() {
		v.failed(a)
		return
	}
	v.goTo(appsPage + "?done=deleted")
}

// tested is the outcome of a test message to a webhook receiver.
type tested struct {
	EventType, Problem string
	Accepted           bool
	Status             int
	Milliseconds       int64
}

func (v *visit) subscribe() {
	at := "/apps" + v.part("app") + "/access-requests" + v.part("request") + "/webhook"
	if v.field("mode") == "test" { // a test message to the receiver: the page shows the outcome
		a := v.call(http.MethodPost, at+"/test", nil, map[string]string{"EventType": v.field("event-type")})
		var out tested
		if !a.ok() || json.Unmarshal(a.body.Bytes(), &out) != nil {
			v.failed(a)
			return
		}
		v.tested, v.testedAt = &out, v.r.PathValue("request")
		v.managed(nil, http.StatusOK, nil)
		return
	}
	types := v.r.PostForm["webhook-event-types[]"]
	if len(types) == 0 {
		types = []string{}
	}
	body := map[string]any{"WebhookURL": v.field("webhook-url"), "WebhookEventTypes": types}
	if secret := v.field("webhook-secret"); secret != "" || v.field("webhook-url") == "" {
		body["WebhookSecret"] = secret
	}
	v.after(v.call(http.MethodPut, at, nil, body), "subscribed")
}

// drop removes a product from the credential of an access request. A form that names no product
// means the only product of the request.
func (v *visit) drop() {
	var app client
	if !v.get("/apps"+v.part("app"), nil, &app) {
		return
	}
	request := v.r.PathValue("request")
	id, err := strconv.Atoi(v.field("product_id"))
	if list := app.productsOf(request); err != nil && len(list) == 1 {
		id, err = list[0].ID, nil
	}
	i := slices.IndexFunc(app.Credentials, func(c credential) bool { // the credential of the access request
		return slices.ContainsFunc(c.AccessRequests, func(n int) bool { return strconv.Itoa(n) == request }) && slices.ContainsFunc(c.Products, func(p product) bool { return p.ID == id })
	})
	if v.field("mode") != "delete" || err != nil || i < 0 {
		v.managed([]string{"Choose a product that is to be taken off."}, http.StatusUnprocessableEntity, nil)
		return
	}
	v.after(v.call(http.MethodDelete, "/apps"+v.part("app")+"/credentials/"+strconv.Itoa(app.Credentials[i].ID)+"/products/"+strconv.Itoa(id), nil, nil), "dropped")
}

// credential performs an action on a credential. The form names the app and the credential.
func (v *visit) credential() {
	v.r.SetPathValue("app", v.field("client_id"))
	v.r.SetPathValue("credential", v.field("cred_id"))
	at := "/apps" + v.part("app") + "/credentials" + v.part("credential")
	switch v.field("mode") {
	case "roll":
		v.after(v.call(http.MethodPut, at+"/rotate", nil, nil), "rotated")
	case "delete":
		v.after(v.call(http.MethodDelete, at, nil, nil), "revoked")
	case "update":
		var app client // all clients of an app share its redirect addresses
		if !v.get("/apps"+v.part("app"), nil, &app) {
			return
		}
		if !slices.ContainsFunc(app.Credentials, func(c credential) bool { return strconv.Itoa(c.ID) == v.field("cred_id") }) {
			v.absent()
			return
		}
		v.after(v.call(http.MethodPut, "/apps"+v.part("app"), nil, map[string]string{"RedirectURLs": v.field("redirect_url")}), "saved")
	case "show":
		a := v.call(http.MethodPost, at+"/reveal", nil, nil)
		var out revealed // secrets are shown once, and never put into an address
		if !a.ok() || json.Unmarshal(a.body.Bytes(), &out) != nil {
			v.failed(a)
			return
		}
		v.managed(nil, http.StatusOK, &out)
	default:
		v.notice(http.StatusBadRequest, "The form cannot be read.")
	}
}

// certificate replaces or removes the certificate of a credential. Themes name the credential by
// its number, or by its current certificate. A credential without a certificate is named by its
// access request.
func (v *visit) certificate() {
	var app client
	if !v.get("/apps"+v.part("app"), nil, &app) {
		return
	}
	named, request := v.r.PathValue("certificate"), v.field("access-request")
	i := slices.IndexFunc(app.Credentials, func(c credential) bool { return strconv.Itoa(c.ID) == named })
	if i < 0 {
		i = slices.IndexFunc(app.Credentials, func(c credential) bool {
			return c.Certificate != nil && (c.Certificate.ID == named || c.Certificate.Fingerprint == named) && (request == "" || c.serves(request))
		})
	}
	if i < 0 && v.field("cert-mode") != "delete" {
		i = slices.IndexFunc(app.Credentials, func(c credential) bool { return c.serves(request) })
	}
	if i < 0 {
		v.absent()
		return
	}
	at := "/apps" + v.part("app") + "/credentials/" + strconv.Itoa(app.Credentials[i].ID) + "/certificate"
	if v.field("cert-mode") == "delete" {
		v.after(v.call(http.MethodDelete, at, nil, nil), "forgotten")
		return
	}
	text, name := v.pem(), v.field("certificate_name")
	if chosen := v.field("selected-cert"); text == "" && chosen != "" {
		apps, _ := v.clients(0)
		c, _ := v.reusable(apps).cert(chosen)
		text, name = c.Certificate, c.given()
	}
	v.after(v.call(http.MethodPut, at, nil, map[string]string{"Certificate": text, "CertificateName": name}), "renewed")
}

// serves reports whether a credential belongs to an access request.
func (c credential) serves(request string) bool {
	return strconv.Itoa(c.AccessRequestID) == request || slices.ContainsFunc(c.AccessRequests, func(id int) bool { return strconv.Itoa(id) == request })
}

// pem returns the certificate of a form: a file, or a text.
func (v *visit) pem() string {
	if f, _, err := v.r.FormFile("certificate_file"); err == nil {
		defer func() { _ = f.Close() }()
		text := make([]byte, maxForm)
		if n, _ := f.Read(text); n > 0 { // the whole file is in memory
			return string(text[:n])
		}
	}
	return v.field("certificate")
}
