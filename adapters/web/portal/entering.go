package portal

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// done are the success messages, by their word in addresses.
var done = map[string]string{
	"registered": "Your account is there. Log in.", "waiting": "Thank you. An administrator looks at your registration; after that you can log in.",
	"reset": "Your password is changed. Log in with it.", "mail": "If there is an active account with this address, a mail is on its way. When none comes, ask an administrator of the portal.",
	"left": "You are logged out.", "saved": "Your changes are saved.", "password": "Your password is changed.", "invited": "The invitation is on its way.", "asked": "Your request is on its way.",
	"created": "Your app is there. Ask for access to products with it.", "deleted": "The app is deleted.", "rotated": "The credential has another value. Show it, and put it where the old one was.",
	"revoked": "The credential is deleted.", "moved": "The credential has another plan.", "dropped": "The product is off the credential.", "withdrawn": "The access request is gone.", "subscribed": "The subscription is saved.", "renewed": "The credential has another certificate.",
	"forgotten": "The certificate is taken away.", "requested": "Your request is on its way. The page of the app tells what becomes of it.", "granted": "Access is granted. Show the credential below, and use it.",
	"gone": "The account is no longer in your organisation; its apps are yours.", "deleted-account": "Your account is deleted.",
	"added": "The product is in your cart.", "removed": "The product is out of your cart.",
}

// field returns a form field.
func (v *visit) field(name string) string { return v.r.PostFormValue(name) }

// fieldOr returns a form field, or otherwise if the form lacks the field.
func (v *visit) fieldOr(name, otherwise string) string {
	if v.r.PostForm.Has(name) {
		return v.field(name)
	}
	return otherwise
}

// filled returns the given fields that the form has, keyed by the names that operations use. A
// form of another theme may leave fields out, which then stay unchanged.
func (v *visit) filled(fields map[string]string) map[string]any {
	out := map[string]any{}
	for name, field := range fields {
		if v.r.PostForm.Has(field) {
			out[name] = v.field(field)
		}
	}
	return out
}

// texts are the errors of one field. Themes print them, or range over them.
type texts []string

// String implements fmt.Stringer.
func (t texts) String() string { return strings.Join(t, " ") }

// said returns the data of every form: errors and success messages. Errors that belong to no
// field are in error, and in errors under that name. marked says whether a field has errors.
func (v *visit) said(faults []string, known map[string]any, names map[string]string) map[string]any {
	data := map[string]any{"done": done[v.r.URL.Query().Get("done")]}
	for name, value := range known {
		data[name] = value
	}
	at := map[string]texts{}
	for _, f := range faults {
		word, _, _ := strings.Cut(f, " ")
		name := cmp.Or(names[word], "error")
		at[name] = append(at[name], worded(f, v.labels))
	}
	rest, unmarked := at["error"]
	data["errors"], data["error"], data["marked"] = at, rest.String(), len(at) > 1 || len(at) == 1 && !unmarked
	return data
}

// typed returns the form fields that the user has typed, without passwords.
func (v *visit) typed(names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		out[name] = v.field(name)
	}
	return out
}

func (v *visit) loginForm() {
	if v.LoginURL != "" {
		http.Redirect(v.w, v.r, v.LoginURL, http.StatusFound)
		return
	}
	q := v.r.URL.Query()
	var why []string
	if q.Get("private") != "" {
		why = []string{isPrivate}
	}
	if q.Get("unsent") != "" {
		why = append(why, "Your session has ended, so the form you sent was not processed. Log in and send it again.")
	}
	v.loggingIn(http.StatusOK, why, map[string]any{"next": q.Get("next"), "login": ""})
}

// way is one way to log in at an identity provider.
type way struct {
	Name, Path string
	Admins     bool
}

// loggingIn shows the login form, with links to identity providers.
func (v *visit) loggingIn(status int, faults []string, known map[string]any) {
	var elsewhere struct{ Logins []way }
	v.peek("/logins", nil, &elsewhere)
	v.title = "Log in"
	known["logins"], known["email"], known["pending"] = elsewhere.Logins, known["login"], v.r.URL.Query().Get("done") == "waiting"
	v.show(status, "auth/login", v.said(faults, known, nil))
}

// recognised answers a browser that returns from an identity provider. It follows the redirect
// of the operation, or shows a page when the operation refuses.
func (v *visit) recognised() {
	a := &reply{header: http.Header{}}
	v.api.ServeHTTP(a, v.r)
	if a.status >= http.StatusBadRequest {
		v.title = "Log in"
		v.show(a.status, "auth/error", v.said(a.faults(), nil, nil))
		return
	}
	h := v.w.Header()
	cookies := append(h["Set-Cookie"], a.header["Set-Cookie"]...)
	maps.Copy(h, a.header)
	h["Set-Cookie"] = cookies
	v.w.WriteHeader(a.status)
	_, _ = v.w.Write(a.body.Bytes()) // the browser may have disconnected
}

func (v *visit) login() {
	a := v.call(http.MethodPost, "/login", nil, map[string]string{"Email": v.field("login"), "Password": v.field("password")})
	if !a.ok() {
		v.loggingIn(statusOf(a), a.faults(), map[string]any{"login": v.field("login"), "next": v.next()})
		return
	}
	var opened struct{ ResetPassword bool }
	_ = json.Unmarshal(a.body.Bytes(), &opened) // an answer of our API
	if opened.ResetPassword {
		v.goTo("/auth/password/edit")
		return
	}
	v.goTo(local(v.next(), v.Home))
}

// next returns the page to which a user goes after login. Forms of themes may lack the field:
// then the address of the form's page has it.
func (v *visit) next() string {
	if from, err := url.Parse(v.r.Referer()); err == nil && from.Host == v.r.Host && from.Path == v.r.URL.Path {
		return cmp.Or(v.field("next"), from.Query().Get("next"))
	}
	return v.field("next")
}

// statusOf returns the page's status for a form that an operation refused.
func statusOf(a *reply) int {
	if a.status >= http.StatusInternalServerError {
		return http.StatusServiceUnavailable
	}
	return a.status
}

// logout ends the session, even for a GET: no other site can make a browser send the session,
// because its cookie is SameSite=Strict.
func (v *visit) logout() {
	if v.r.Method != http.MethodPost {
		v.r.PostForm = url.Values{tokenField: {v.token}}
	}
	a := v.call(http.MethodPost, "/logout", nil, nil)
	switch {
	case a.status == http.StatusForbidden && v.site.Viewer != nil: // the link was on another site
		v.notice(http.StatusForbidden, "You are still logged in. Log out on a page of this portal.")
		return
	case !a.ok() && a.status != http.StatusUnauthorized && a.status != http.StatusForbidden:
		v.refused(a)
		return
	}
	v.goTo("/auth/password/login?done=left")
}

// signUp maps the names of fields in faults to fields of the registration form.
var signUp = map[string]string{"Email": "email", "First": "first", "Last": "last", "Password": "password1", "InviteCode": "invite_code"}

// form describes what a registration needs.
type form struct {
	RegistrationEnabled, SignInEnabled bool
	CustomAttributes                   []attribute
}

func (v *visit) registration(faults []string, status int) {
	var f form
	if !v.get("/register", nil, &f) {
		return
	}
	v.title = "Register"
	token := v.invitation()
	view := "auth/register"
	switch {
	case token != "":
		view = "auth/targeted_invite"
	case !f.RegistrationEnabled:
		v.show(http.StatusForbidden, "auth/error", v.said([]string{"Registration is not allowed"}, nil, nil))
		return
	}
	names := map[string]string{}
	for k, n := range signUp {
		names[k] = n
	}
	known := v.typed("email", "first", "last", "invite_code")
	v.bare, v.labels = map[string]string{}, map[string]string{}
	for i, a := range f.CustomAttributes {
		f.CustomAttributes[i].Value = v.field("attribute-" + a.Identifier)
		names[a.Identifier], v.labels[a.Identifier] = "attribute-"+a.Identifier, a.Name
		if !slices.Contains(signUpFields, a.Identifier) {
			f.CustomAttributes[i].Value = cmp.Or(f.CustomAttributes[i].Value, v.field(a.Identifier))
			v.bare[a.Identifier] = f.CustomAttributes[i].Value
		}
	}
	known["customAttributes"], known["invite_id"] = f.CustomAttributes, token
	v.show(status, view, v.said(faults, known, names))
}

// invitation returns the code in the address or the form: the code of a mail or, when an email
// address is registered, an invite code.
func (v *visit) invitation() string {
	return cmp.Or(v.r.URL.Query().Get("token"), v.r.URL.Query().Get("invite_id"), v.r.PostForm.Get("invite_id"))
}

// register registers a user: by the code of a mail or, with an email address, with or without an
// invite code.
func (v *visit) register() {
	if v.field("password1") != v.field("password2") {
		v.registration([]string{"Password is not the same both times"}, http.StatusUnprocessableEntity)
		return
	}
	attributes := v.attributes()
	var f form
	_ = v.peek("/register", nil, &f) // without it there are no more attributes
	for _, a := range f.CustomAttributes {
		if id := a.Identifier; v.r.PostForm.Has(id) && !v.r.PostForm.Has("attribute-"+id) && !slices.Contains(signUpFields, id) { // public themes use the identifier as field name
			attributes = append(attributes, map[string]string{"Identifier": id, "Value": v.field(id)})
		}
	}
	body := map[string]any{"First": v.field("first"), "Last": v.field("last"), "Password": v.field("password1"), "CustomAttributes": attributes}
	code, email := v.invitation(), v.field("email")
	var a *reply
	if code != "" {
		body["Code"] = code
		a = v.call(http.MethodPost, "/invitation", nil, body)
	}
	if a == nil || !a.ok() && email != "" && strings.HasPrefix(a.faults()[0], "Code ") { // the code does not come from a mail
		delete(body, "Code")
		body["Email"] = email
		if code = cmp.Or(code, v.field("invite_code")); code != "" {
			body["InviteCode"] = code
		}
		a = v.call(http.MethodPost, "/register", nil, body)
	}
	if !a.ok() {
		v.registration(a.faults(), statusOf(a))
		return
	}
	word := "registered"
	if strings.Contains(a.body.String(), "an admin looks at it") {
		word = "waiting"
	}
	v.goTo("/auth/password/login?done=" + word)
}

// attributes returns the form fields of custom attributes. An empty value removes the
// attribute's value.
func (v *visit) attributes() []map[string]string {
	out := []map[string]string{}
	for name := range v.r.PostForm {
		if id, ok := strings.CutPrefix(name, "attribute-"); ok {
			out = append(out, map[string]string{"Identifier": id, "Value": v.field(name)})
		}
	}
	return out
}

// signUpFields are the fields of the registration form besides attributes.
var signUpFields = []string{"email", "first", "last", "password1", "password2", "invite_id", "invite_code", "customAttributes"}

func (v *visit) forgotForm() {
	v.title = "Forgotten password"
	v.show(http.StatusOK, "auth/forgot_password", v.said(nil, map[string]any{"email": ""}, nil))
}

// recoverPassword handles both forms for forgotten passwords, distinguished by their fields:
// public themes send them to the addresses the other way round.
func (v *visit) recoverPassword() {
	if !v.r.PostForm.Has("password1") {
		a := v.call(http.MethodPost, "/password/forgot", nil, map[string]string{"Email": v.field("email")})
		if a.ok() {
			v.goTo("/auth/password/new?done=mail")
			return
		}
		v.title = "Forgotten password"
		v.show(statusOf(a), "auth/forgot_password", v.said(a.faults(), v.typed("email"), signUp))
		return
	}
	code := cmp.Or(v.field("code"), v.r.URL.Query().Get("token"))
	a := &reply{status: http.StatusUnprocessableEntity}
	faults := []string{"Password is not the same both times"}
	if v.field("password1") == v.field("password2") {
		if a = v.call(http.MethodPost, "/password/reset", nil, map[string]string{"Code": code, "Password": v.field("password1")}); a.ok() {
			v.goTo("/auth/password/login?done=reset")
			return
		}
		faults = a.faults()
	}
	v.title = "Choose another password"
	v.show(statusOf(a), "auth/reset", v.said(faults, map[string]any{"code": code}, signUp))
}

func (v *visit) resetForm() {
	if v.r.URL.Query().Get("token") == "" && v.ledFrom("/auth/password/login") {
		v.forgotForm()
		return
	}
	v.title = "Choose another password"
	v.show(http.StatusOK, "auth/reset", v.said(nil, map[string]any{"code": v.r.URL.Query().Get("token")}, nil))
}

// ownPassword maps fields of the password change to form fields.
var ownPassword = map[string]string{"CurrentPassword": "current_password", "Password": "password1"}

// changed changes the viewer's password, or returns the errors.
func (v *visit) changed() (faults []string, status int) {
	if v.field("password1") != v.field("password2") {
		return []string{"Password is not the same both times"}, http.StatusUnprocessableEntity
	}
	a := v.call(http.MethodPut, "/password", nil, map[string]string{"CurrentPassword": v.field("current_password"), "Password": v.field("password1")})
	if a.ok() {
		return nil, 0
	}
	return a.faults(), statusOf(a)
}

// password shows and handles the form by which users change their password.
func (v *visit) password() {
	status, faults := http.StatusOK, []string(nil)
	if v.r.Method == http.MethodPost {
		if faults, status = v.changed(); faults == nil {
			v.goTo("/portal/private/profile?done=password")
			return
		}
	} else if v.site.Viewer == nil {
		v.toLogin("Log in first.")
		return
	}
	v.title = "Change your password"
	v.show(status, "auth/change_password", v.said(faults, nil, ownPassword))
}
