package portal_test

import "testing"

// TestPartialForms sends forms as other themes have them: missing fields stay unchanged, a
// mode of cancel changes nothing, and a changed address gives an error.
func TestPartialForms(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.api("PUT", "/portal-api/users/2", `{"Role":"consumer-admin","First":"Ada","Last":"Lovelace"}`)
	w.api("PUT", "/portal-api/users/3", `{"First":"Bob","Last":"Byron"}`)
	w.as("ada")
	profile := w.open("/portal/private/profile")
	w.shows(w.submit(profile, "/portal/private/profile", "mode", "save", "first", "Augusta"), 200, `value="Augusta"`, `value="Lovelace"`)
	w.shows(w.submit(profile, "/portal/private/profile", "mode", "update", "first", "", "last", "Typed"), 422, "blank", `value="Typed"`)

	edit := w.open("/portal/private/users/3/edit")
	w.shows(w.submit(edit, "/portal/private/users/3/edit", "first", "Bert"), 200, "<h1>Bert Byron</h1>")
	w.shows(w.submit(edit, "/portal/private/users/3/edit", "last", "Brown"), 200, "<h1>Bert Brown</h1>")
	w.shows(w.submit(edit, "/portal/private/users/3/edit", "first", "Lost", "email", "other@example.com"), 422, "Email can only be changed")
	w.shows(w.submit(edit, "/portal/private/users/3/edit", "mode", "cancel", "first", "Lost"), 200, "<h1>Bert Brown</h1>")
	w.shows(w.submit(edit, "/portal/private/users/3/edit", "first", "Bob", "email", "Bob@Example.com"), 200, "<h1>Bob Brown</h1>")

	app := w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till")
	w.shows(w.submit(app, "/portal/private/apps/1", "mode", "cancel", "name", "Lost"), 200, "<h1>Till</h1>")
}
