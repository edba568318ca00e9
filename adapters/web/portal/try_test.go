package portal_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
	record "github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/portal/tryout"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// gateway serves an API below /pets/, and nothing else.
func gateway(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/pets/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "a=b")
		_ = json.NewEncoder(w).Encode(map[string]any{"method": r.Method, "uri": r.URL.RequestURI(), "key": r.Header.Get("Authorization"), "cookie": r.Header.Get("Cookie"), "agent": r.UserAgent(), "type": r.Header.Get("Content-Type"), "more": r.Header.Get("X-More"), "body": string(body)})
	})
	mux.HandleFunc("/pets/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/secret", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/pets/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, tryout.MaxAnswer+1)) })
	mux.HandleFunc("/pets/text", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<script>alert(1)</script>") })
	mux.HandleFunc("/secret", func(http.ResponseWriter, *http.Request) { t.Error("a call went elsewhere") })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// served adds a product whose API a gateway serves, and a developer with a credential
// for it.
func (w *world) served(at string) {
	w.t.Helper()
	b, err := w.app.Bootstrap(w.t.Context(), identity.First{OrgID: "one", Email: "ops@example.com"})
	must(w.t, err)
	w.with(b.AccessKey, "POST", "/api/apis", `{"api_definition":{"name":"Pets","api_id":"pets","active":true,"use_standard_auth":true,"proxy":{"listen_path":"/pets/","target_url":"http://up.example"}}}`)
	meta, err := json.Marshal(fmt.Sprintf(`{"URL":"http://localhost:3000","Secret":%q,"OrgID":"one","Gateway":%q,"PoliciesTags":[]}`, b.AccessKey, at))
	must(w.t, err)
	w.api("POST", "/portal-api/providers", fmt.Sprintf(`{"Name":"ours","Type":"tyk-pro","Configuration":{"MetaData":%s}}`, meta))
	w.api("POST", "/portal-api/products", `{"Name":"Pets","Path":"served","ProviderID":1,"Catalogues":[1],"APIDetails":[{"APIID":"pets"}]}`)
	w.api("POST", "/portal-api/plans", `{"Name":"Gold","ProviderID":1,"Catalogues":[1],"RateLimit":100,"Per":1}`)
	w.upload("POST", "/portal-api/products/1/api-details/pets/oas", "pets.yaml", []byte(petstore))
	for _, name := range []string{"grace", "ada"} {
		w.api("POST", "/portal-api/users", fmt.Sprintf(`{"Email":"%s@example.com","First":"G","Password":"secret","Active":true}`, name))
	}
	w.api("POST", "/portal-api/apps", `{"Name":"Shop","UserID":2}`)
	w.api("PUT", "/portal-api/apps/1/provision", `{"PlanID":1,"ProductIDs":[1],"CatalogueID":1}`)
	w.api("PUT", "/portal-api/access_requests/1/approve", "")
}

// TestTry calls an API from its page, with a credential of the user.
func TestTry(t *testing.T) {
	gw := gateway(t)
	w := newWorldWith(t, func(p *app.Portal) {
		p.Relay = fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, MaxBytes: tryout.MaxAnswer})
	})
	w.served(gw.URL)
	const at = "/portal/catalogue-products/served/pets/try"
	w.shows(w.open(at), 200, "Log in")
	w.as("grace")
	docs := w.shows(w.open("/portal/catalogue-products/served/pets/docs"), 200, at+"?operation=put-pets-id-")
	put := docs.text[strings.Index(docs.text, "put-pets-id-"):]
	put = put[:strings.Index(put, `"`)]
	form := w.shows(w.open(at+"?operation="+put), 200, "Try: Change a pet", gw.URL+"/pets/", "Shop (1)", `name="parameter-path-id"`, "&#34;name&#34;: &#34;text&#34;")
	w.shows(w.submit(form, at, "operation", put, "parameter-path-id", "7 a", "credential", "1", "body", `{"name":"Rex"}`, "headers", "X-More: yes"), 200,
		"200", "uri&#34;: &#34;/pets/pets/7%20a", "method&#34;: &#34;PUT", "more&#34;: &#34;yes", "type&#34;: &#34;application/json", "cookie&#34;: &#34;&#34;", `Rex`)
	key := w.shows(w.submit(form, at, "operation", put, "parameter-path-id", "7", "credential", "1"), 200)
	if strings.Contains(key.text, "key&#34;: &#34;&#34;") || strings.Contains(key.text, "Set-Cookie") {
		t.Error("no key was sent, or a cookie is shown", key.text)
	}
	free := w.shows(w.open(at), 200, "Try Pets", `name="path"`)
	w.shows(w.submit(free, at, "method", "GET", "path", "/a", "query", "b=c", "token", "Bearer of-grace"), 200, "uri&#34;: &#34;/pets/a?b=c", "Bearer of-grace", "agent&#34;: &#34;Gatehouse")
	w.shows(w.submit(free, at, "method", "GET", "path", "/away"), 200, ">307<", "Location: /secret")
	w.shows(w.submit(free, at, "method", "GET", "path", "/text"), 200, "&lt;script&gt;")
	w.shows(w.submit(free, at, "method", "GET", "path", "/large"), 503, "too large")
	for name, fields := range map[string][]string{
		"Path is invalid": {"path", "/../secret"}, "Headers are invalid": {"headers", "Host: evil"}, "Headers are invalid: write": {"headers", "x"}, "Method is invalid": {"method", "TRACE"},
		"Token is invalid": {"token", "x", "credential", "1"}, "The credential is not one of yours": {"credential", "9"}, "Query is invalid": {"query", "a b"}, "The credential": {"credential", "-1"},
	} {
		w.shows(w.submit(free, at, append([]string{"method", "GET", "path", "/a"}, fields...)...), 422, strings.TrimSuffix(name, " is not one of yours"))
	}
	w.shows(w.submit(page{}, at, "method", "GET", "path", "/a"), 400, "The form is too old")
	w.as("ada")
	form = w.shows(w.open(at), 200, "Try Pets")
	if strings.Contains(form.text, "Shop") {
		t.Error("somebody else's credential is offered")
	}
	w.shows(w.submit(form, at, "method", "GET", "path", "/a", "credential", "1"), 422, "The credential is not one of your credentials")
	w.api("PUT", "/portal-api/products/1", `{"Catalogues":[]}`)
	w.shows(w.submit(form, at, "method", "GET", "path", "/a"), 404)
	scope, err := tenant.Of("portal:default")
	must(t, err)
	n := 0
	must(t, w.app.Trail().Newest(t.Context(), scope, func(r record.Record) bool {
		if strings.HasSuffix(r.URL, "/try") {
			n++
		}
		if text := fmt.Sprintf("%+v", r); strings.Contains(text, "of-grace") || strings.Contains(text, "Rex") {
			t.Error("a credential or a body stands in the trail", text)
		}
		return true
	}))
	if n == 0 {
		t.Error("the trail tells of no call")
	}
	if strings.Contains(w.log.String(), "of-grace") {
		t.Error("a credential stands in the log", w.log)
	}
}

// TestTryLimits: a limited number of calls in a minute, and none to private addresses.
func TestTryLimits(t *testing.T) {
	gw := gateway(t)
	w := newWorldWith(t, func(p *app.Portal) {
		p.Relay = fetch.New(fetch.Config{})
	})
	w.served(gw.URL)
	w.as("ada")
	const at = "/portal/catalogue-products/served/pets/try"
	form := w.shows(w.open(at), 200, "Try Pets")
	for range 60 {
		w.shows(w.submit(form, at, "method", "GET", "path", "/a"), 503, "the portal may not reach the gateway")
	}
	w.shows(w.submit(form, at, "method", "GET", "path", "/a"), 429, "too many requests")
}

// TestTryNowhere shows why an API without a gateway cannot be tried.
func TestTryNowhere(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	w.shows(w.open("/portal/catalogue-products/payments/pay/try"), 422, "no gateway serves the API")
	if w.log.Len() > 0 {
		t.Error(w.log)
	}
}
