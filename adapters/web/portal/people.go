package portal

import (
	"cmp"
	"net/http"
	"slices"
)

// leads reports whether the viewer may change the people of the organisation; if not, it
// shows a page that says so.
func (v *visit) leads() bool {
	if v.site.Viewer == nil || v.site.Viewer.Role != string(roles[0]) {
		return true // visitors without a session are redirected to log in, and the operation refuses admins
	}
	v.notice(http.StatusForbidden, "Only an admin of the organisation changes its people.")
	return false
}

// withTeams adds the teams in a form, if it has any. The form need not name the default team
// of the organisation.
func (v *visit) withTeams(body map[string]any) map[string]any {
	if teams := v.r.PostForm["teams"]; len(teams) > 0 {
		body["Teams"] = slices.DeleteFunc(teams, func(id string) bool { return id == "" }) // an empty value stands for no team
	}
	return body
}

// member shows a person of the viewer's teams with a view.
func (v *visit) member(view string, faults []string, status int) {
	var m member
	if !v.get("/users"+v.part("user"), nil, &m) {
		return
	}
	v.colleagues(&m)
	if faults != nil {
		m.First, m.Last, m.Role = v.fieldOr("first", m.First), v.fieldOr("last", m.Last), cmp.Or(v.field("role"), m.Role)
	}
	v.title = m.DisplayName()
	v.show(status, view, v.said(faults, map[string]any{"user": &m, "invite": &m, "roles": roles, "teams": v.site.Viewer.Teams}, nameFields))
}

// changePerson changes or removes a person of the viewer's organisation.
func (v *visit) changePerson() {
	switch v.field("mode") {
	case "delete":
		if a := v.call(http.MethodDelete, "/users"+v.part("user"), nil, nil); !a.ok() {
			v.member("user_edit", a.faults(), statusOf(a))
			return
		}
		v.goTo("/portal/private/users?done=gone")
		return
	case "cancel":
		v.goTo("/portal/private/users" + v.part("user"))
		return
	}
	if v.field("email") != "" {
		var m member
		if !v.get("/users"+v.part("user"), nil, &m) {
			return
		}
		if v.otherAddress(m.Email) {
			v.member("user_edit", []string{fixedAddress}, http.StatusUnprocessableEntity)
			return
		}
	}
	body := v.filled(nameFields)
	if role := v.field("role"); role != "" {
		body["Role"] = role
	}
	a := v.call(http.MethodPut, "/users"+v.part("user"), nil, v.withTeams(body))
	if !a.ok() {
		v.member("user_edit", a.faults(), statusOf(a))
		return
	}
	v.goTo("/portal/private/users" + v.part("user") + "?done=saved")
}

// leave shows and handles the form by which users delete their account.
func (v *visit) leave() {
	status, faults := http.StatusOK, []string(nil)
	if v.r.Method == http.MethodPost {
		a := v.call(http.MethodPost, "/profile/delete", nil, map[string]string{"CurrentPassword": v.field("current_password")})
		if a.ok() {
			v.goTo("/auth/password/login?done=deleted-account")
			return
		}
		status, faults = statusOf(a), a.faults()
	}
	v.title = "Delete your account"
	v.show(status, "user_leave", v.said(faults, nil, ownPassword))
}
