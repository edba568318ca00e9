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

// hidden is the visibility of a portal that only admins see; private that of one for those
// who have logged in.
const (
	hidden  = "Hidden"
	private = "Private"
)

// isPrivate is what the login says to strangers whom a private portal has sent there.
const isPrivate = "This Portal is private"

// visit is one request of a browser, and the page that it gets.
type visit struct {
	*server
	w     http.ResponseWriter
	r     *http.Request
	nonce string
	site  site
	token string // that forms carry
	title string
	about string    // what search engines show of the page
	shown *dressed  // the theme that draws the page
	own   []*client // what ownApps has found; nil: it has not looked

	subject product           // of the page of a product
	bare    map[string]string // attributes of a registration by identifier: public themes have such fields
	ticket  string            // of what a form makes
	labels  map[string]string // what forms call the attributes of a user, by identifier

	tested   *tested // of the receiver of an access request
	testedAt string  // the access request

	load *load.Request // whose turn operations have that work for the page; nil: it takes none
}

// maxForm bounds the forms that browsers send.
const maxForm = 256 << 10

// ticketField is the field of forms that says which form it is: one that comes twice makes
// nothing twice.
const ticketField = "form_ticket"

// tokenField is the field of forms that proves that they come from our own pages.
const tokenField = "csrf_token"

// admitted reads a form that comes from our own pages.
func (v *visit) admitted() bool {
	if err := v.guard.Check(v.r); err != nil && !v.NoProof {
		v.notice(http.StatusBadRequest, "This form comes from another site.")
		return false
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	err := v.r.ParseForm()
	if kind, _, _ := mime.ParseMediaType(v.r.Header.Get("Content-Type")); err == nil && kind == "multipart/form-data" {
		err = v.r.ParseMultipartForm(maxForm) // all of it stays in memory
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

// meet asks who looks.
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
	// What proves the forms of the page is of a session, or of a cookie that strangers get with
	// the pages by which they get in.
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

// arrive asks who looks, and shows what those see who may not see the portal.
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

// hatch reports whether a page is one by which admins get into a portal that is hidden. What
// mails lead to is among them: who has no token of a mail cannot register there.
func (v *visit) hatch() bool {
	ways := []string{"/auth/password/login", "/auth/logout", "/auth/password/logout", "/auth/password/new", "/auth/password/recover", "/auth/password/update", "/auth/reset"}
	if v.invitation() != "" {
		ways = append(ways, "/auth/password/register")
	}
	return below(v.r.URL.Path, append(ways, brokered...))
}

// entrance reports whether a page is one by which people get in.
func (v *visit) entrance() bool { return below(v.r.URL.Path, append([]string{"/auth"}, brokered...)) }

// strangers is the value of the cookie of strangers; "": there is none.
func (v *visit) strangers() string {
	if c, err := v.r.Cookie(v.cookieName()); err == nil && len(c.Value) == len(rand.Text()) {
		return c.Value
	}
	return ""
}

// strangersToken is the value of the cookie of strangers, who get one if they have none.
func (v *visit) strangersToken() string {
	if token := v.strangers(); token != "" {
		return token
	}
	fresh := rand.Text()
	http.SetCookie(v.w, &http.Cookie{Name: v.cookieName(), Value: fresh, Path: "/", HttpOnly: true, Secure: v.Secure, SameSite: http.SameSiteStrictMode})
	return fresh
}

// cookieName is that of the cookie of strangers. No other host can set it when all goes
// over TLS.
func (v *visit) cookieName() string {
	if v.Secure {
		return "__Host-portal-form"
	}
	return "portal-form"
}

// proven reports whether a form has the proof that the page before it was ours.
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

// goTo sends the browser to another page of ours.
func (v *visit) goTo(path string) { http.Redirect(v.w, v.r, path, http.StatusSeeOther) }

// toLogin sends the browser to the login, and back here afterwards.
func (v *visit) toLogin(why string) {
	q := url.Values{}
	if v.r.Method == http.MethodGet && v.r.URL.Path != v.Home {
		q.Set("next", v.r.URL.RequestURI())
	}
	if v.r.Method == http.MethodPost { // the session ended while somebody typed
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

// local returns an address if it is one of ours, or the start page.
func local(address, home string) string {
	u, err := url.Parse(address)
	if err != nil || u.IsAbs() || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") || strings.ContainsAny(address, "\\\r\n\t") {
		return home
	}
	return address
}

// notice shows a page with one text.
func (v *visit) notice(status int, text string) {
	v.show(status, "message", map[string]any{"message": text})
}

// absent shows that there is nothing at an address.
func (v *visit) absent() { v.show(http.StatusNotFound, "not_found", nil) }

// broken shows that a page could not be made, and says why in the log. A store that is away is
// no fault of the page, and back in a moment.
func (v *visit) broken(what string, err error) {
	v.complain(what, "path", v.r.URL.Path, "error", err)
	if errors.Is(err, store.ErrUnavailable) || fault.KindOf(err) == fault.Unavailable {
		v.fail(http.StatusServiceUnavailable)
		return
	}
	v.fail(http.StatusInternalServerError)
}

// complain says in the log why a page could not be made, unless its visitor has gone.
func (v *visit) complain(why string, about ...any) {
	if v.r.Context().Err() == nil {
		v.Log.Error("a page could not be made: "+why, about...)
	}
}

// layouts are the layouts of views; others have portal_layout, and so has a view in a theme
// without its layout.
var layouts = map[string]string{
	"blog_listing": "blog_layout", "blog_detail": "blog_layout",
	"product_doc_redoc": "product_layout_doc_redoc", "product_doc_stoplight_spec": "product_layout_doc_stoplight", "product_doc_graphql_playground": "product_layout_doc_graphql",
	"user_profile": "portal_layout_private", "user_home": "portal_layout_private", "user_list": "portal_layout_private", "user_invite": "portal_layout_private",
	"user_detail": "portal_layout_private", "user_edit": "portal_layout_private", "user_leave": "portal_layout_private", "app_form_create": "portal_layout_private", "app_form_update": "portal_layout_private", "portal_checkout": "portal_layout_private", "analytics": "portal_layout_private",
	"organisation_edit": "portal_layout_private", "organisation_success": "portal_layout_private", "user_org_pending": "portal_layout_private", "user_org_disabled": "portal_layout_private",
}

// show answers with a view. A view that breaks shows the error page of the standard
// theme: nothing of a page is sent before all of it is made.
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
	// The length of a compressed page tells what stands in it twice: who makes a browser ask for
	// pages with texts of their own choice could find out the proof of its session. So pages of
	// those who are known are not compressed when another site asks.
	from := v.r.Header.Get("Sec-Fetch-Site")
	elsewhere := from == "cross-site" || from == "same-site"
	if takesGzip(v.r) && (!elsewhere || v.r.Header.Get("Cookie") == "") {
		text = packed(text)
		v.w.Header().Set("Content-Encoding", "gzip")
	}
	v.load.End() // others have their turn while the browser reads
	v.w.WriteHeader(status)
	if v.r.Method != http.MethodHead {
		_, _ = v.w.Write(text) // a browser that is gone needs no page
	}
}

// fail answers with the error page of the standard theme.
func (v *visit) fail(status int) {
	if status == http.StatusServiceUnavailable {
		v.w.Header().Set("Retry-After", "1")
	}
	_ = v.take() // it says what went wrong, late if need be
	text, err := v.render(v.standard, theme.Views+"internal_error", theme.Layouts+"message", nil)
	if err != nil {
		text = []byte("<!doctype html><title>Something went wrong</title><p>Something went wrong. Try again.</p>")
	}
	v.send(status, text)
}

// draw makes a view with the theme that is shown or, if it lacks the view, with the
// standard one.
func (v *visit) draw(view string, data map[string]any) ([]byte, error) {
	if err := v.take(); err != nil && v.r.Method != http.MethodPost { // what was sent is done: its page is made, late if need be
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
		case strings.HasPrefix(view, "auth/") && t.Has(theme.Layouts+view): // pages by which people get in may be layouts; others have a hole for a view
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
	canonical, path := "", v.r.URL.EscapedPath() // the address under which search engines should know the page
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
		if _, taken := all[name]; !taken { // an identifier may be the name of something else
			all[name] = value
		}
	}
	text, err := t.pages.Render(v.r.Context(), render.Job{Name: view, Layout: layout, Data: all, Functions: v.functions()})
	if err != nil {
		return nil, err
	}
	return withProofs(text, v.r.Host, v.proof), nil
}

// proof is the token of a form for which the theme has no field. Strangers get one now.
func (v *visit) proof() string {
	if v.token == "" {
		v.token = v.strangersToken()
	}
	return v.token
}

// base is where browsers find the portal.
func (v *visit) base() string {
	if v.URL != "" {
		return strings.TrimRight(v.URL, "/")
	}
	if v.TLS || v.Secure {
		return "https://" + v.r.Host
	}
	return "http://" + v.r.Host
}
