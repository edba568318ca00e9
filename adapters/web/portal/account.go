package portal

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
)

// profiled shows the viewer's account.
func (v *visit) profiled(faults []string, status int) {
	var u user
	if !v.get("/profile", nil, &u) {
		return
	}
	names := map[string]string{"First": "first", "Last": "last", "CurrentPassword": "current_password", "Password": "password1"}
	typed := faults != nil && v.r.PostForm.Has("first")
	if typed {
		u.First, u.Last = v.field("first"), v.fieldOr("last", u.Last)
	}
	v.labels = map[string]string{}
	for i, a := range u.CustomAttributes {
		names[a.Identifier], v.labels[a.Identifier] = "attribute-"+a.Identifier, a.Name
		if typed && a.Editable {
			u.CustomAttributes[i].Value = v.fieldOr("attribute-"+a.Identifier, a.Value)
		}
	}
	var mails notifications
	if !v.get("/notifications", nil, &mails) {
		return
	}
	v.title = "Profile"
	v.show(status, "user_profile", v.said(faults, map[string]any{"user": &u, "customAttributes": u.CustomAttributes, "notifications": mails.Notifications}, names))
}

// notification is a mail that users may turn off.
type notification struct {
	Name, Title string
	Wanted      bool
}

type notifications struct{ Notifications []notification }

func (v *visit) changeProfile() {
	switch v.field("mode") {
	case "notifications":
		var mails notifications
		if !v.get("/notifications", nil, &mails) {
			return
		}
		for i, n := range mails.Notifications { // ticked notifications are sent
			mails.Notifications[i].Wanted = slices.Contains(v.r.PostForm["notification"], n.Name)
		}
		if a := v.call(http.MethodPut, "/notifications", nil, mails); !a.ok() {
			v.profiled(a.faults(), statusOf(a))
			return
		}
		v.goTo("/portal/private/profile?done=saved")
		return
	case "cancel", "edit":
		v.goTo("/portal/private/profile")
		return
	case "", "save", "update", "password":
	default:
		v.profiled([]string{"The form asks for something that there is not here."}, http.StatusUnprocessableEntity)
		return
	}
	if v.site.Viewer != nil && v.otherAddress(v.site.Viewer.Email) {
		v.profiled([]string{fixedAddress}, http.StatusUnprocessableEntity)
		return
	}
	// Themes may have one form for names and password, or one form for each.
	names, secret := v.r.PostForm.Has("first"), v.field("current_password") != "" || v.field("password1") != ""
	if names || !secret {
		body := v.filled(nameFields)
		body["CustomAttributes"] = v.attributes()
		a := v.call(http.MethodPut, "/profile", nil, body)
		if !a.ok() {
			v.profiled(a.faults(), statusOf(a))
			return
		}
	}
	if !secret {
		v.goTo("/portal/private/profile?done=saved")
		return
	}
	if faults, status := v.changed(); faults != nil {
		if names {
			faults = append(faults, "The names are saved, the password is not")
		}
		v.profiled(faults, status)
		return
	}
	v.goTo("/portal/private/profile?done=password")
}

// fixedAddress is the error of a form that changes a person's email address.
const fixedAddress = "Email can only be changed by an administrator"

// otherAddress reports whether a form has an email address other than the person's.
func (v *visit) otherAddress(email string) bool {
	e := strings.TrimSpace(v.field("email"))
	return e != "" && !strings.EqualFold(e, email)
}

// nameFields are the form fields about a person.
var nameFields = map[string]string{"First": "first", "Last": "last"}

// request is a request for a new organisation.
type request struct{ Name, Status, CreatedAt string }

func (v *visit) organisation() {
	v.title = "Organisation"
	var all []request
	if !v.get("/organisation-requests", url.Values{"per_page": {"1"}}, &all) {
		return
	}
	switch {
	case len(all) > 0 && all[0].Status == "pending":
		v.show(http.StatusOK, "user_org_pending", map[string]any{"request": all[0]})
	case !v.site.OrganisationRequestsEnabled:
		v.show(http.StatusOK, "user_org_disabled", map[string]any{"why": "This portal takes no requests for organisations."})
	case v.site.Viewer.IsAdmin():
		v.show(http.StatusOK, "user_org_disabled", map[string]any{"why": "Administrators belong to no organisation."})
	case !v.mayFound():
		v.show(http.StatusOK, "user_org_disabled", map[string]any{"why": "You are in the organisation " + v.site.Viewer.Organisation.Name() + "."})
	default:
		known := map[string]any{"org_name": ""}
		if len(all) > 0 && all[0].Status == "rejected" {
			known["rejected"] = all[0]
		}
		v.show(http.StatusOK, "organisation_edit", v.said(nil, known, nil))
	}
}

// mayFound reports whether the viewer may request an organisation: members of the default
// organisation may.
func (v *visit) mayFound() bool {
	return v.site.OrganisationRequestsEnabled && v.site.Viewer != nil && v.site.Viewer.OrganisationID == int(organisation.Default)
}

func (v *visit) askOrganisation() {
	v.title = "Organisation"
	a := v.call(http.MethodPost, "/organisation-requests", nil, map[string]string{"Name": v.field("org_name")})
	if a.ok() {
		var made request
		_ = json.Unmarshal(a.body.Bytes(), &made) // an answer of our API
		v.show(http.StatusOK, "organisation_success", map[string]any{"request": made})
		return
	}
	v.show(statusOf(a), "organisation_edit", v.said(a.faults(), v.typed("org_name"), map[string]string{"Name": "org_name"}))
}

// member is a person in the viewer's teams. Templates use it as a user, and as an
// invitation.
type member struct {
	user

	viewer *user
}

// Organisation is the viewer's organisation: viewers see no others.
func (m member) Organisation() named { return m.viewer.Organisation }

// Joined reports whether an invited person has accepted.
func (m member) Joined() bool { return m.Active }

// Uactive reports whether the account is active.
func (m member) Uactive() bool { return m.Active }

// JoinedAt is empty: the portal does not store when a person joined.
func (member) JoinedAt() string { return "" }

// everybody returns the query for one page of people.
func everybody(page int) url.Values {
	return url.Values{"per_page": {strconv.Itoa(maxChoice)}, "page": {strconv.Itoa(page)}}
}

// colleagues sets the viewer of people: a viewer sees only their own teams among the teams
// of others.
func (v *visit) colleagues(all ...*member) []*member {
	for _, m := range all {
		m.viewer = v.site.Viewer
		theirs := m.Teams
		m.Teams = nil
		for _, t := range v.site.Viewer.Teams {
			if slices.ContainsFunc(theirs, func(o team) bool { return o.ID == t.ID }) {
				m.Teams = append(m.Teams, t)
			}
		}
	}
	return all
}

func (v *visit) users() {
	var all []*member
	number := v.number()
	a := v.call(http.MethodGet, "/users", everybody(number), nil)
	if !v.read(a, &all) {
		return
	}
	v.title = "Team"
	v.show(http.StatusOK, "user_list", v.said(nil, map[string]any{"users": v.colleagues(all...), "roles": roleNames, "paging": v.pages(number, maxChoice, a.total())}, nil))
}

// roles are the roles in an organisation.
var roles = []role{"consumer-team-member", "consumer-admin"}

// invite shows and handles the form by which admins of an organisation invite people.
func (v *visit) invite() {
	status, faults := http.StatusOK, []string(nil)
	known := v.typed("email", "first", "last", "role")
	if v.r.Method == http.MethodPost {
		a := v.call(http.MethodPost, "/users/invite", nil, v.withTeams(map[string]any{"Email": v.field("email"), "First": v.field("first"), "Last": v.field("last"), "Role": cmp.Or(v.field("role"), string(roles[0]))}))
		if a.ok() {
			v.goTo("/portal/private/users?done=invited")
			return
		}
		status, faults = statusOf(a), a.faults()
	} else if v.leads() {
		known["role"] = string(roles[0])
	} else {
		return
	}
	v.title = "Invite somebody"
	known["teams"], known["team"] = v.site.Viewer.Teams, v.field("teams")
	v.show(status, "user_invite", v.said(faults, known, signUp))
}
