package rows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime/multipart"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/products/rows"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// at is the address of the dashboard in the same process.
const at = "http://dashboard.example"

// world is a portal and its dashboard.
type world struct {
	testing.TB
	app         *app.App
	key, portal string
}

func open(t testing.TB) *world {
	t.Helper()
	a, err := app.New(app.WithLogger(slog.New(slog.DiscardHandler)), app.WithPortal(app.Portal{Shared: true, SigningKey: "key", Local: []string{at}}))
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Bootstrap(t.Context(), identity.First{Email: "admin@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, a, b.AccessKey, ""}
	var made struct {
		Data struct {
			Token string `json:"api_token"`
		}
	}
	w.ok("POST", "/portal-api/bootstrap", `{"username":"admin@example.com","password":"secret"}`, &made)
	w.portal = made.Data.Token
	w.api("a", `"use_standard_auth":true`)
	w.api("b", `"use_standard_auth":true`)
	w.ok("POST", "/portal-api/providers", w.provider(at), nil)
	return w
}

func (w *world) provider(url string) string {
	return fmt.Sprintf(`{"Name":"Here","Configuration":{"MetaData":{"URL":%q,"Secret":%q}}}`, url, w.key)
}

func (w *world) api(id, auth string) {
	w.ok("POST", "/api/apis", fmt.Sprintf(`{"api_definition":{"name":"API %s","api_id":"%s","active":true,%s,"proxy":{"listen_path":"/%s/","target_url":"http://%s.example"}}}`, id, id, auth, id, id), nil)
}

// send calls an operation of the portal or of the dashboard.
func (w *world) send(method, path, contentType string, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	r.Header.Set("Authorization", w.key)
	if strings.HasPrefix(path, "/portal-api") {
		r.Header.Set("Authorization", w.portal)
	}
	r.Header.Set("Content-Type", contentType)
	out := httptest.NewRecorder()
	w.app.ServeHTTP(out, r)
	return out
}

func (w *world) ok(method, path, body string, into any) {
	w.Helper()
	a := w.send(method, path, "application/json", []byte(body))
	if a.Code >= 300 {
		w.Fatalf("%s %s %s: %d %s", method, path, body, a.Code, a.Body)
	}
	if into != nil {
		if err := json.Unmarshal(a.Body.Bytes(), into); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *world) refused(method, path, body string, code int, want string) {
	w.Helper()
	a := w.send(method, path, "application/json", []byte(body))
	var got struct{ Errors []string }
	_ = json.Unmarshal(a.Body.Bytes(), &got)
	if a.Code != code || strings.Join(got.Errors, "; ") != want {
		w.Errorf("%s %s %s: %d %s, want %q", method, path, body, a.Code, a.Body, want)
	}
}

func (w *world) product(id int) (p rows.Shown) {
	w.Helper()
	w.ok("GET", fmt.Sprintf("/portal-api/products/%d", id), "", &p)
	return p
}

func (w *world) list() (ids []table.ID) {
	w.Helper()
	var all []rows.Listed
	w.ok("GET", "/portal-api/products", "", &all)
	for _, p := range all {
		ids = append(ids, p.ID)
	}
	return ids
}

func (w *world) synchronise() {
	w.Helper()
	w.ok("PUT", "/portal-api/providers/1/synchronize", "", nil)
}

// TestOrderByMethod: lists of products can be sorted and searched by the authentication of
// their APIs.
func TestOrderByMethod(t *testing.T) {
	w := open(t)
	w.api("j", `"enable_jwt":true`)
	w.api("u", `"use_basic_auth":true`)
	for _, id := range []string{"a", "j", "u"} {
		w.ok("POST", "/portal-api/products", fmt.Sprintf(`{"Name":"of %s","ProviderID":1,"IsDocumentationOnly":false,"APIDetails":[{"APIID":%q}]}`, id, id), nil)
	}
	for query, want := range map[string][]string{
		"order_by=AuthType": {"authToken", "ba", "jwt"}, "sort=auth_type_desc": {"jwt", "ba", "authToken"}, "keyword=JWT": {"jwt"},
	} {
		var all []rows.Listed
		w.ok("GET", "/portal-api/products?"+query, "", &all)
		var got []string
		for _, p := range all {
			got = append(got, p.AuthType)
			if !slices.Equal(p.AuthTypes, []string{p.AuthType}) {
				t.Errorf("%s: AuthTypes %v", p.AuthType, p.AuthTypes)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v", query, got)
		}
	}
}

// TestSynchronised: products created, changed, removed and restored at the dashboard follow in
// the portal, and data of the portal alone stay.
func TestSynchronised(t *testing.T) {
	w := open(t)
	const policy = `{"id":"gold","name":"Gold & more","active":true,"state":"active","partitions":{"acl":true},"access_rights":{"a":{"api_id":"a","api_name":"API a","versions":["Default"]}}}`
	w.ok("POST", "/api/portal/policies", policy, nil)
	w.ok("POST", "/portal-api/products", `{"Name":"Gold more","IsDocumentationOnly":true}`, nil)
	w.synchronise()
	p := w.product(2)
	if p.Name != "Gold & more" || p.Path != "gold-more-2" || p.IsDocumentationOnly || len(p.Catalogues) > 0 || p.AuthType != "authToken" || len(p.ReferenceID) != 24 {
		t.Fatalf("%+v", p)
	}
	if want := []rows.ShownAPI{{APIID: "a", APIType: "authToken", ListenPath: "/a/", Name: "API a", Status: true, TargetURL: "http://a.example"}}; !slices.Equal(p.APIDetails, want) {
		t.Errorf("%+v", p.APIDetails)
	}

	w.ok("PUT", "/portal-api/products/2", `{"DisplayName":"Shown","Catalogues":[1],"APIDetails":[{"APIID":"a","Description":"Said"}]}`, nil)
	w.ok("POST", "/portal-api/products/2/tags", `{"Name":"Loans"}`, nil)
	w.ok("PUT", "/api/apis/a", `{"api_definition":{"name":"Renamed","api_id":"a","active":false,"use_standard_auth":true,"proxy":{"listen_path":"/a/","target_url":"http://a.example"}}}`, nil)
	w.synchronise()
	if a := w.product(2).APIDetails[0]; a.Name != "Renamed" || a.Status || a.Description != "Said" {
		t.Errorf("%+v", a)
	}

	before := w.product(2)
	w.ok("DELETE", "/api/portal/policies/"+p.ReferenceID, "", nil)
	w.synchronise()
	w.refused("GET", "/portal-api/products/2", "", 404, "record not found")
	w.refused("PUT", "/portal-api/products/2", `{"Name":"x"}`, 422, "record not found")
	w.refused("DELETE", "/portal-api/products/2", "", 404, "record not found")
	w.refused("POST", "/portal-api/products/2/tags", `{"Name":"x"}`, 422, "record not found")
	w.refused("POST", "/portal-api/products", `{"Name":"x","IsDocumentationOnly":true,"Path":"gold-more-2"}`, 422, "Path has already been taken")
	if got := w.list(); !slices.Equal(got, []table.ID{1}) {
		t.Errorf("lists show %v", got)
	}
	var label struct{ Products []struct{ ID int } }
	if w.ok("GET", "/portal-api/tags/1", "", &label); len(label.Products) > 0 {
		t.Errorf("a tag shows %v", label)
	}

	w.ok("POST", "/api/portal/policies", policy, nil)
	w.synchronise()
	after := w.product(2)
	before.ReferenceID, after.ReferenceID = "", "" // the policy is a new one with the same identifier
	if a, b := fmt.Sprintf("%+v", before), fmt.Sprintf("%+v", after); a != b {
		t.Errorf("it was %s\nand is %s", a, b)
	}
}

// TestLearnedOneByOne: the dashboard's data about an API is stored for each product in a unit
// of work of its own, so that others can write in between.
func TestLearnedOneByOne(t *testing.T) {
	w := open(t)
	for _, name := range []string{"One", "Two"} {
		w.ok("POST", "/api/portal/policies", fmt.Sprintf(`{"id":%q,"name":%[1]q,"active":true,"state":"active","partitions":{"acl":true},"access_rights":{"a":{"api_id":"a","api_name":"API a","versions":["Default"]}}}`, name), nil)
	}
	w.synchronise()
	var at []store.Revision
	w.view(func(r store.Reader) error {
		for v, err := range products.Kind.Find(t.Context(), r, store.Query{}) {
			if err != nil {
				return err
			}
			at = append(at, v.Rev)
		}
		return nil
	})
	if len(at) != 2 || at[0] == at[1] || w.product(1).APIDetails[0].Name != "API a" || w.product(2).APIDetails[0].Name != "API a" {
		t.Error(at)
	}
}

// TestTheDashboardIsAway: changes that concern only the portal make no call; all others are
// refused, and nothing is stored.
func TestTheDashboardIsAway(t *testing.T) {
	w := open(t)
	w.ok("POST", "/portal-api/products", `{"Name":"Gold","ProviderID":1,"APIDetails":[{"APIID":"a"}]}`, nil)
	w.ok("PUT", "/portal-api/providers/1", w.provider("http://away.example"), nil)
	w.ok("PUT", "/portal-api/products/1", `{"Name":"Gold","APIDetails":[{"APIID":"a","Description":"Said","OASUrl":"https://specs.example"}],"DisplayName":"Shown","Content":"<p>","Path":"other","Scopes":"a,b","Feature":true,"DCREnabled":true,"Catalogues":[1,2],"WebhookEventTypes":["x"],"BindCertificateToToken":1,"Description":"d","AuthTypeMode":"mtls_managed"}`, nil)
	w.ok("POST", "/portal-api/products/1/tags", `{"Name":"Loans"}`, nil)
	before := w.product(1)
	if before.APIDetails[0].Description != "Said" || before.DisplayName != "Shown" || !before.BindCertificateToToken {
		t.Errorf("%+v", before)
	}
	for _, body := range []string{`{"Name":"Other"}`, `{"APIDetails":[{"APIID":"a"},{"APIID":"b"}]}`, `{"APIDetails":[]}`} {
		if a := w.send("PUT", "/portal-api/products/1", "", []byte(body)); a.Code != 422 || !strings.Contains(a.Body.String(), "does not answer") {
			t.Errorf("%s: %d %s", body, a.Code, a.Body)
		}
	}
	if a := w.send("DELETE", "/portal-api/products/1", "", nil); a.Code != 422 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if after := w.product(1); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%+v", after)
	}
}

// TestProxies: an MCP proxy is never part of a product.
func TestProxies(t *testing.T) {
	w := open(t)
	w.ok("POST", "/api/mcps", `{"openapi":"3.0.3","info":{"title":"Tools","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"id":"tools","name":"Tools","state":{"active":true}},"upstream":{"url":"http://tools.example"},"server":{"listenPath":{"value":"/tools/"}}}}`, nil)
	w.refused("POST", "/portal-api/products", `{"Name":"x","ProviderID":1,"APIDetails":[{"APIID":"tools"}]}`, 422, "API tools is an MCP proxy and can't be part of a product")
	w.ok("POST", "/portal-api/products", `{"Name":"Gold","ProviderID":1,"APIDetails":[{"APIID":"a"}]}`, nil)
	w.refused("PUT", "/portal-api/products/1", `{"APIDetails":[{"APIID":"a"},{"APIID":"tools"}]}`, 422, "API tools is an MCP proxy and can't be part of a product")
}

// TestProviders: a product with a policy stays with its provider; without a policy it may
// change the provider.
func TestProviders(t *testing.T) {
	w := open(t)
	w.ok("POST", "/portal-api/providers", strings.Replace(w.provider(at), "Here", "There", 1), nil)
	w.ok("POST", "/portal-api/products", `{"Name":"Docs","ProviderID":1}`, nil)
	w.ok("PUT", "/portal-api/products/1", `{"ProviderID":2}`, nil)
	w.ok("PUT", "/portal-api/products/1", `{"APIDetails":[{"APIID":"a"}]}`, nil)
	w.refused("PUT", "/portal-api/products/1", `{"ProviderID":1}`, 422, "ProviderID can't be changed")
	w.ok("DELETE", "/portal-api/providers/2", "", nil)
	if got := w.list(); len(got) > 0 {
		t.Errorf("products outlive their provider: %v", got)
	}
}

// TestScopes: the permissions of a token follow from its scopes, so each scope belongs to only
// one product or plan.
func TestScopes(t *testing.T) {
	w := open(t)
	w.ok("POST", "/portal-api/products", `{"Name":"One","IsDocumentationOnly":true,"DCREnabled":true,"Scopes":"read,write"}`, nil)
	w.ok("POST", "/portal-api/products", `{"Name":"Two","IsDocumentationOnly":true,"Scopes":"read"}`, nil)
	w.refused("PUT", "/portal-api/products/2", `{"DCREnabled":true}`, 422, "Scopes has already been taken")
	w.refused("POST", "/portal-api/products", `{"Name":"Three","IsDocumentationOnly":true,"DCREnabled":"true","Scopes":["admin","write"]}`, 422, "Scopes has already been taken")
	w.ok("PUT", "/portal-api/products/1", `{"Scopes":"write,admin"}`, nil)
	w.ok("PUT", "/portal-api/products/2", `{"DCREnabled":true}`, nil)
	w.ok("DELETE", "/portal-api/products/2", "", nil)
	w.ok("PUT", "/portal-api/products/1", `{"Scopes":"read"}`, nil)
}

// TestImages: pictures are small, have their real type, and cannot run scripts in a browser.
func TestImages(t *testing.T) {
	w := open(t)
	w.ok("POST", "/portal-api/products", `{"Name":"Docs","IsDocumentationOnly":true}`, nil)
	post := func(content []byte, files int) int {
		var form bytes.Buffer
		m := multipart.NewWriter(&form)
		for range files {
			part, err := m.CreateFormFile("file", "logo.html")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = part.Write(content)
		}
		_ = m.Close()
		return w.send("POST", "/portal-api/products/1/logo", m.FormDataContentType(), form.Bytes()).Code
	}
	png := []byte("\x89PNG\r\n\x1a\n\x00\xff")
	for name, c := range map[string]struct {
		content []byte
		files   int
		code    int
	}{
		"two":           {png, 2, 400},
		"no picture":    {[]byte("<html>"), 1, 400},
		"empty":         {nil, 1, 400},
		"large":         {append(slices.Clone(png), make([]byte, product.MaxImage)...), 1, 413},
		"far too large": {append(slices.Clone(png), make([]byte, product.MaxImage+(1<<20))...), 1, 413},
		"a picture":     {append(slices.Clone(png), make([]byte, product.MaxImage-len(png))...), 1, 200},
	} {
		if got := post(c.content, c.files); got != c.code {
			t.Errorf("%s: %d", name, got)
		}
	}
	if post(png, 1) != 200 {
		t.Fatal("no picture")
	}
	a := w.send("GET", "/portal-api/products/1/logo", "", nil)
	for name, want := range map[string]string{"Content-Type": "image/png", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"} {
		if got := a.Header().Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if !bytes.Equal(a.Body.Bytes(), png) || w.product(1).Logo != "/system/products/1/logo/logo.png" {
		t.Errorf("%q %+v", a.Body, w.product(1))
	}
	w.ok("DELETE", "/portal-api/products/1", "", nil)
	if n := w.count(product.ImageKind); n > 0 {
		t.Errorf("%d pictures of nothing", n)
	}
}

func (w *world) view(fn func(store.Reader) error) {
	w.Helper()
	if err := w.app.Store().View(w.Context(), w.scope(), fn); err != nil {
		w.Fatal(err)
	}
}

func (w *world) scope() tenant.Scope {
	scope, err := tenant.Of("portal:default")
	if err != nil {
		w.Fatal(err)
	}
	return scope
}

func (w *world) count(kind string) (n int) {
	w.view(func(r store.Reader) (err error) {
		n, err = r.Count(context.Background(), store.Query{Kind: kind})
		return err
	})
	return n
}

// TestClientTypes: existing client types can be attached, and are shown by name.
func TestClientTypes(t *testing.T) {
	w := open(t)
	w.ok("POST", "/portal-api/products", `{"Name":"Docs","IsDocumentationOnly":true}`, nil)
	w.ok("POST", "/portal-api/oauth-providers", `{"Name":"Login","Type":"Okta","WellKnownURL":"https://login.example.com"}`, nil)
	for _, name := range []string{"Web", "Native"} {
		w.ok("POST", "/portal-api/oauth-providers/1/client-types", `{"Name":"`+name+`","ResponseTypes":"code","GrantType":"authorization_code","OktaAppType":"web"}`, nil)
	}
	var one rows.ShownType
	w.ok("POST", "/portal-api/products/1/client_types", `{"ID":"1"}`, &one)
	if one.ID != 1 || one.Name != "Web" || one.GrantType != "authorization_code" || one.OktaAppType != "web" || one.CreatedAt == "" {
		t.Errorf("%+v", one)
	}
	w.ok("POST", "/portal-api/products/1/client_types", `{"ID":1}`, nil)
	w.refused("GET", "/portal-api/products/1/client_types/2", "", 404, "record not found")
	w.ok("PUT", "/portal-api/products/1", `{"Templates":["2",1]}`, nil)
	if got := w.product(1).Templates; !slices.Equal(got, []string{"Native", "Web"}) {
		t.Error(got)
	}
	var list []rows.ListedType
	if w.ok("GET", "/portal-api/products/1/client_types?order_by=name", "", &list); !slices.Equal(list, []rows.ListedType{{ID: 2, Name: "Native"}, {ID: 1, Name: "Web"}}) {
		t.Errorf("%+v", list)
	}
	w.ok("GET", "/portal-api/products/1/client_types/2", "", &one)
	w.ok("DELETE", "/portal-api/products/1/client_types/2", "", nil)
	w.ok("POST", "/portal-api/oauth-providers", `{"Name":"Elsewhere","Type":"Keycloak","WellKnownURL":"https://keycloak.example.com"}`, nil)
	w.ok("POST", "/portal-api/oauth-providers/2/client-types", `{"Name":"Plain","ResponseTypes":"code","GrantType":"authorization_code"}`, nil)
	var all map[string]any
	if w.ok("POST", "/portal-api/products/1/client_types", `{"ID":3}`, &all); all["OktaAppType"] != "" {
		t.Errorf("what is empty is not shown: %v", all)
	}
	w.ok("DELETE", "/portal-api/products/1/client_types/3", "", nil)
	if got := w.product(1).Templates; !slices.Equal(got, []string{"Web"}) {
		t.Error(got)
	}
}
