package portal_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
)

// offering adds a dashboard with two APIs, products and plans for them, and people: Ada and Bob
// of one organisation, Eve of none.
func (w *world) offering() {
	w.t.Helper()
	b, err := w.app.Bootstrap(w.t.Context(), identity.First{OrgID: "one", Email: "admin@example.com"})
	must(w.t, err)
	for _, id := range []string{"pay", "ship"} {
		req, err := http.NewRequest("POST", w.server.URL+"/api/apis", strings.NewReader(`{"api_definition":{"name":"`+id+`","api_id":"`+id+`","active":true,"use_standard_auth":true,"proxy":{"listen_path":"/`+id+`/","target_url":"http://up.example"}}}`))
		must(w.t, err)
		req.Header.Set("Authorization", b.AccessKey)
		w.answered(req)
	}
	w.api("POST", "/portal-api/providers", `{"Name":"Ours","Configuration":{"MetaData":{"URL":"http://localhost:3000","Secret":"`+b.AccessKey+`"}}}`)
	w.api("POST", "/portal-api/products", `{"Name":"Payments","Path":"payments","ProviderID":1,"APIDetails":[{"APIID":"pay"}],"WebhookEventTypes":["order.paid"],"Catalogues":[1]}`)
	w.api("POST", "/portal-api/products", `{"Name":"Shipping","Path":"shipping","ProviderID":1,"APIDetails":[{"APIID":"ship"}],"Catalogues":[1]}`)
	w.api("POST", "/portal-api/plans", `{"Name":"Gold","ProviderID":1,"RateLimit":10,"Per":60,"Quota":-1,"Catalogues":[1]}`)
	w.api("POST", "/portal-api/plans", `{"Name":"Open","ProviderID":1,"RateLimit":10,"Per":1,"Quota":-1,"AutoApproveAccessRequests":true,"Catalogues":[1]}`)
	w.api("POST", "/portal-api/organisations", `{"Name":"Acme"}`)
	for _, who := range []string{`"ada@example.com","First":"Ada","OrganisationID":2`, `"bob@example.com","First":"Bob","OrganisationID":2`, `"eve@example.com","First":"Eve"`} {
		w.api("POST", "/portal-api/users", `{"Email":`+who+`,"Active":true,"Password":"secret"}`)
	}
}

// TestTestMessage sends test messages to receivers: one that accepts them, one that does not,
// one that does not exist, and one in the private network.
func TestTestMessage(t *testing.T) {
	var got []string
	receiver := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.Header.Get("Content-Type")+" "+string(body)+r.Header.Get("Authorization")+r.Header.Get("Cookie"))
		if r.URL.Path == "/full" {
			rw.WriteHeader(http.StatusInsufficientStorage)
			_, _ = rw.Write([]byte("a text of the inside"))
		}
	}))
	t.Cleanup(receiver.Close)
	receiver.Config.SetKeepAlivesEnabled(false) // a break of an old connection would not show that a new one is impossible
	here := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	w := newWorldWith(t, func(p *app.Portal) {
		p.Webhooks.Deliveries.Fetcher = fetch.New(fetch.Config{MaxBytes: 1 << 20, Allow: here})
	})
	w.offering()
	w.as("ada")
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till")
	w.approved("1", "2", "1")
	const at = "/portal/private/apps/1/access-requests/1/webhooks"
	page := w.open("/portal/private/apps/1")
	if strings.Contains(page.text, "Send a test message") {
		t.Error("there is no address to which a message could go")
	}
	w.shows(w.submit(page, at, "mode", "test"), 422, "blank")
	for path, want := range map[string]string{"/in": "the test message has arrived", "/full": "it does not take the test message"} {
		page = w.shows(w.submit(page, at, "webhook-url", receiver.URL+path, "webhook-secret", "hush-hush", "webhook-event-types[]", "order.paid"), 200, "The subscription is saved", "Send a test message")
		shown := w.shows(w.submit(page, at, "mode", "test"), 200, want)
		if strings.Contains(shown.text, "a text of the inside") {
			t.Error("the page shows what the receiver has said")
		}
	}
	if len(got) != 2 || !strings.HasPrefix(got[0], `POST application/json {"event":"order.paid","sent_at":"`) || !strings.HasSuffix(got[0], `"test":true}`) || strings.Contains(strings.Join(got, ""), "hush") {
		t.Errorf("%q", got)
	}
	receiver.Close()
	w.shows(w.submit(page, at, "mode", "test"), 200, "no connection can be made")
	for i := range 12 {
		if p := w.submit(page, at, "mode", "test"); (p.status == 429) != (i >= 7) {
			t.Errorf("message %d: %d", i, p.status)
		}
	}
	w.as("eve")
	w.shows(w.submit(w.open("/portal/private/profile"), at, "mode", "test"), 404)
}

// as logs a user in with a new browser.
func (w *world) as(name string) {
	w.t.Helper()
	w.fresh()
	w.shows(w.submit(w.open("/auth/password/login"), "/auth/password/login", "login", name+"@example.com", "password", "secret"), 200)
}

var key = regexp.MustCompile(`id="secret-1"[^>]* value="([^"]+)"`)

// approved requests access for an app.
func (w *world) approved(app, plan, product string) {
	w.t.Helper()
	w.api("PUT", "/portal-api/apps/"+app+"/provision", `{"PlanID":`+plan+`,"ProductIDs":[`+product+`],"CatalogueID":1}`)
}

// TestPagesOfAnApp shows an app with many credentials in pages: all at once exceed the limit of
// a page. A secret is shown on the page of its credential.
func TestPagesOfAnApp(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	app := w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till", "visibility", "personal")
	for range 130 {
		w.approved("1", "2", "1")
	}
	const newest, oldest = `id="credential-130"`, `id="credential-1"`
	first := w.shows(w.open("/portal/private/apps/1?done=saved"), 200, newest, `id="request-130"`, "Page 1 of 2", `href="/portal/private/apps/1?page=2"`)
	second := w.shows(w.open("/portal/private/apps/1?page=2"), 200, oldest, `id="request-1"`, "Page 2 of 2")
	if strings.Contains(first.text, oldest) || strings.Contains(second.text, newest) {
		t.Error("a page has more than its part")
	}
	w.shows(w.submit(app, "/portal/private/credentials", "client_id", "1", "cred_id", "1", "mode", "show"), 200, "Keep it secret", oldest, `href="/portal/private/apps/1?page=1"`)
	for name, p := range map[string]page{
		"refused":       w.submit(second, "/portal/private/apps/1/credentials/1/change-plan", "new_plan_id", "99"),
		"refused again": w.submit(app, "/portal/private/apps/1/access-requests/1/webhooks", "webhook-url", "no address"),
		"refused app":   w.submit(second, "/portal/private/apps/1", "name", ""),
		"done":          w.submit(second, "/portal/private/credentials", "client_id", "1", "cred_id", "1", "mode", "roll"),
	} {
		if !strings.Contains(p.text, "Page 2 of 2") || (p.status == 200) != (name == "done") {
			t.Errorf("%s: %d, %s", name, p.status, p.path)
		}
	}
	for page, want := range map[string]string{"99": "Page 2 of 2", "9223372036854775807": "Page 2 of 2", "-1": "Page 1 of 2", "x": "Page 1 of 2"} {
		w.shows(w.open("/portal/private/apps/1?page="+page), 200, "<h1>Till</h1>", want)
	}
}

// TestManyTutorials shows a product whose tutorials exceed the output limit of a page.
func TestManyTutorials(t *testing.T) {
	w := newWorld(t)
	w.offering()
	for i := range 45 {
		w.api("POST", "/portal-api/products/1/docs", fmt.Sprintf(`{"Title":"Step %d","Path":"step-%d","Status":"published","Content":"begin %s"}`, i, i, strings.Repeat("x ", 49_000)))
	}
	p := w.shows(w.open("/portal/catalogue-products/payments"), 200, "Step 0", "Step 44", "There is more than this page can show.")
	if n := strings.Count(p.text, "begin"); n < 3 || n > 6 {
		t.Errorf("%d tutorials are shown", n)
	}
}

// TestOwnApps makes an app, changes it, shows, rotates and deletes its credential, ends its
// access, and deletes it.
func TestOwnApps(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	w.shows(w.open("/portal/private/dashboard"), 200, "Your apps", "There is no app yet")
	form := w.shows(w.open("/portal/private/apps/new"), 200, "New app", `name="redirectURLs"`, "Who may use it")
	w.shows(w.submit(form, "/portal/private/apps", "name", "", "description", "Kept <b>", "redirectURLs", "/back"), 422, "Name can&#39;t be blank", "Redirect addresses are invalid", "Kept &lt;b&gt;", `value=""`)
	app := w.shows(w.submit(form, "/portal/private/apps", "name", "Till", "description", "Pays", "visibility", "organisation"), 200, "Your app is there", "<h1>Till</h1>", "There is no credential yet")
	w.shows(w.open("/portal/private/apps"), 200, `href="/portal/private/apps/1"`)
	w.shows(w.submit(app, "/portal/private/apps/1", "mode", "edit", "name", "", "description", "Typed"), 422, "Name can&#39;t be blank", "Typed")
	w.shows(w.submit(app, "/portal/private/apps/1", "mode", "edit", "name", "Checkout"), 200, "Your changes are saved", "<h1>Checkout</h1>", "Pays")

	w.approved("1", "2", "1")
	app = w.shows(w.open("/portal/private/apps/1"), 200, "approved", "Open: 10 calls / 1 second(s), quota unlimited", "Rotate now", "••••••••", "order.paid")
	if key.MatchString(app.text) {
		t.Fatal("the key stands on the page")
	}
	credential := []string{"client_id", "1", "cred_id", "1", "mode"}
	shown := w.shows(w.submit(app, "/portal/private/credentials", append(credential, "show")...), 200, "Keep it secret", `data-copy="secret-1"`)
	first := key.FindStringSubmatch(shown.text)
	if first == nil || strings.Count(shown.text, first[1]) != 1 {
		t.Fatal(shown.text)
	}
	if p := w.open("/portal/private/apps/1"); strings.Contains(p.text, first[1]) || strings.Contains(shown.path, first[1]) {
		t.Error("the key is shown again")
	}
	w.shows(w.submit(app, "/portal/private/credentials", append(credential, "roll")...), 200, "The credential has another value")
	if second := key.FindStringSubmatch(w.submit(app, "/portal/private/credentials", append(credential, "show")...).text); second == nil || second[1] == first[1] {
		t.Error("the key is the same")
	}
	w.shows(w.submit(app, "/portal/private/apps/1/access-requests/1/webhooks", "webhook-url", "ftp://x", "webhook-event-types[]", "order.paid"), 422, "The address that gets the messages is invalid")
	w.shows(w.submit(app, "/portal/private/apps/1/access-requests/1/webhooks", "webhook-url", "https://shop.example/in", "webhook-secret", "hush-hush", "webhook-event-types[]", "order.paid"), 200, "The subscription is saved", "https://shop.example/in", "There is one.", "checked")
	if p := w.open("/portal/private/apps/1"); strings.Contains(p.text, "hush-hush") {
		t.Error("the secret is shown")
	}
	w.shows(w.submit(app, "/portal/private/credentials", append(credential, "update", "redirect_url", "https://shop.example/back")...), 200, "https://shop.example/back")
	w.shows(w.submit(app, "/portal/private/credentials", "client_id", "1", "cred_id", "9", "mode", "update", "redirect_url", "https://shop.example/other"), 404)
	w.shows(w.submit(app, "/portal/private/credentials", append(credential, "other")...), 400)
	w.shows(w.submit(app, "/portal/private/apps/1/cert/1", "cert-mode", "update", "certificate", "x"), 422, "without a certificate")

	w.as("bob")
	shared := w.shows(w.open("/portal/private/apps/1"), 200, "shared by Ada", "Rotate now")
	for _, hidden := range []string{"Delete the app", "About the app"} {
		if strings.Contains(shared.text, hidden) {
			t.Errorf("who may not change the app is offered %q", hidden)
		}
	}
	w.shows(w.submit(shared, "/portal/private/apps/1", "mode", "delete"), 403, "only the owner of the app")
	w.as("eve")
	w.shows(w.open("/portal/private/apps"), 200, "There is no app yet")
	none := w.open("/portal/private/apps/new")
	for _, path := range []string{"/portal/private/apps/1", "/portal/private/apps/99", "/portal/private/apps/..", "/portal/private/apps/x"} {
		w.shows(w.open(path), 404, "Page not found")
	}
	for _, action := range []string{"/portal/private/apps/1", "/portal/private/apps/1/access-requests/1", "/portal/private/apps/1/access-requests/1/webhooks", "/portal/private/apps/1/cert/1"} {
		w.shows(w.submit(none, action, "mode", "delete", "name", "Stolen"), 404, "Page not found")
	}
	for _, mode := range []string{"roll", "delete", "show", "update"} {
		w.shows(w.submit(none, "/portal/private/credentials", append(credential, mode)...), 404, "Page not found")
	}

	w.as("ada")
	app = w.open("/portal/private/apps/1")
	w.shows(w.submit(app, "/portal/private/credentials", append(credential, "delete")...), 200, "The credential is deleted", "There is no credential yet", "approved")
	w.shows(w.submit(app, "/portal/private/apps/1/access-requests/1", "mode", "delete"), 200, "The access request is gone")
	w.shows(w.submit(app, "/portal/private/apps/1", "mode", "delete"), 200, "The app is deleted", "There is no app yet")
	if w.log.Len() > 0 {
		t.Error(w.log)
	}
}

// TestOwnForms refuses forms about apps from pages of other sites, and from visitors without a
// session.
func TestOwnForms(t *testing.T) {
	w := newWorld(t)
	w.offering()
	actions := []string{"/portal/private/apps", "/portal/private/dashboard", "/portal/private/apps/1", "/portal/private/apps/1/access-requests/1", "/portal/private/apps/1/access-requests/1/webhooks", "/portal/private/apps/1/cert/1", "/portal/private/credentials"}
	for _, action := range actions {
		w.shows(w.submit(page{}, action, "name", "x"), 200, "Log in")
	}
	w.as("ada")
	for _, action := range actions {
		w.shows(w.submit(page{}, action, "name", "x", "mode", "delete"), 400, "The form is too old")
	}
}

// TestUsage shows the usage of an app, in charts and numbers, to its users only.
func TestUsage(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	w.shows(w.open("/portal/private/analytics"), 200, "There is no app yet")
	for chart, names := range map[string][]string{"overview": {"traffic", "error", "latency"}, "traffic": {"traffic"}, "error": {"error"}, "latency": {"latency"}} {
		for _, query := range []string{"?days=2", "?days=2&app=0"} {
			p := w.open("/portal/private/analytics/api/chart/" + chart + query)
			for _, name := range names {
				w.shows(p, 200, `"name":"`+name+`","values":[0,0]`)
			}
		}
	}
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till", "visibility", "personal")
	w.approved("1", "2", "1")
	p := w.shows(w.open("/portal/private/analytics?app=1&days=7"), 200, "Usage", `<option selected>7</option>`, `<title id="chart-traffic">Calls. There is nothing to show.</title>`, "chart-latency", "The numbers")
	if n := strings.Count(p.text, `<th scope="row">`); n != 7 {
		t.Errorf("%d days", n)
	}
	w.shows(w.open("/portal/private/analytics/api/chart/overview?app=1&days=7"), 200, `"labels":["`, `"name":"error","values":[0,0,0,0,0,0,0]`)
	w.shows(w.open("/portal/private/analytics/api/chart/none?app=1"), 404)
	w.shows(w.open("/portal/private/analytics/api/chart/traffic?app=0&days=2"), 200, `"name":"traffic","values":[0,0]`)
	w.shows(w.open("/portal/private/analytics?app=0&days=7"), 200, `<option value="0" selected>All apps</option>`, "chart-traffic")
	w.as("bob")
	for _, path := range []string{"/portal/private/analytics?app=1", "/portal/private/analytics?app=99", "/portal/private/analytics/api/chart/traffic?app=1"} {
		w.shows(w.open(path), 404, "Page not found")
	}
	if w.log.Len() > 0 {
		t.Error(w.log)
	}
}

// TestColleagues shows and changes people of the viewer's organisation only.
func TestColleagues(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.api("PUT", "/portal-api/users/2", `{"Role":"consumer-admin"}`)
	w.as("ada")
	w.shows(w.open("/portal/private/users"), 200, `href="/portal/private/users/3"`)
	w.shows(w.open("/portal/private/users/3"), 200, "<h1>Bob</h1>", "Change")
	form := w.shows(w.open("/portal/private/users/3/edit"), 200, "Remove Bob")
	w.shows(w.submit(form, "/portal/private/users/3/edit", "mode", "edit", "first", "", "last", "Typed"), 422, "blank", `value="Typed"`)
	w.shows(w.submit(form, "/portal/private/users/3/edit", "mode", "edit", "first", "Bert", "role", "consumer-admin"), 200, "Your changes are saved", "<h1>Bert</h1>", "Organisation admin")
	w.shows(w.submit(form, "/portal/private/users/4", "mode", "delete"), 404, "Page not found")
	w.shows(w.open("/portal/private/users/4"), 404, "Page not found")
	w.shows(w.submit(form, "/portal/private/users/3", "mode", "delete"), 200, "no longer in your organisation")
	w.api("POST", "/portal-api/organisations/2/teams", `{"Name":"Buyers"}`)
	teams := func(user string) []string {
		var out struct{ Teams []struct{ Name string } }
		must(t, json.Unmarshal(w.api("GET", "/portal-api/users/"+user, ""), &out))
		var names []string
		for _, t := range out.Teams {
			names = append(names, t.Name)
		}
		return names
	}
	w.shows(w.submit(form, "/portal/private/users/invite", "email", "grace@example.com", "first", "Grace", "teams", ""), 200, "grace@example.com")
	if got := teams("5"); len(got) != 1 {
		t.Error(got)
	}
	w.api("PUT", "/portal-api/users/5", `{"Active":true}`)
	w.api("PUT", "/portal-api/users/2", `{"Teams":[2,3]}`)
	w.shows(w.open("/portal/private/users/invite"), 200, `<option value="consumer-team-member" selected>Team member<`, `<option value="2">Acme All users<`, `<option value="3">Buyers<`)
	w.shows(w.open("/portal/private/users/5/edit"), 200, `<option value="consumer-team-member" selected>Team member<`)
	w.shows(w.submit(form, "/portal/private/users/5/edit", "mode", "edit", "first", "Grace", "teams", "3"), 200, "Your changes are saved")
	if got := teams("5"); !slices.Contains(got, "Buyers") {
		t.Error("the teams of the form are dropped:", got)
	}
	w.api("PUT", "/portal-api/users/2", `{"Role":"consumer-team-member"}`)
	w.shows(w.open("/portal/private/users/invite"), 403, "Only an admin of the organisation")
	w.shows(w.open("/portal/private/users/5/edit"), 403, "Only an admin of the organisation")
	w.as("eve")
	w.shows(w.submit(w.open("/portal/private/apps/new"), "/portal/private/users/2/edit", "first", "Stolen"), 404, "Page not found")
}

// TestLeave deletes the account of a user who knows its password, with its apps and keys.
func TestLeave(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till")
	w.approved("1", "2", "1")
	form := w.shows(w.open("/portal/private/profile/delete"), 200, "Your apps go too")
	w.shows(w.submit(form, "/portal/private/profile/delete", "current_password", "wrong"), 422, "The current password is wrong", "current_password-wrong")
	w.shows(w.submit(form, "/portal/private/profile/delete", "current_password", "secret"), 200, "Your account is deleted", "Log in")
	w.shows(w.submit(w.open("/auth/password/login"), "/auth/password/login", "login", "ada@example.com", "password", "secret"), 401)
	if text := string(w.api("GET", "/portal-api/apps", "")); strings.TrimSpace(text) != "[]" {
		t.Error(text)
	}
	w.as("admin")
	w.shows(w.submit(w.open("/portal/private/profile/delete"), "/portal/private/profile/delete", "current_password", "secret"), 422, "An admin cannot delete the own account")
}

// TestLeaveInVain: while a key cannot be revoked the account stays. Its owner is told that the
// rest follows, but not the dashboard's error.
func TestLeaveInVain(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till")
	w.approved("1", "2", "1")
	w.api("PUT", "/portal-api/providers/1", `{"Configuration":{"MetaData":{"URL":"http://127.0.0.1:9","Secret":"x"}}}`)
	p := w.shows(w.submit(w.open("/portal/private/profile/delete"), "/portal/private/profile/delete", "current_password", "secret"), 422, "the rest follows by itself")
	for _, inner := range []string{"dashboard", "127.0.0.1", "force"} {
		if strings.Contains(p.text, inner) {
			t.Errorf("the page speaks of %s: %s", inner, p.text)
		}
	}
	w.shows(w.open("/portal/private/profile"), 200, "ada@example.com")
}

// TestOrganisationPage: the page shows each viewer's case: automatic approval, membership of an
// organisation, or an admin, who belongs to none.
func TestOrganisationPage(t *testing.T) {
	w := newWorld(t)
	w.offering()
	const at = "/portal/private/organisation"
	w.as("eve")
	w.shows(w.submit(w.open(at), at, "org_name", "First"), 200, "this page tells what becomes of it")
	w.shows(w.open(at), 200, "Your request for the organisation First waits for an administrator.")
	w.api("PUT", "/portal-api/organisation_requests/1/reject", "")
	w.shows(w.open(at), 200, "Your request for the organisation First is rejected. You can ask for one again.", "Ask for the organisation")
	w.api("PUT", "/portal-api/settings", `{"AutoApproveOrganisationRequests":true}`)
	for name, want := range map[string]string{"ada": "You are in the organisation Acme.", "admin": "Administrators belong to no organisation."} {
		w.as(name)
		w.shows(w.open(at), 200, "<h1>Organisation</h1>", want)
	}
	w.as("eve")
	form := w.shows(w.open(at), 200, "Ask for the organisation")
	w.shows(w.submit(form, at, "org_name", "Eves"), 200, "The organisation Eves is there, and you are its admin.")
	w.shows(w.open(at), 200, "You are in the organisation Eves.")
}

// TestManyAppsAndPeople: forms offer all apps, and pages name all people, even if there are more
// than on one page of a list.
func TestManyAppsAndPeople(t *testing.T) {
	w := newWorld(t)
	w.offering()
	for i := range 60 {
		w.api("POST", "/portal-api/apps", fmt.Sprintf(`{"Name":"App-%d-","UserID":%s,"Visibility":"personal"}`, i, account(w, "ada@example.com")))
	}
	for i := range 110 {
		w.api("POST", "/portal-api/users", fmt.Sprintf(`{"Email":"p%d@example.com","First":"P","OrganisationID":2,"Active":false}`, i))
	}
	w.as("ada")
	form := w.open("/portal/catalogue-products/payments")
	w.submit(form, "/portal/catalogue-products/payments", "product_id", "1", "catalogue_id", "1", "plan_id", "2")
	for _, at := range []string{"/portal/private/cart/provision", "/portal/private/analytics"} {
		w.shows(w.open(at), 200, "App-0-", "App-59-")
	}
	if p := w.shows(w.open("/portal/private/apps"), 200, "App-59-", "Page 1 of 2"); strings.Contains(p.text, "App-0-") {
		t.Error("the first page of apps has all of them")
	}
	w.shows(w.open("/portal/private/apps?page=2"), 200, "App-0-")
	w.shows(w.open("/portal/private/users"), 200, "p0@example.com", "p109@example.com")
	w.wear("Plain", plain(map[string]string{"views/user_list": `{{range FilterUserInvites req}}{{.Email}} {{end}}`, "views/user_home": `{{range Clients req}}{{.Name}} {{end}}`}))
	w.shows(w.open("/portal/private/users"), 200, "p0@example.com", "p109@example.com")
	w.shows(w.open("/portal/private/apps"), 200, "App-0-", "App-59-")
}
