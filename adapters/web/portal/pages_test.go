package portal_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

const petstore = `openapi: 3.0.3
info: {title: Pets, version: "2", description: "All **pets** <script>alert(1)</script>"}
servers: [{url: "https://api.example.com/v1"}]
tags: [{name: pets, description: Animals}]
paths:
  /pets/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}, description: "Number"}]
    get:
      tags: [pets]
      summary: Fetch a pet
      responses: {"200": {description: The pet, content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}}
    put:
      tags: [pets]
      summary: Change a pet
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
      responses: {"204": {description: Done}}
components:
  schemas:
    Pet: {type: object, required: [name], properties: {name: {type: string, description: "Its name"}, owner: {$ref: "#/components/schemas/Owner"}}}
    Owner: {type: object, properties: {pet: {$ref: "#/components/schemas/Pet"}}}
`

// stocked adds a product with a description, and a post.
func (w *world) stocked() {
	w.api("POST", "/portal-api/products", `{"Name":"pets","DisplayName":"Pet <b>store</b>","Path":"pets","Description":"Buy & sell","IsDocumentationOnly":true,"Feature":true,"Catalogues":[1],"Content":"<p>All about pets</p>","SpecDetails":[{"SpecAlias":"main","Name":"Pets"}]}`)
	w.upload("POST", "/portal-api/products/1/spec-details/1/oas", "pets.yaml", []byte(petstore))
	w.api("POST", "/portal-api/posts", `{"Title":"Ten tips","Lede":"In five minutes","Content":"<p>Sit</p>","Path":"ten-tips","Status":"published"}`)
	w.api("POST", "/portal-api/posts", `{"Title":"Not yet","Content":"<p>Sit</p>","Path":"draft","Status":"draft"}`)
}

// TestPrograms: programs that accept anything get pages where there are some, and the answers
// of the API elsewhere.
func TestPrograms(t *testing.T) {
	w := newWorld(t)
	w.stocked()
	for path, want := range map[string]string{"/": "200 text/html", "/about-us": "200 text/html", "/nothing": "404 application/json", "/system/products/9/logo/logo.png": "404 application/json", "/portal-api/none": "404 application/json"} {
		for _, accept := range []string{"*/*", "", "image/png, */*;q=0.8"} {
			req, err := http.NewRequest("GET", w.server.URL+path, nil)
			must(t, err)
			req.Header["Accept"] = []string{accept}
			resp, err := w.client.Do(req)
			must(t, err)
			must(t, resp.Body.Close())
			if have := fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Content-Type")); !strings.HasPrefix(have, want) {
				t.Errorf("%s, %q: %s", path, accept, have)
			}
		}
	}
}

// TestLoginEndsSession: a user who logs in again with the same browser has one session.
func TestLoginEndsSession(t *testing.T) {
	w := newWorld(t)
	const login = "/auth/password/login"
	session := func() *http.Cookie {
		at, err := url.Parse(w.server.URL)
		must(t, err)
		cookies := w.client.Jar.Cookies(at)
		return cookies[slices.IndexFunc(cookies, func(c *http.Cookie) bool { return c.Name == "portal-session" })]
	}
	w.submit(w.open(login), login, "login", "admin@example.com", "password", "secret")
	first := session()
	w.shows(w.submit(w.open(login), login, "login", "admin@example.com", "password", "wrong"), 401)
	w.shows(w.open("/portal/private/profile"), 200, "admin@example.com")
	w.submit(w.open(login), login, "login", "admin@example.com", "password", "secret")
	w.shows(w.open("/portal/private/profile"), 200, "admin@example.com")
	w.fresh()
	req, err := http.NewRequest("GET", w.server.URL+"/portal/private/profile", nil)
	must(t, err)
	req.AddCookie(first)
	if p := w.shown(req); strings.Contains(p.text, "admin@example.com") {
		t.Error("the first session holds still")
	}
}

// TestMethods: a method that a page does not support gets 405 with the supported ones, as a
// page for browsers.
func TestMethods(t *testing.T) {
	w := newWorld(t)
	check := func(answers map[string]string) {
		t.Helper()
		for at, want := range answers {
			method, path, _ := strings.Cut(at, " ")
			for accept, kind := range map[string]string{"text/html": "text/html", "*/*": "application/json"} {
				req, err := http.NewRequest(method, w.server.URL+path, strings.NewReader("a=b"))
				must(t, err)
				req.Header.Set("Accept", accept)
				req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				resp, err := w.client.Do(req)
				must(t, err)
				must(t, resp.Body.Close())
				if have := fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Allow")); have != want || resp.StatusCode == 405 && !strings.HasPrefix(resp.Header.Get("Content-Type"), kind) {
					t.Errorf("%s for %s: %s %s", at, accept, have, resp.Header.Get("Content-Type"))
				}
			}
		}
	}
	check(map[string]string{
		"OPTIONS /portal/private/profile": "405 GET, HEAD, POST", "OPTIONS /auth/password/login": "405 GET, HEAD, POST", "OPTIONS /auth/password/update": "405 GET, HEAD, POST", "OPTIONS /licences": "405 GET, HEAD",
		"PUT /auth/password/login": "405 GET, HEAD, POST", "DELETE /assets/portal.css": "405 GET, HEAD", "POST /blog": "405 GET, HEAD", "PATCH /portal/private/apps/7": "405 GET, HEAD, POST",
		"POST /": "405 GET, HEAD", "DELETE /": "405 GET, HEAD", "PUT /about-us": "405 GET, HEAD", "POST /nothing": "404 ", "PUT /portal/private/nothing": "404 ", "POST /portal-api/nothing": "404 ",
	})
	w.shows(w.open("/portal/private/credentials"), 200, "Log in") // an address that accepts only forms
	w.api("PUT", "/portal-api/settings", `{"PortalVisibility":"Private"}`)
	check(map[string]string{"POST /nothing": "404 ", "POST /blog": "405 GET, HEAD"}) // visitors without a session cannot find out what exists
}

// TestPublicPages opens the public pages.
func TestPublicPages(t *testing.T) {
	w := newWorld(t)
	w.stocked()
	home := w.shows(w.open("/"), 200, "Build with our APIs", "Pet &lt;b&gt;store&lt;/b&gt;", `href="/portal/catalogue-products"`, "Log in", "Register")
	for name, part := range map[string]string{"Content-Security-Policy": "frame-ancestors 'none'", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Content-Type": "text/html"} {
		if !strings.Contains(home.header.Get(name), part) {
			t.Errorf("%s: %q", name, home.header.Get(name))
		}
	}
	w.shows(w.open("/about-us"), 200, "About us")
	w.shows(w.open("/portal/catalogue-products?search=PET+sell"), 200, "Product Catalogues", "1 product", `value="PET sell"`, "/portal/catalogue-products/pets")
	w.shows(w.open("/portal/catalogue-products?search=cars"), 200, "No product matches")
	w.shows(w.open("/portal/catalogue-products/pets"), 200, "<p>All about pets</p>", "/portal/catalogue-products/pets/main/docs", "Public Catalogue")
	docs := w.shows(w.open("/portal/catalogue-products/pets/main/docs"), 200, "Fetch a pet", "/pets/{id}", "<strong>pets</strong>", "level1", "curl -X GET", "requests.request", "required")
	if strings.Contains(docs.text, "<script>") {
		t.Error("a script of a description stands on the page")
	}
	d := w.shows(w.open("/portal/catalogue-products/pets/main/docs/download"), 200, "openapi: 3.0.3")
	if d.header.Get("Content-Disposition") != `attachment; filename="main.yaml"` {
		t.Error(d.header)
	}
	blog := w.shows(w.open("/blog"), 200, "Ten tips")
	if strings.Contains(blog.text, "Not yet") {
		t.Error("a draft is shown")
	}
	at := blog.text[strings.Index(blog.text, `href="/blog/`)+6:]
	w.shows(w.open(at[:strings.Index(at, `"`)]), 200, "<p>Sit</p>")
	w.shows(w.open("/sitemap.xml"), 200, "/portal/catalogue-products/pets</loc>")
	w.shows(w.open("/robots.txt"), 200, "User-agent: *\nDisallow: /")
	w.shows(w.open("/assets/portal.css"), 200, "--accent")
	for _, path := range []string{"/nothing", "/portal/catalogue-products/none", "/portal/catalogue-products/pets/none/docs", "/portal/catalogue-products/..", "/blog/2020/01/01/ten-tips", "/blog/2020/01/01/draft"} {
		w.shows(w.open(path), 404, "Page not found")
	}
	w.shows(w.open("/assets/none"), 404)
	w.shows(w.open("/auth/password/recover"), 200, "Forgotten password")
	w.shows(w.open("/auth/password/update?token=x"), 200, "Choose another password", `value="x"`)
	w.shows(w.open("/auth/password/update"), 200, "Code from the mail")
	w.shows(w.open("/portal/private/profile"), 200, "Log in")
	if w.log.Len() > 0 {
		t.Error(w.log)
	}
}

// TestJourney registers, logs in, changes the own account, and logs out.
func TestJourney(t *testing.T) {
	w := newWorld(t)
	form := w.shows(w.open("/auth/password/register"), 200, "Password again")
	bad := w.shows(w.submit(form, "/auth/password/register", "email", "grace", "first", `"><b>Grace`, "password1", "secret", "password2", "secret"), 422, "Email is invalid", `id="email-wrong"`, `value="grace"`, "&#34;&gt;&lt;b&gt;Grace")
	w.shows(w.submit(bad, "/auth/password/register", "email", "grace@example.com", "first", "Grace", "password1", "secret", "password2", "other"), 422, "not the same")
	w.shows(w.submit(bad, "/auth/password/register", "email", "grace@example.com", "first", "Grace", "password1", "secret", "password2", "secret"), 200, "An administrator looks at your registration", "Log in")
	login := w.open("/auth/password/login?next=/portal/private/profile")
	w.shows(w.submit(login, "/auth/password/login", "login", "grace@example.com", "password", "secret"), 401, "Email or password is wrong", `value="grace@example.com"`)
	w.api("PUT", "/portal-api/users/2", `{"Active":true}`)
	profile := w.shows(w.submit(login, "/auth/password/login", "login", "grace@example.com", "password", "secret", "next", "/portal/private/profile"), 200, "Profile", "grace@example.com", "Log out")
	w.shows(w.submit(profile, "/portal/private/profile", "mode", "save", "first", "Amazing", "last", "Grace"), 200, "Your changes are saved", "Amazing Grace")
	w.shows(w.submit(profile, "/portal/private/profile", "mode", "save", "first", "", "last", "Grace"), 422, "blank")
	w.shows(w.submit(profile, "/portal/private/profile", "mode", "save", "first", "a\x00b\x1b[31m", "last", "Grace"), 422, "First name is invalid")
	w.shows(w.submit(profile, "/portal/private/profile", "mode", "erase", "first", "Erased", "last", "Grace"), 422, "asks for something that there is not", "Amazing Grace")
	w.shows(w.submit(profile, "/portal/private/profile", "mode", "password", "current_password", "wrong", "password1", "another-secret", "password2", "another-secret"), 422, "The current password is wrong")
	w.shows(w.submit(profile, "/portal/private/profile", "first", "Amazing", "last", "Grace"), 200, "Your changes are saved")
	const soon, approved = `value="keytoexpire"`, `value="approve"`
	w.shows(w.open("/portal/private/profile"), 200, soon+" checked", approved+" checked", "always come")
	w.shows(w.submit(profile, "/portal/private/profile", "mode", "notifications", "notification", "keytoexpire"), 200, "Your changes are saved", soon+" checked", approved+">")
	w.shows(w.submit(profile, "/portal/private/profile", "mode", "notifications"), 200, soon+">")
	w.shows(w.submit(profile, "/portal/private/profile", "current_password", "wrong", "password1", "another", "password2", "another"), 422, "The current password is wrong", "current_password-wrong")
	w.shows(w.submit(profile, "/portal/private/profile", "current_password", "secret", "password1", "another", "password2", "another"), 200, "Your password is changed")
	w.shows(w.open("/portal/private/users"), 200, "Team")
	org := w.shows(w.open("/portal/private/organisation"), 200, "Ask for the organisation")
	w.shows(w.submit(org, "/portal/private/organisation", "org_name", "Acme"), 200, "Thank you")
	w.shows(w.open("/portal/private/organisation"), 200, "Acme waits")
	w.shows(w.open("/auth/logout"), 200, "You are logged out")
	w.shows(w.open("/portal/private/profile"), 200, "Forgotten password?")
	forgot := w.open("/auth/password/new")
	w.shows(w.submit(forgot, "/auth/password/recover", "email", "nobody@example.com"), 200, "a mail is on its way")
	reset := w.shows(w.open("/auth/reset/code?token=none"), 200, "New password again")
	w.shows(w.submit(reset, "/auth/password/update", "code", "none", "password1", "another", "password2", "another"), 422, "Code has been used")
	w.shows(w.open("/auth/reset/code"), 200, "Code from the mail") // for mails without links
}

// TestVisibility opens a private portal, and a hidden one.
func TestVisibility(t *testing.T) {
	w := newWorld(t)
	w.stocked()
	w.api("PUT", "/portal-api/settings", `{"PortalVisibility":"Private","RegistrationEnabled":false}`)
	for _, path := range []string{"/", "/portal/catalogue-products", "/portal/catalogue-products/pets", "/blog", "/about-us", "/nothing"} {
		w.shows(w.open(path), 200, "This Portal is private", "Log in")
	}
	w.shows(w.open("/auth/password/register"), 403, "Registration is not allowed", "GO TO LOGIN")
	w.api("PUT", "/portal-api/settings", `{"PortalVisibility":"Hidden"}`)
	for _, path := range []string{"/", "/portal/catalogue-products", "/blog", "/auth/password/register", "/portal/private/profile"} {
		w.shows(w.open(path), 403, "This Portal is disabled")
	}
	w.shows(w.submit(w.open("/auth/password/login"), "/auth/password/login", "login", "admin@example.com", "password", "secret"), 200, "Build with our APIs")
	w.shows(w.open("/portal/catalogue-products"), 200, "Pet &lt;b&gt;store")
}

// TestHidden: a hidden portal refuses developers, and people who would become developers, also
// in the API that pages call; admins and logouts are not refused.
func TestHidden(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	ask := func(method, path, body string) page {
		req, err := http.NewRequest(method, w.server.URL+path, strings.NewReader(body))
		must(t, err)
		return w.shown(req)
	}
	w.shows(ask("GET", "/portal/api/apps", ""), 200)
	w.api("PUT", "/portal-api/settings", `{"PortalVisibility":"Hidden"}`)
	for _, path := range []string{"/portal/api/apps", "/portal/api/profile", "/portal/api/users"} {
		w.shows(ask("GET", path, ""), 403, "This Portal is disabled")
	}
	w.shows(ask("GET", "/portal/api/session", ""), 200)
	w.shows(ask("POST", "/portal/api/register", `{"Email":"new@example.com","First":"N","Password":"secret"}`), 403, "This Portal is disabled")
	w.fresh()
	w.shows(w.submit(w.open("/auth/password/login"), "/auth/password/login", "login", "admin@example.com", "password", "secret"), 200)
	w.shows(ask("GET", "/portal/api/apps", ""), 200)
}

// TestAddresses: a trailing slash redirects to the page, categories may have any name, and the
// sitemap has all products.
func TestAddresses(t *testing.T) {
	w := newWorld(t)
	for i := range 30 {
		w.api("POST", "/portal-api/products", fmt.Sprintf(`{"Name":"p%d","Path":"p%d","IsDocumentationOnly":true,"Catalogues":[1],"SpecDetails":[{"SpecAlias":"main"}]}`, i, i))
	}
	for from, to := range map[string]string{"/portal/catalogue-products/?search=p7": "/portal/catalogue-products?search=p7", "/portal/catalogue-products/p7/": "/portal/catalogue-products/p7", "/blog/": "/blog", "/auth/password/login/": "/auth/password/login", "/about-us/": "/about-us/"} {
		if p := w.shows(w.open(from), 200); p.path != to {
			t.Errorf("%s leads to %s", from, p.path)
		}
	}
	for _, none := range []string{"/nothing/", "//blog/", "/portal/catalogue-products//", "/portal-api/"} {
		if p := w.open(none); p.status == 200 && p.path != "/blog" {
			t.Errorf("%s leads to %s", none, p.path)
		}
	}
	for i, name := range []string{"Tips/Tricks", "C#", "What?", "a b"} {
		w.api("POST", "/portal-api/categories", `{"Name":"`+name+`"}`)
		w.api("POST", "/portal-api/posts", fmt.Sprintf(`{"Title":"Post-%d-","Path":"post-%d","Content":"x","Categories":[%d],"Status":"published"}`, i, i, i+1))
	}
	links := regexp.MustCompile(`/blog/category/[^"]+`).FindAllString(w.open("/blog").text, -1)
	for i, link := range links {
		if p := w.shows(w.open(link), 200, fmt.Sprintf("Post-%d-", len(links)-1-i)); strings.Count(p.text, "<article") != 1 {
			t.Error(link, "shows other posts too")
		}
	}
	w.shows(w.open("/blog/category/Tips/Tricks"), 200, "Post-0-")
	if len(links) != 4 {
		t.Error(links)
	}
	if p := w.shows(w.open("/sitemap.xml"), 200); strings.Count(p.text, "/portal/catalogue-products/p") != 30 {
		t.Error(p.text)
	}
}

// TestRegisterByInviteCode: a link may contain an invite code, under either name.
func TestRegisterByInviteCode(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.api("PUT", "/portal-api/settings", `{"AutoApproveRegistrations":true}`)
	w.api("POST", "/portal-api/invite_codes", `{"Code":"WELCOME-2026","Quota":9,"TeamID":2}`)
	const at = "/auth/password/register"
	for i, name := range []string{"token", "invite_id"} {
		form := w.shows(w.open(at+"?"+name+"=WELCOME-2026"), 200, `name="invite_id" value="WELCOME-2026"`, "Finish your registration")
		email := fmt.Sprintf("new%d@example.com", i)
		fields := []string{"first", "New", "password1", "a-good-password", "password2", "a-good-password"}
		w.shows(w.submit(form, at, append(fields, "invite_id", "WELCOME-2026")...), 422, "Code has been used")
		w.shows(w.submit(form, at, append(fields, "invite_id", "NO-SUCH-CODE", "email", email)...), 422, "The invite code is invalid")
		w.shows(w.submit(form, at, append(fields, "invite_id", "WELCOME-2026", "email", email)...), 200, "Your account is there")
		if text := string(w.api("GET", "/portal-api/users/"+account(w, email), "")); !strings.Contains(text, `"Organisation": "Acme"`) {
			t.Error("the account is elsewhere:", text)
		}
	}
}

// TestHiddenHatch: admins can also enter a hidden portal through the links of mails.
// Registering there needs an invitation.
func TestHiddenHatch(t *testing.T) {
	w := newWorld(t)
	w.api("PUT", "/portal-api/settings", `{"PortalVisibility":"Hidden"}`)
	w.shows(w.open("/auth/password/register"), 403, "This Portal is disabled")
	w.shows(w.open("/auth/password/edit"), 403, "This Portal is disabled")
	w.shows(w.open("/auth/password/register?token=x"), 200, "Finish your registration")
	for _, at := range []string{"/auth/reset/code?token=x", "/auth/password/update", "/auth/password/update/code?token=x"} {
		w.shows(w.open(at), 200, "Choose another password")
	}
	forgot := w.shows(w.open("/auth/password/new"), 200, "Forgotten password")
	w.shows(w.submit(forgot, "/auth/password/recover", "email", "admin@example.com"), 200, "a mail is on its way")
	reset := w.open("/auth/reset/code")
	w.shows(w.submit(reset, "/auth/password/update", "code", "none", "password1", "another", "password2", "another"), 422, "Code has been used")
}

// TestOwnAttributes: values are changed, cleared and unticked on the profile; errors are shown
// at their field. A form without an attribute leaves it unchanged.
func TestOwnAttributes(t *testing.T) {
	w := newWorld(t)
	w.offering()
	for _, a := range []string{`"Name":"Till","Identifier":"till","Type":1`, `"Name":"Size","Identifier":"size","Type":2,"DropdownValues":"small,large"`, `"Name":"News","Identifier":"news","Type":3`, `"Name":"Terms","Identifier":"terms","Type":3,"Required":true`, `"Name":"Floor","Identifier":"floor","Type":4`} {
		w.api("POST", "/portal-api/extended_attributes/1/custom-attributes", `{`+a+`,"Behaviour":1}`)
	}
	w.as("ada")
	const at = "/portal/private/profile"
	profile := w.shows(w.open(at), 200, `<option>small</option>`, `<input type="checkbox" name="attribute-news" value="true">`)
	save := func(fields ...string) page {
		return w.submit(profile, at, append([]string{"mode", "save", "first", "Ada"}, fields...)...)
	}
	w.shows(save("attribute-till", "7", "attribute-size", "large", "attribute-news", "true", "attribute-terms", "true", "attribute-floor", "2"), 200, "Your changes are saved", `value="7"`, `<option selected>large`, `name="attribute-news" value="true" checked`, `name="attribute-terms" value="true" checked`, `<input type="hidden" name="attribute-news" value="false">`, `<input type="hidden" name="attribute-terms" value="">`)
	if p := w.shows(save("attribute-floor", "high"), 422, "Floor is invalid", `id="attribute-floor-wrong"`); strings.Contains(p.text, "Value is") {
		t.Error("the page does not say which value is wrong")
	}
	w.shows(save("attribute-terms", ""), 422, "Terms can&#39;t be blank")
	w.shows(save(), 200, `value="7"`, `<option selected>large`, `name="attribute-news" value="true" checked`)
	p := w.shows(save("attribute-till", "", "attribute-size", "", "attribute-news", "false"), 200, "Your changes are saved", `name="attribute-terms" value="true" checked`)
	for _, gone := range []string{`value="7"`, "<option selected", `name="attribute-news" value="true" checked`} {
		if strings.Contains(p.text, gone) {
			t.Errorf("%s is there still", gone)
		}
	}
}

// TestMarkdownOfAdmins: if Markdown is enabled and the Markdown field is empty, the HTML field
// is rendered as Markdown. HTML in it is kept, without scripts.
func TestMarkdownOfAdmins(t *testing.T) {
	w := newWorld(t)
	for path, text := range map[string]string{"marked": "**bold**", "html": "<p>as <em>HTML</em></p><script>alert(1)</script>"} {
		w.api("POST", "/portal-api/posts", `{"Title":"A","Path":"`+path+`","Content":"`+text+`","MarkdownEnabled":true,"Status":"published"}`)
	}
	w.api("POST", "/portal-api/posts", `{"Title":"B","Path":"both","Content":"<p>former</p>","MarkdownContent":"*new*","MarkdownEnabled":true,"Status":"published"}`)
	blog := w.open("/blog").text
	for path, want := range map[string]string{"marked": "<strong>bold</strong>", "html": "<p>as <em>HTML</em></p>", "both": "<em>new</em>"} {
		p := w.shows(w.open(regexp.MustCompile(`/blog/\d+/\d+/\d+/`+path).FindString(blog)), 200, want)
		if strings.Contains(p.text, "alert(1)") || strings.Contains(p.text, "former") {
			t.Error(path, p.text)
		}
	}
}

// TestForms refuses forms from pages of other sites.
func TestForms(t *testing.T) {
	w := newWorld(t)
	form := w.open("/auth/password/login")
	fields := []string{"login", "admin@example.com", "password", "secret"}
	for _, action := range []string{"/auth/password/login", "/auth/password/register", "/auth/password/recover", "/auth/password/update", "/auth/password/edit", "/auth/logout"} {
		w.shows(w.submit(page{}, action, fields...), 400, "The form is too old")
		w.shows(w.submit(form, action, append(fields, "csrf_token", "made up")...), 400, "The form is too old")
	}
	cross, err := http.NewRequest("POST", w.server.URL+"/auth/password/login", strings.NewReader("login=x"))
	must(t, err)
	cross.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	cross.Header.Set("Origin", "https://evil.example")
	w.shows(w.shown(cross), 400, "another site")
	w.shows(w.submit(form, "/auth/password/login", append(fields, "next", "//evil.example/")...), 200, "Build with our APIs")
	profile := w.open("/portal/private/profile")
	left, err := http.NewRequest("GET", w.server.URL+"/auth/logout", nil)
	must(t, err)
	left.Header.Set("Sec-Fetch-Site", "cross-site")
	w.shows(w.shown(left), 403, "You are still logged in")
	for _, action := range []string{"/portal/private/profile", "/portal/private/organisation", "/portal/private/users/invite", "/auth/logout"} {
		w.shows(w.submit(page{}, action, "first", "Mallory"), 400, "The form is too old")
		w.shows(w.submit(form, action, "first", "Mallory"), 400, "The form is too old")
	}
	w.shows(w.submit(profile, "/portal/private/profile", "first", strings.Repeat("x", 300<<10)), 413, "too large")
}

// TestProfileForms: cancel changes nothing, a form with names and a password changes both, and
// a changed address gives an error. A user who must choose a new password is redirected to that
// form from every private page.
func TestProfileForms(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	profile := w.open("/portal/private/profile")
	name := func() string {
		var out struct{ First, Last string }
		must(t, json.Unmarshal(w.api("GET", "/portal-api/users/2", ""), &out))
		return out.First + " " + out.Last
	}
	before := name()
	secrets := []string{"current_password", "secret", "password1", "another-one", "password2", "another-one"}
	w.shows(w.submit(profile, "/portal/private/profile", append([]string{"mode", "cancel", "first", "Both"}, secrets...)...), 200)
	w.shows(w.submit(profile, "/portal/private/profile", append([]string{"mode", "save", "first", "Both", "email", "other@example.com"}, secrets...)...), 422, "Email can only be changed")
	if name() != before {
		t.Error(name())
	}
	w.shows(w.submit(profile, "/portal/private/profile", append([]string{"mode", "save", "first", "Both", "last", "Names"}, secrets...)...), 200)
	if name() != "Both Names" {
		t.Error(name())
	}
	profile = w.open("/portal/private/profile")
	w.shows(w.submit(profile, "/portal/private/profile", "mode", "save", "first", "Once", "last", "More", "current_password", "wrong", "password1", "third-one", "password2", "third-one"), 422, "The names are saved, the password is not")
	if name() != "Once More" {
		t.Error(name())
	}
	w.api("PUT", "/portal-api/users/2", `{"ResetPassword":true}`)
	for _, path := range []string{"/portal/private/apps", "/portal/private/dashboard", "/portal/private/analytics", "/portal/private/cart/provision", "/portal/private/users/invite", "/portal/private/apps/new"} {
		w.shows(w.open(path), 200, `action="/auth/password/edit"`)
	}
}

// TestBrokenTheme shows the error page and logs a line when a view fails, and the standard view
// when a theme lacks one.
func TestBrokenTheme(t *testing.T) {
	w := newWorld(t)
	data, err := theme.Pack(theme.Files{
		"theme.json":                 []byte(`{"name":"Ocean","version":"1","author":"ada","templates":[{"name":"Home","template":"home","layout":"portal_layout"}]}`),
		"layouts/portal_layout.tmpl": []byte(`<title>{{PageTitle req}}</title><body>{{with CurrentUser req}}{{.DisplayName}}{{end}}{{yield}}</body>`),
		"views/home.tmpl":            []byte("<h1>Half</h1>\n{{.page.Title.Nothing}}"),
		"views/catalogue.tmpl":       []byte(`<script>alert(1)</script>{{range GetProducts req}}{{.Name}}{{end}}Ocean {{IsPortalPrivate}}`),
		"assets/ocean.css":           []byte("b{}"), "assets/x.html": []byte("<script>"),
	})
	must(t, err)
	w.upload("POST", "/portal-api/themes/upload", "ocean.zip", data)
	w.api("PUT", "/portal-api/themes/Ocean/activate", "")
	if p := w.shows(w.open("/"), 500, "Something went wrong"); strings.Contains(p.text, "Half") {
		t.Error("half a page is shown", p.text)
	}
	if !strings.Contains(w.log.String(), "views/home:2") {
		t.Error(w.log)
	}
	w.shows(w.open("/portal/catalogue-products"), 200, "Ocean false")
	w.shows(w.open("/auth/password/login"), 200, "Forgotten password?", "/assets/portal.css")
	w.shows(w.open("/assets/ocean.css"), 200, "b{}")
	w.shows(w.open("/assets/portal.css"), 200)
	if p := w.open("/assets/x.html"); !strings.HasPrefix(p.header.Get("Content-Type"), "text/plain") {
		t.Error(p.header)
	}
}

// TestLargeReference: a description of the maximum size has a page that lists every operation
// and says that there is more.
func TestLargeReference(t *testing.T) {
	const operations = 490
	w := newWorld(t)
	w.stocked()
	paths, schemas := make([]string, operations), make([]string, 8)
	content := `{"description":"An order","content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}}`
	for i := range paths {
		paths[i] = fmt.Sprintf(`"/orders-%d":{"post":{"requestBody":%s,"responses":{"200":%s}}}`, i, content, content)
	}
	for i := range schemas {
		members := make([]string, 10)
		for m := range members {
			below := fmt.Sprintf(`{"$ref":"#/components/schemas/S%d"}`, i+1)
			if i == len(schemas)-1 {
				below = `{"type":"string"}`
			}
			members[m] = fmt.Sprintf(`"member%d":%s`, m, below)
		}
		schemas[i] = fmt.Sprintf(`"S%d":{"type":"object","properties":{%s}}`, i, strings.Join(members, ","))
	}
	w.upload("POST", "/portal-api/products/1/spec-details/1/oas", "orders.json", []byte(`{"openapi":"3.0.3","info":{"title":"Orders","version":"1"},"paths":{`+strings.Join(paths, ",")+`},"components":{"schemas":{`+strings.Join(schemas, ",")+`}}}`))
	have := w.shows(w.open("/portal/catalogue-products/pets/main/docs"), 200, "member9", "The description has more than this page shows.")
	for i := range operations {
		if at := fmt.Sprintf("<code>/orders-%d</code>", i); !strings.Contains(have.text, at) {
			t.Fatalf("no %s", at)
		}
	}
}
