package portal

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/render"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Visibilities: only admins see a hidden portal, and only logged-in users a private one.
const (
	hidden  = "Hidden"
	private = "Private"
)

// isPrivate is the message of the login page after a redirect from a private portal.
const isPrivate = "This Portal is private"

// visit is the state of one browser request and its page.
type visit struct {
	*server
	w     http.ResponseWriter
	r     *http.Request
	nonce string
	site  site
	token string // in forms
	title string
	about string    // the description for search engines
	shown *dressed  // the theme that renders the page
	own   []*client // the result of ownApps; nil: not called yet

	subject product           // the product of a product's page
	bare    map[string]string // attributes of a registration by identifier: public themes use such field names
	ticket  string            // of the object that a form creates
	labels  map[string]string // form labels of a user's attributes, by identifier

	tested   *tested // outcome of a test message for an access request
	testedAt string  // the access request

	load *load.Request // the turn of the page's operations; nil: it takes none
}

// maxForm is the maximum size of a form in bytes.
const maxForm = 256 << 10

// ticketField is the form field with the form's ticket: a form that is sent twice creates
// nothing twice.
const ticketField = "form_ticket"

// tokenField is the form field with the CSRF token.
const tokenField = "csrf_token"

// admitted parses a form and checks that it comes from a page of the portal.
func (v *visit) admitted() bool {
	if err := v.guard.Check(v.r); err != nil && !v.NoProof {
		v.notice(http.StatusBadRequest, "This form comes from another site.")
		return false
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	err := v.r.ParseForm()
	if kind, _, _ := mime.ParseMediaType(v.r.Header.Get("Content-Type")); err == nil && kind == "multipart/form-data" {
		err = v.r.ParseMultipartForm(maxForm) // the whole form stays in memory
	}
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		v.notice(http.StatusRequestEntityTooLarge, "What you have sent is too large.")
		return false
	}
	if err != nil {
		v.notice(http.StatusBadRequest, "The form cannot be read.")
		return false
	}
	return true
}

// meet requests the viewer's account.
func (v *visit) meet() bool {
	var with url.Values
	if shown := v.r.URL.Query().Get("preview"); shown != "" && v.r.Method == http.MethodGet {
		with = url.Values{"preview": {shown}}
	}
	a := v.call(http.MethodGet, "/site", with, nil)
	if a.status == http.StatusUnprocessableEntity && with != nil {
		v.notice(a.status, strings.Join(a.faults(), " "))
		return false
	}
	if !a.ok() || json.Unmarshal(a.body.Bytes(), &v.site) != nil {
		v.complain("there is no answer about the portal", "status", a.status, "errors", a.faults())
		v.fail(http.StatusServiceUnavailable)
		return false
	}
	// The CSRF token belongs to the session or, on pages for logging in, to a cookie for
	// visitors without a session.
	switch u := v.site.Viewer; {
	case u != nil:
		v.token = u.CSRFToken
	case v.entrance():
		v.token = v.strangersToken()
	default:
		v.token = v.strangers()
	}
	return true
}

// arrive requests the viewer's account, and answers visitors who may not see the portal.
func (v *visit) arrive() bool {
	if !v.meet() {
		return false
	}
	switch u := v.site.Viewer; {
	case v.site.Visibility == hidden && !u.IsAdmin() && !v.hatch():
		v.show(http.StatusForbidden, "portal_disabled", nil)
		return false
	case v.site.Visibility == private && u == nil && !v.entrance():
		v.toLogin(isPrivate)
		return false
	case strings.HasPrefix(v.r.URL.Path, "/portal/private/") && u == nil:
		v.toLogin("Log in first.")
		return false
	}
	return true
}

// hatch reports whether a page lets admins into a hidden portal. The pages that mails link to
// are among them: visitors without a mail's code cannot register there.
func (v *visit) hatch() bool {
	ways := []string{"/auth/password/login", "/auth/logout", "/auth/password/logout", "/auth/password/new", "/auth/password/recover", "/auth/password/update", "/auth/reset"}
	if v.invitation() != "" {
		ways = append(ways, "/auth/password/register")
	}
	return below(v.r.URL.Path, append(ways, brokered...))
}

// entrance reports whether a page is for logging in or registering.
func (v *visit) entrance() bool { return below(v.r.URL.Path, append([]string{"/auth"}, brokered...)) }

// strangers returns the value of the cookie for visitors without a session; "": there is none.
func (v *visit) strangers() string {
	if c, err := v.r.Cookie(v.cookieName()); err == nil && len(c.Value) == len(rand.Text()) {
		return c.Value
	}
	return ""
}

// strangersToken returns the value of that cookie, and sets the cookie if it is missing.
func (v *visit) strangersToken() string {
	if token := v.strangers(); token != "" {
		return token
	}
	fresh := rand.Text()
	http.SetCookie(v.w, &http.Cookie{Name: v.cookieName(), Value: fresh, Path: "/", HttpOnly: true, Secure: v.Secure, SameSite: http.SameSiteStrictMode})
	return fresh
}

// cookieName returns the name of that cookie. With TLS, no other host can set a cookie of this
// name.
func (v *visit) cookieName() string {
	if v.Secure {
		return "__Host-portal-form"
	}
	return "portal-form"
}

// proven reports whether a form has a valid CSRF token.
func (v *visit) proven() bool {
	sent := v.r.PostFormValue(tokenField)
	if sent == "" {
		sent = v.r.Header.Get("X-Csrf-Token")
		v.r.PostForm.Set(tokenField, sent)
	}
	_, err := v.r.Cookie(v.cookieName())
	known := v.site.Viewer != nil || err == nil
	if v.NoProof || known && sent != "" && subtle.ConstantTimeCompare([]byte(sent), []byte(v.token)) == 1 {
		return true
	}
	v.notice(http.StatusBadRequest, "The form is too old, or it comes from another site. Go back, load the page again, and send it once more.")
	return false
}

// goTo redirects the browser to another page of the portal.
func (v *visit) goTo(path string) { http.Redirect(v.w, v.r, path, http.StatusSeeOther) }

// toLogin redirects the browser to the login page, which later returns here.
func (v *visit) toLogin(why string) {
	q := url.Values{}
	if v.r.Method == http.MethodGet && v.r.URL.Path != v.Home {
		q.Set("next", v.r.URL.RequestURI())
	}
	if v.r.Method == http.MethodPost { // the session ended while the user was typing
		q.Set("unsent", "1")
		if back := v.sender(); back != "" {
			q.Set("next", back)
		}
	}
	if why == isPrivate {
		q.Set("private", "1")
	}
	at := "/auth/password/login"
	if len(q) > 0 {
		at += "?" + q.Encode()
	}
	http.Redirect(v.w, v.r, at, http.StatusFound)
}

// sender returns the page whose form was sent, from the Referer; "": unknown.
func (v *visit) sender() string {
	if u, err := url.Parse(v.r.Referer()); err == nil && u.Host == v.r.Host {
		return local(u.RequestURI(), "")
	}
	as := *v.r
	as.Method = http.MethodGet
	if _, page := v.routes.Handler(&as); page == "" {
		return ""
	}
	return v.r.URL.RequestURI()
}

// local returns address if it is on this portal, else home.
func local(address, home string) string {
	u, err := url.Parse(address)
	if err != nil || u.IsAbs() || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") || strings.ContainsAny(address, "\\\r\n\t") {
		return home
	}
	return address
}

// notice shows a page with a message.
func (v *visit) notice(status int, text string) {
	v.show(status, "message", map[string]any{"message": text})
}

// absent shows the page for an unknown address.
func (v *visit) absent() { v.show(http.StatusNotFound, "not_found", nil) }

// broken shows that a page could not be made, and logs why. An unavailable store is a temporary
// error.
func (v *visit) broken(what string, err error) {
	v.complain(what, "path", v.r.URL.Path, "error", err)
	if errors.Is(err, store.ErrUnavailable) || fault.KindOf(err) == fault.Unavailable {
		v.fail(http.StatusServiceUnavailable)
		return
	}
	v.fail(http.StatusInternalServerError)
}

// complain logs why a page could not be made, unless the visitor has disconnected.
func (v *visit) complain(why string, about ...any) {
	if v.r.Context().Err() == nil {
		v.Log.Error("a page could not be made: "+why, about...)
	}
}

// layouts are the layouts of views. Other views have portal_layout, and so have views whose
// layout the theme lacks.
var layouts = map[string]string{
	"blog_listing": "blog_layout", "blog_detail": "blog_layout",
	"product_doc_redoc": "product_layout_doc_redoc", "product_doc_stoplight_spec": "product_layout_doc_stoplight", "product_doc_graphql_playground": "product_layout_doc_graphql",
	"user_profile": "portal_layout_private", "user_home": "portal_layout_private", "user_list": "portal_layout_private", "user_invite": "portal_layout_private",
	"user_detail": "portal_layout_private", "user_edit": "portal_layout_private", "user_leave": "portal_layout_private", "app_form_create": "portal_layout_private", "app_form_update": "portal_layout_private", "portal_checkout": "portal_layout_private", "analytics": "portal_layout_private",
	"organisation_edit": "portal_layout_private", "organisation_success": "portal_layout_private", "user_org_pending": "portal_layout_private", "user_org_disabled": "portal_layout_private",
}

// show renders a view and sends it. If rendering fails, it sends the error page of the standard
// theme: nothing is sent before the whole page is rendered.
func (v *visit) show(status int, view string, data map[string]any) {
	text, err := v.draw(view, data)
	if fault.CodeOf(err) == load.CodeBusy {
		v.late()
		return
	}
	if err != nil {
		v.broken("a view is broken", err)
		return
	}
	v.send(status, text)
}

func (v *visit) send(status int, text []byte) {
	v.w.Header().Add("Vary", "Accept-Encoding")
	// The length of a compressed page reveals repeated texts: a site that makes a browser
	// request pages with chosen texts could find out the CSRF token of its session. So pages
	// with a session are not compressed when another site links to them.
	from := v.r.Header.Get("Sec-Fetch-Site")
	elsewhere := from == "cross-site" || from == "same-site"
	if takesGzip(v.r) && (!elsewhere || v.r.Header.Get("Cookie") == "") {
		text = packed(text)
		v.w.Header().Set("Content-Encoding", "gzip")
	}
	v.load.End() // others get their turn while the browser reads the page
	v.w.WriteHeader(status)
	if v.r.Method != http.MethodHead {
		_, _ = v.w.Write(text) // the browser may have disconnected
	}
}

// fail sends the error page of the standard theme.
func (v *visit) fail(status int) {
	if status == http.StatusServiceUnavailable {
		v.w.Header().Set("Retry-After", "1")
	}
	_ = v.take() // the error page is shown even without a turn
	text, err := v.render(v.standard, theme.Views+"internal_error", theme.Layouts+"message", nil)
	if err != nil {
		text = []byte("<!doctype html><title>Something went wrong</title><p>Something went wrong. Try again.</p>")
	}
	v.send(status, text)
}

// draw renders a view with the current theme or, if the theme lacks the view, with the standard
// one.
func (v *visit) draw(view string, data map[string]any) ([]byte, error) {
	if err := v.take(); err != nil && v.r.Method != http.MethodPost { // a form has been carried out: its page is rendered even without a turn
		return nil, err
	}
	shown, err := v.worn(v.r.Context())
	if err != nil {
		return nil, err
	}
	for _, t := range []*dressed{shown, v.standard} {
		layout := layouts[view]
		if layout == "" || !t.Has(theme.Layouts+layout) {
			layout = "portal_layout"
		}
		if i := slices.IndexFunc(t.Templates, func(e theme.Template) bool { return e.Template == view }); i >= 0 {
			layout = cmp.Or(t.Templates[i].Layout, layout)
		}
		switch {
		case t.Has(theme.Views+view) && t.Has(theme.Layouts+layout):
			return v.render(t, theme.Views+view, theme.Layouts+layout, data)
		case strings.HasPrefix(view, "auth/") && t.Has(theme.Layouts+view): // login pages may be layouts themselves; other layouts include a view
			return v.render(t, theme.Layouts+view, "", data)
		}
	}
	return nil, errors.New("no theme has the view " + view)
}

func (v *visit) render(t *dressed, view, layout string, data map[string]any) ([]byte, error) {
	if t.broken != nil {
		return nil, t.broken
	}
	v.shown = t
	canonical, path := "", v.r.URL.EscapedPath() // the address that search engines should index
	if v.site.Visibility == "Public" && !v.entrance() && !strings.HasPrefix(path, "/portal/private/") {
		canonical = v.base() + path
		if n := v.r.URL.Query().Get("page"); n != "" && n != "1" {
			canonical += "?" + url.Values{"page": {n}}.Encode()
		}
	}
	all := map[string]any{"errors": map[string]texts{}, "error": "", "marked": false, "nonce": v.nonce, tokenField: v.token, "path": v.r.URL.Path, "title": v.title, "site": v.site, "cart_size": len(v.picks()), ticketField: rand.Text(),
		"description": cmp.Or(v.about, v.site.Brand.Description), "canonical": canonical}
	if v.entrance() {
		maps.Copy(all, map[string]any{"done": "", "pending": false, "email": "", "first": "", "last": "", "invite_id": "", "code": "", "customAttributes": []attribute{}})
	}
	maps.Copy(all, data)
	for name, value := range v.bare {
		if _, taken := all[name]; !taken { // an attribute's identifier may collide with another name
			all[name] = value
		}
	}
	text, err := t.pages.Render(v.r.Context(), render.Job{Name: view, Layout: layout, Data: all, Functions: v.functions()})
	if err != nil {
		return nil, err
	}
	return withProofs(text, v.r.Host, v.proof), nil
}

// proof returns the CSRF token for a form whose theme lacks the field. Visitors without a
// session get their cookie now.
func (v *visit) proof() string {
	if v.token == "" {
		v.token = v.strangersToken()
	}
	return v.token
}

// base returns the portal's address for browsers.
func (v *visit) base() string {
	if v.URL != "" {
		return strings.TrimRight(v.URL, "/")
	}
	if v.TLS || v.Secure {
		return "https://" + v.r.Host
	}
	return "http://" + v.r.Host
}
