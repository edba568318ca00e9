package portal_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/graphql"
	pages "github.com/gatehouse-io/gatehouse/adapters/web/portal"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

// plain is a theme with these views and no layouts.
func plain(views map[string]string) theme.Files {
	out := theme.Files{
		"theme.json":                         []byte(`{"name":"Plain","version":"1","author":"ada","templates":[{"name":"Home","template":"home","layout":"portal_layout"}]}`),
		"layouts/portal_layout.tmpl":         []byte(`{{yield}}`),
		"layouts/portal_layout_private.tmpl": []byte(`{{yield}}`),
		"views/home.tmpl":                    []byte(`home`),
	}
	for name, text := range views {
		out[name+theme.Extension] = []byte(text)
	}
	return out
}

// TestThemesOfOthers renders what public themes for this protocol use: they have other names,
// expect maps in place of lists, and have no paging.
func TestThemesOfOthers(t *testing.T) {
	w := newWorld(t)
	w.stocked()
	w.offering() // its products are 2 and 3
	w.api("PUT", "/portal-api/users/"+account(w, "admin@example.com"), `{"First":"Root","Last":"Admin"}`)
	w.api("POST", "/portal-api/products", `{"Name":"hidden","Path":"hidden","IsDocumentationOnly":true,"SpecDetails":[{"SpecAlias":"main"}]}`) // in no catalogue
	w.as("ada")
	w.api("PUT", "/portal-api/users/"+account(w, "ada@example.com"), `{"Role":"consumer-admin"}`)
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till")
	w.submit(w.open("/portal/private/users/invite"), "/portal/private/users/invite", "email", "new@example.com", "first", "New")
	w.approved("1", "2", "2")
	w.api("POST", "/portal-api/apps/1/custom_credentials", `{"Alias":"Old","Type":"CREDENTIAL_TYPE_CUSTOM","CredentialKey":"key-of-the-past","CredentialSecret":"secret-of-the-past","PlanID":2,"ProductIDs":[3]}`)
	w.submit(w.open("/portal/catalogue-products/shipping"), "/portal/catalogue-products/shipping", "product_id", "3", "catalogue_id", "1", "plan_id", "1")
	const docs = `{{$file := gt (.OASDocument.Base.Url | trim | length) 0}}{{if $file}}file {{.OASDocument.Base.Url}}{{end}} {{.GraphQLSDL.Base.Url}}`
	w.wear("Plain", plain(map[string]string{
		"views/home":      `{{range FeaturedProducts req}}({{.ProductName}} {{range .SpecDetails}}{{.SpecAlias}} ` + docs + `{{end}}){{end}}`,
		"views/catalogue": `{{range .products}}{{range GetCataloguesForProduct . req}}{{.Name}} {{end}}{{end}}{{.page.Title}};{{range $key, $value := GetCatalogueList req}}[{{$key}}={{$value.Name}}{{if eq $value.Selected true}} selected{{end}}]{{end}}{{range GetProducts req}}({{.ProductName}}{{range .APIDetails}} {{.Name}} {{.APIType}} {{.ListenPath}}{{end}}{{range .SpecDetails}} {{.SpecAlias}}{{end}}){{else}}no product{{end}}`,
		"views/portal_product_detail": `{{$user := CurrentUser req}}{{define "in"}}&lt;{{range .}}{{.ID}}={{.Name}}{{end}}&gt;{{end}}in {{template "in" GetCataloguesForProduct req $user .product}}, by number {{template "in" GetCataloguesForProduct req $user .product.ID}}, hidden {{template "in" GetCataloguesForProduct req $user 4}}, none {{template "in" GetCataloguesForProduct req $user 99}} {{.product.ProductName}} {{if .product.WebhooksEnabled}}streams{{else}}does not stream{{end}}
{{range .product.APIDetails}}` + docs + `{{end}}{{range .product.SpecDetails}}` + docs + `{{end}}`,
		"views/blog_listing":    `{{range .posts}}{{.ID}} by {{.Author.DisplayName}}{{end}}`,
		"views/user_invite":     `{{range $role := GetUserInvitationRoles}}{{$role.ID}}={{$role.DisplayName}};{{end}}{{range .teams}}{{.ID}} {{if .Default}}checked{{end}}{{end}}`,
		"views/user_edit":       `{{range $role := .roles}}{{$role.ID}}={{$role.DisplayName}};{{end}}`,
		"views/user_list":       `{{index .roles "consumer-admin"}}, {{index .roles "nothing"}}; {{$roles := .roles}}{{range $i, $one := FilterUserInvites req}}{{$one.Email}} {{index $roles $one.Role}} {{$one.CreatedAt | date "2006"}} {{if $one.Uactive}}here{{else if $one.Joined}}joined{{else}}awaited{{end}}; {{end}} of the list: {{range FilterUserInvites .users}}{{.Email}}{{end}}`,
		"views/user_home":       `{{range Clients req}}{{$first := .GetFirstAccessRequest}}{{.Name}} {{$first.ID}}{{end}}`,
		"views/portal_checkout": `{{range $index, $item := .cart}}{{len .AppTemplates}} {{range .Products}}{{.ProductName}} remove/{{$index}}/{{.ID}}{{end}}{{else}}empty{{end}}`,
		"views/app_form_update": `{{if eq .currentUser.ID .app.UserID}}mine{{end}} {{.app.VisibilityLabel}}
{{range .app.Credentials}}{{if eq .CredentialType "CREDENTIAL_TYPE_CUSTOM"}}pair {{.CredentialKey}} {{.CredentialSecret}}{{else}}{{TypeOfCredential .}} {{.CredentialType}}{{end}} ends {{.ExpiresAsString}}
{{with .AccessRequest}}{{.ID}} {{range .Products}}{{.ProductName}} at {{.Path}}{{end}} under {{.Plan.Name}} {{.Plan.FormatRateLimit}} {{if .AllowSubscriptions}}may subscribe{{end}} {{.ProviderID}}{{end}};{{end}}
{{range .app.AccessRequests}}{{with index $.appCerts .ID}}has a certificate{{else}}has none{{end}}{{end}}`,
	}))
	for _, one := range []struct {
		path  string
		wants []string
	}{
		{"/", []string{"(Pet &lt;b&gt;store&lt;/b&gt; main file /portal/catalogue-products/pets/main/docs/download )"}},
		{"/portal/catalogue-products", []string{"Public Catalogue Public Catalogue Public Catalogue Product Catalogues;[=All catalogues selected]", "[public-catalogue=Public Catalogue]", "(Payments pay authToken /pay/)(Pet &lt;b&gt;store&lt;/b&gt; main)(Shipping ship authToken /ship/)"}},
		{"/portal/catalogue-products?search=ship&catalogue=public-catalogue", []string{"[=All catalogues]", "[public-catalogue=Public Catalogue selected](Shipping ship authToken /ship/)"}},
		{"/portal/catalogue-products?catalogue=1", []string{"[public-catalogue=Public Catalogue selected](Payments pay authToken /pay/)"}},
		{"/portal/catalogue-products?search=nothing-at-all", []string{"no product"}},
		{"/portal/catalogue-products/pets", []string{"Pet &lt;b&gt;store&lt;/b&gt; does not stream", "file /portal/catalogue-products/pets/main/docs/download"}},
		{"/portal/catalogue-products/payments", []string{"Payments streams", "in &lt;1=Public Catalogue&gt;, by number &lt;1=Public Catalogue&gt;, hidden &lt;&gt;, none &lt;&gt;"}},
		{"/blog", []string{"1 by Root Admin"}},
		{"/portal/private/users/invite", []string{"consumer-team-member=Team member;consumer-admin=Organisation admin;", "checked"}},
		{"/portal/private/users/2/edit", []string{"consumer-team-member=Team member;consumer-admin=Organisation admin;"}},
		{"/portal/private/users", []string{"Organisation admin, ; ", "ada@example.com Organisation admin 2", "bob@example.com Team member 2", " here; ", "new@example.com Team member 2", " awaited; ", "of the list: new@example.com"}},
		{"/portal/private/apps", []string{"Till 1"}},
		{"/portal/private/cart/provision", []string{"0 Shipping remove/0/3"}},
		{"/portal/private/apps/1", []string{"mine Organisation", "pair ••••••••", "ends Never\n0 Shipping at shipping under Open 10 calls / 1 second(s)  0;", "authToken CREDENTIAL_TYPE_TYK_MANAGED ends Never\n1 Payments at payments under Open 10 calls / 1 second(s) may subscribe 1;", "has none"}},
	} {
		w.shows(w.open(one.path), 200, one.wants...)
	}
	w.shows(w.open("/portal/private/cart/remove/0/2"), 200, "Shipping") // another product stays
	w.shows(w.open("/portal/private/cart/remove/0/3"), 200, "empty")
	if p := w.open("/portal/private/users"); strings.Contains(p.text, "eve@") || strings.Contains(p.text, "admin@") {
		t.Error("the page shows people of another organisation:", p.text)
	}
	if p := w.open("/portal/private/apps/1"); strings.Contains(p.text, "of-the-past") {
		t.Error("the page shows what opens something:", p.text)
	}
	if w.log.Len() > 0 {
		t.Error(w.log)
	}
}

// from opens a page with the Referer of another one.
func (w *world) from(referer, path string) page {
	w.t.Helper()
	req, err := http.NewRequest("GET", w.server.URL+path, http.NoBody)
	must(w.t, err)
	req.Header.Set("Referer", referer)
	return w.shown(req)
}

// TestAttributesOfOthers registers a user with attributes through a form of a public theme.
func TestAttributesOfOthers(t *testing.T) {
	w := newWorld(t)
	w.offering()
	for _, a := range []string{`"Name":"Till","Identifier":"till","Type":1`, `"Name":"Size","Identifier":"size","Type":2,"DropdownValues":"small,large"`, `"Name":"News","Identifier":"news","Type":3`, `"Name":"Trap","Identifier":"email","Type":1`, `"Name":"Page","Identifier":"site","Type":1`} {
		w.api("POST", "/portal-api/extended_attributes/1/custom-attributes", `{`+a+`,"Behaviour":1,"ShowOnSignUp":true}`)
	}
	w.wear("Plain", plain(map[string]string{"layouts/auth/register": `<form action="/auth/password/register" method="post"><input name="email">{{$data := .}}{{.errors}}{{range $attr := .customAttributes}}{{if eq .Behaviour 3}}hidden{{end}}{{.Name}}{{if eq .Type 3}} box {{if (index $data .Identifier)}}checked{{end}}{{end}}{{if or (eq .Type 1) (eq .Type 4)}} text ({{index $data .Identifier}}){{end}}{{if eq .Type 2}}{{$selected := (index $data .Identifier)}}{{range $value := $attr.GetDropDownValues}} {{$value}}{{if eq $selected $value}}!{{end}}{{end}}{{end}}; {{end}}</form>`}))
	form := w.shows(w.open("/auth/password/register"), 200, "Till text ();", "Size small large;", "News box ;")
	fields := []string{"email", "new@example.com", "first", "New", "password1", "secret-1", "till", "7", "size", "large", "news", "true"}
	w.shows(w.submit(form, "/auth/password/register", append(fields, "password2", "other")...), 422, "Till text (7);", "Size small large!;", "News box checked;")
	w.shows(w.submit(form, "/auth/password/register", append(fields, "password2", "secret-1")...), 200)
	var values []struct {
		Value           string
		CustomAttribute struct{ Identifier string }
	}
	must(t, json.Unmarshal(w.api("GET", "/portal-api/users/"+account(w, "new@example.com")+"/custom-attributes", ""), &values))
	got := map[string]string{}
	for _, one := range values {
		got[one.CustomAttribute.Identifier] = one.Value
	}
	if got["till"] != "7" || got["size"] != "large" || got["news"] != "true" || got["email"] != "" {
		t.Error(got)
	}
}

// TestPasswordsOfOthers: public themes swap the addresses of the two forms for forgotten
// passwords, and put the code into the address.
func TestPasswordsOfOthers(t *testing.T) {
	w := newWorld(t)
	w.offering()
	login := w.server.URL + "/auth/password/login"
	w.shows(w.from(login, "/auth/password/update"), 200, "Code from the mail") // the standard theme has other addresses
	w.wear("Plain", plain(map[string]string{
		"layouts/auth/forgot_password": `<form action="/auth/password/update" method="post">asks for a mail{{if .done}}: it is sent{{end}}<input name="email"></form>`,
		"layouts/auth/reset":           `<form action="/auth/password/recover?token={{.code}}" method="post">resets by ({{.code}}) {{.error}}<input name="password1"><input name="password2"></form>`,
	}))
	w.shows(w.open("/auth/password/update"), 200, "resets by ()")
	w.shows(w.from(login, "/auth/password/update?token=x"), 200, "resets by (x)")
	forgot := w.shows(w.from(login, "/auth/password/update"), 200, "asks for a mail")
	w.shows(w.submit(forgot, "/auth/password/update", "email", "nobody@example.com"), 200, "asks for a mail: it is sent")
	reset := w.open("/auth/reset/code?token=none")
	w.shows(w.submit(reset, "/auth/password/recover?token=none", "password1", "another", "password2", "another"), 422, "resets by (none) Code has been used")
}

// TestNewAppsOfOthers creates an app as public themes do: their dashboard links to the form at
// the address that is otherwise the list.
func TestNewAppsOfOthers(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	const apps = "/portal/private/apps"
	dashboard := w.server.URL + "/portal/private/dashboard"
	w.shows(w.from(dashboard, apps), 200, "There is no app yet") // the standard theme has other addresses
	w.wear("Plain", plain(map[string]string{
		"views/user_home":       `apps: {{range Clients req}}{{.Name}}{{end}} <a href="apps">Create</a>`,
		"views/app_form_create": `<form action="apps" method="post"><input name="name"></form>`,
	}))
	w.shows(w.open("/portal/private/apps"), 200, "apps:")
	w.shows(w.from("https://evil.example/portal/private/dashboard", apps), 200, "apps:")
	w.shows(w.from(w.server.URL+"/portal/private/apps/1", apps), 200, "apps:")
	w.shows(w.open("/portal/private/dashboard"), 200, "apps:")
	form := w.shows(w.from(dashboard, apps), 200, `<form action="apps"`)
	w.submit(form, "/portal/private/apps", "name", "Till")
	w.shows(w.open("/portal/private/dashboard"), 200, "apps: Till")
}

// TestObjectsOfOthers renders what the public theme uses in checkout, profile, home, blog and
// catalogue.
func TestObjectsOfOthers(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.api("PUT", "/portal-api/products/1", `{"Feature":true}`)
	w.as("ada")
	for _, name := range []string{"Till", "Shelf"} {
		w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", name)
	}
	w.approved("1", "2", "1")
	w.submit(w.open("/portal/catalogue-products/shipping"), "/portal/catalogue-products/shipping", "product_id", "2", "catalogue_id", "1", "plan_id", "2")
	w.wear("Plain", plain(map[string]string{
		"views/home":            `{{.blocks.BackgroundImage.Image.URL}}[{{default "none" .page.Nothing}} {{default "none" .page.Title}}]{{safe_md_sanitized "**bold**"}}{{range FeaturedProducts}}{{$seen := dict}}{{range .APIDetails}}{{$sort := .GetAPITypeFormatted}}{{if not (index $seen $sort)}}{{$seen = merge $seen (dict $sort true)}}({{$sort}}){{end}}{{if .IsGraphQLAPI}}schema{{end}}{{end}}{{end}}`,
		"views/blog_listing":    `{{.blogSite.Title}}: {{.blogSite.Lede}}{{.blocks.BackgroundImage.Image.URL}}`,
		"views/user_profile":    `{{$user := CurrentUser req}}{{if $user.IsPasswordProvider}}has a password{{end}} {{$user.First}}<form method="post"><input name="first"><input name="last"></form>`,
		"views/app_form_update": `{{range .app.Credentials}}{{range index $ (printf "availablePlans_%d" .ID)}}{{.Name}}{{end}}{{index $ (printf "pendingPlan_%d" .ID)}}of {{.ID}}{{end}}`,
		"views/portal_checkout": `<script type="application/json">{{.credentialsVM.ToJSON}}</script>{{range $index, $item := .cart}}{{$item.AuthTypeMode}}{{range $app := $.apps}}{{$state := $.credentialsVM.GetState $app.ID $index}}{{$app.Name}}:{{if $state.ShowAlert}} {{$state.Messages.NoCredentialsTitle}}{{end}}{{if $state.ShowRadio}} {{$state.Messages.GenerateNewLabel}} or{{range $state.Credentials}} {{.ID}} {{.DisplayName}} {{.PlanName}} {{.AuthType}}{{end}}{{end}};{{end}}{{end}} {{.credentialsVM.GetState}}`,
	}))
	w.shows(w.open("/"), 200, "[none ", "<strong>bold</strong>", "(REST)")
	w.shows(w.open("/blog"), 200, "Blog: ")
	w.shows(w.open("/portal/private/cart/provision"), 200, `[{"ID":1,"ClientID":1,"PlanID":2}]`, "Till: New credential or 1 1 Open authToken;", "Shelf: No credential fits.;", " reusable")
	w.shows(w.open("/portal/private/apps/1"), 200, "of 1")
	profile := w.shows(w.open("/portal/private/profile"), 200, "has a password Ada")
	w.submit(profile, "/portal/private/profile", "mode", "update", "first", "Adele", "last", "L")
	w.shows(w.open("/portal/private/profile"), 200, "has a password Adele")
}

// TestBaseURL shows developers the address of APIs: the gateway of the product's provider.
func TestBaseURL(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.api("POST", "/portal-api/products", `{"Name":"Manuals","Path":"manuals","ProviderID":1,"IsDocumentationOnly":true,"SpecDetails":[{"SpecAlias":"main"}],"Catalogues":[1]}`)
	const docs, bare = "/portal/catalogue-products/payments/pay/docs", `{"openapi":"3.0.3","info":{"title":"Pay","version":"1"},"paths":{"/bills":{"get":{"responses":{"200":{"description":"ok"}}}}}}`
	w.upload("POST", "/portal-api/products/1/api-details/pay/oas", "pay.json", []byte(bare))
	w.shows(w.open(docs), 200, "https://gateway.example.com/bills")
	if p := w.shows(w.open("/portal/catalogue-products/payments"), 200, "<code>/pay/</code>"); strings.Contains(p.text, "Base URL") {
		t.Error("a base address, and the provider has no gateway:", p.text)
	}
	w.api("PUT", "/portal-api/providers/1", `{"Configuration":{"MetaData":{"URL":"http://localhost:3000","Gateway":"https://gw.example.com/base"}}}`)
	w.shows(w.open("/portal/catalogue-products/payments"), 200, "<dt>Base URL</dt><dd><code>https://gw.example.com/base</code>", "<code>https://gw.example.com/base/pay/</code>")
	w.shows(w.open(docs), 200, "<code>https://gw.example.com/base/pay/</code>", "https://gw.example.com/base/pay/bills")
	w.upload("POST", "/portal-api/products/1/api-details/pay/oas", "pay.json", []byte(strings.Replace(bare, `"paths"`, `"servers":[{"url":"https://named.example"}],"paths"`, 1)))
	w.shows(w.open(docs), 200, "<code>https://named.example</code>", "https://named.example/bills")
	if p := w.open("/portal/catalogue-products/manuals"); strings.Contains(p.text, "gw.example.com") {
		t.Error("nothing serves a specification:", p.text)
	}
	w.wear("Plain", plain(map[string]string{"views/portal_product_detail": `{{$at := ProviderUpstreamURL req .product.ProviderID}}at {{$at}}, {{ProviderUpstreamURL .product.ProviderID}}, other ({{ProviderUpstreamURL req 9}}){{range .product.APIDetails}} {{.ListenPath}} {{.ServedAt}}{{end}}`}))
	w.shows(w.open("/portal/catalogue-products/payments"), 200, "at https://gw.example.com/base, https://gw.example.com/base, other () /pay/ https://gw.example.com/base/pay/")
}

// TestMenusOfOthers: themes get a menu by its name, or walk the trees of all menus.
func TestMenusOfOthers(t *testing.T) {
	w := newWorld(t)
	w.api("POST", "/portal-api/menus", `{"Name":"Footer"}`)
	w.api("POST", "/portal-api/menus/2/items", `{"Title":"Help","Path":"/"}`)
	w.api("POST", "/portal-api/menus/2/items", `{"Title":"Contact","Path":"/contact","ParentID":`+item(t, w, "Help")+`}`)
	w.wear("Plain", plain(map[string]string{
		"views/home": `{{range GetMenus "Footer" req}}[{{.Title}} {{.Path}}]{{end}} {{if GetMenus.Primary}}primary{{else}}none{{end}}{{range GetMenus.Nothing.Children}}x{{end}}{{range (GetMenus req).Footer.Children}}({{.Tag}} {{.Path}}: {{range .Children}}{{.Tag}} {{.Path}}{{end}}){{end}}`,
	}))
	if p := w.shows(w.open("/"), 200); p.text != "[Help /][Contact /contact] none(Help /: Contact /contact)" {
		t.Error(p.text)
	}
}

// item returns the number of an item of the second menu.
func item(t *testing.T, w *world, title string) string {
	t.Helper()
	var all []struct {
		ID    int
		Title string
	}
	must(t, json.Unmarshal(w.api("GET", "/portal-api/menus/2/items", ""), &all))
	for _, i := range all {
		if i.Title == title {
			return strconv.Itoa(i.ID)
		}
	}
	t.Fatal("there is no item", title)
	return ""
}

// TestWordsOfOthers: themes use the visibility of catalogues, the words for methods, and the
// product of a request, and their login returns without a field for the target.
func TestWordsOfOthers(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.wear("Plain", plain(map[string]string{
		"views/auth/login":            `<form method="post"></form>`,
		"views/portal_product_detail": `{{range .catalogues}}{{.Name}}: {{.VisibilityStatus}}{{end}} {{range .product.AuthTypes}}{{.AuthType}} {{.}}{{end}}`,
		"views/app_form_update":       `{{range .app.AccessRequests}}for {{.Product.DisplayName}}{{end}}`,
	}))
	w.shows(w.open("/portal/catalogue-products/payments"), 200, "Public Catalogue: Public authToken authToken")
	for from, want := range map[string]string{"/auth/password/login?next=/portal/catalogue-products/payments": "/portal/catalogue-products/payments", "/auth/password/login?next=//evil.example/": "/", "/blog?next=/blog": "/"} {
		w.fresh()
		form := url.Values{"login": {"ada@example.com"}, "password": {"secret"}, "csrf_token": {token.FindStringSubmatch(w.open("/auth/password/login").text)[1]}}
		req, err := http.NewRequest("POST", w.server.URL+"/auth/password/login", strings.NewReader(form.Encode()))
		must(t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Referer", w.server.URL+from)
		if p := w.shows(w.shown(req), 200); p.path != want {
			t.Errorf("%s leads to %s", from, p.path)
		}
	}
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till")
	w.approved("1", "2", "1")
	w.shows(w.open("/portal/private/apps/1"), 200, "for Payments")
}

// TestFunctionsOfOthers: to an admin no portal is hidden or private, and the name of an app is
// found by its credential.
func TestFunctionsOfOthers(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	for _, name := range []string{"First", "Second"} {
		w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", name, "description", "About "+name)
	}
	w.approved("2", "2", "1") // credential 1 is that of app 2
	const state = `disabled {{IsPortalDisabled req}}, private {{IsPortalPrivate req}}`
	w.wear("Plain", plain(map[string]string{
		"views/home":            state,
		"views/portal_disabled": state,
		"views/app_form_update": `{{range .app.Credentials}}{{GetClientName .ID}}: {{GetClientDescription .ID req}}{{end}}, by app {{GetClientName 2}}, none {{GetClientName 9}}.`,
	}))
	w.shows(w.open("/portal/private/apps/2"), 200, "Second: About Second, by app Second, none .")
	for visibility, want := range map[string][2]string{"Public": {"disabled false, private false", "disabled false, private false"}, "Private": {"disabled false, private true", "disabled false, private false"}, "Hidden": {"disabled true, private false", "disabled false, private false"}} {
		w.api("PUT", "/portal-api/settings", `{"PortalVisibility":"`+visibility+`"}`)
		for i, who := range []string{"ada", "admin"} {
			w.fresh()
			if p := w.submit(w.open("/auth/password/login"), "/auth/password/login", "login", who+"@example.com", "password", "secret"); p.text != want[i] {
				t.Errorf("%s, %s: %s", visibility, who, p.text)
			}
		}
	}
}

// TestFormsOfOthers: forms of themes without the CSRF token work, with and without a session.
func TestFormsOfOthers(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.wear("Plain", plain(map[string]string{
		"views/auth/login":            `<form method="post"><input name="login"><input name="password"></form>`,
		"views/app_form_create":       `<form action="/portal/private/apps" method="POST"><input name="name"></form>`,
		"views/portal_product_detail": `<form method="post"><input name="product_id" value="{{.product.ID}}"></form>`,
	}))
	payments := w.open("/portal/catalogue-products/payments")
	if p := w.shows(w.submit(payments, "/portal/catalogue-products/payments", "product_id", "1", "catalogue_id", "1", "plan_id", "1"), 200); !strings.HasPrefix(p.path, "/auth/password/login?next=") {
		t.Error("a stranger who chooses a product comes to", p.path)
	}
	w.as("ada")
	w.shows(w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till"), 200, "Your app is there")
}

// TestErrorsOfOthers: themes iterate over the errors of each field, or print them; errors without
// a field are included.
func TestErrorsOfOthers(t *testing.T) {
	w := newWorld(t)
	w.offering()
	const view = `{{if .errors}}{{range $key, $errs := .errors}}({{$key}}:{{range $errs}} {{.}};{{end}}){{end}}{{end}}`
	w.wear("Plain", plain(map[string]string{
		"views/auth/login":      view + `<form method="post"></form>`,
		"views/app_form_create": view + ` printed: {{.errors.name}} {{.error}}<form method="post"></form>`,
	}))
	w.shows(w.submit(w.open("/auth/password/login"), "/auth/password/login", "login", "ada@example.com", "password", "wrong"), 401, "(error: ")
	w.api("PUT", "/portal-api/settings", `{"PortalVisibility":"Private"}`)
	w.shows(w.open("/portal/catalogue-products"), 200, "(error: This Portal is private;)")
	w.as("ada")
	w.shows(w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "", "redirectURLs", "/back"), 422, "(name: Name can&#39;t be blank;)", "(redirectURLs: Redirect addresses are invalid", "printed: Name can&#39;t be blank ")
}

// TestMarked: the default theme mentions fields only if one has an error.
func TestMarked(t *testing.T) {
	w := newWorld(t)
	w.offering()
	const marked = "See the fields below"
	if p := w.submit(w.open("/auth/password/login"), "/auth/password/login", "login", "ada@example.com", "password", "wrong"); strings.Contains(p.text, marked) {
		t.Error("a login that fails speaks of fields:", p.text)
	}
	w.as("ada")
	w.shows(w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", ""), 422, marked)
}

// TestRelatedPosts: the page of a product lists a few posts that share a tag with it, newest
// first, without drafts, and none if the blog is off.
func TestRelatedPosts(t *testing.T) {
	w := newWorld(t)
	w.api("POST", "/portal-api/tags", `{"Name":"animals"}`)
	w.api("POST", "/portal-api/tags", `{"Name":"plants"}`)
	w.api("POST", "/portal-api/products", `{"Name":"pets","Path":"pets","IsDocumentationOnly":true,"Catalogues":[1],"Tags":[1],"SpecDetails":[{"SpecAlias":"main"}]}`)
	w.api("POST", "/portal-api/products", `{"Name":"bare","Path":"bare","IsDocumentationOnly":true,"Catalogues":[1],"SpecDetails":[{"SpecAlias":"main"}]}`)
	w.api("POST", "/portal-api/products/1/docs", `{"Title":"A tutorial","Content":"<p>Sit</p>","Path":"first","Status":"published"}`)
	post := func(title, tag, status string) {
		w.api("POST", "/portal-api/posts", `{"Title":"`+title+`","Path":"`+title+`","Content":"<p>Body</p>","Tags":[`+tag+`],"Status":"`+status+`"}`)
	}
	for _, n := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		post("animal-"+n, "1", "published")
	}
	post("plant", "2", "published")
	post("both", "2,1", "published")
	post("hidden", "1", "draft")
	w.as("admin")
	p := w.shows(w.open("/portal/catalogue-products/pets"), 200, "Related posts", ">both</a>", ">animal-7</a>", ">animal-3</a>", "A tutorial")
	for _, not := range []string{"animal-2", "plant", ">hidden<", "Body"} {
		if strings.Contains(p.text, not) {
			t.Errorf("the page shows %s", not)
		}
	}
	if p := w.open("/portal/catalogue-products/bare"); strings.Contains(p.text, "Related posts") {
		t.Error("a product without tags has related posts")
	}
	w.wear("Plain", plain(map[string]string{"views/portal_product_detail": `{{range $i, $post := .posts}}{{.ID}} {{.CreatedAt | date "2006"}} {{.Title}} {{.URL}} {{.Author.DisplayName}};{{else}}no posts{{end}} {{len .product.Docs}}`}))
	p = w.shows(w.open("/portal/catalogue-products/pets"), 200, "/both ;", " 1")
	if n := strings.Count(p.text, ";"); n != 6 {
		t.Errorf("%d posts, want 6: %s", n, p.text)
	}
	w.api("PUT", "/portal-api/settings", `{"BlogEnabled":false}`)
	w.shows(w.open("/portal/catalogue-products/pets"), 200, "no posts")
}

// TestLayoutsOfDescriptions: descriptions of APIs use their own layouts if the theme has them,
// and the layout of all pages otherwise.
func TestLayoutsOfDescriptions(t *testing.T) {
	for renderer, want := range map[string]string{"redoc": "of redoc, pets: Pets, ", "stoplight": "of stoplight, pets: Pets, "} {
		w := newWorldWith(t, func(p *app.Portal) {
			p.GraphQL = graphql.Checker{}
			p.Pages = fronted(func(c *pages.Config) { c.Renderer = renderer })
		})
		w.api("POST", "/portal-api/products", `{"Name":"pets","Path":"pets","IsDocumentationOnly":true,"Catalogues":[1],"SpecDetails":[{"SpecAlias":"main","Name":"Pets"},{"SpecAlias":"graph"}]}`)
		w.upload("POST", "/portal-api/products/1/spec-details/1/oas", "pets.yaml", []byte(petstore))
		w.upload("PUT", "/portal-api/products/1/spec-details/2/graphql/schema", "schema.graphql", []byte("type Query { pet: String }"))
		views := map[string]string{"views/product_doc_redoc": "view {{.Name}}", "views/product_doc_stoplight_spec": "view {{.Name}}", "views/product_doc_graphql_playground": "view {{.Name}}"}
		w.wear("Plain", plain(views))
		if p := w.shows(w.open("/portal/catalogue-products/pets/main/docs"), 200); p.text != "view Pets" {
			t.Errorf("%s, without a layout: %s", renderer, p.text)
		}
		for _, name := range []string{"redoc", "stoplight", "graphql"} {
			views["layouts/product_layout_doc_"+name] = "of " + name + ", {{.product.Name}}: {{.api.Name}}, {{yield}}"
		}
		w.wear("Plain", plain(views))
		for path, want := range map[string]string{"main": want + "view Pets", "graph": "of graphql, pets: graph, view graph"} {
			if p := w.shows(w.open("/portal/catalogue-products/pets/"+path+"/docs"), 200); p.text != want {
				t.Errorf("%s: %s, want %s", renderer, p.text, want)
			}
		}
	}
}
