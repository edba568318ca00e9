package live

import (
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/core/portal/orgrequest"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Prefix is the prefix of these operations' paths. Session cookies are not accepted
// below portal.Prefix.
const Prefix = "/portal/api"

// Operations returns the rows; none when there is no portal.
func (s *Service) Operations() []operation.Operation {
	if s.Scope.IsZero() {
		return nil
	}
	g := portal.Group("portal-live", "", "live")
	g.Path = Prefix
	for code, a := range map[string]operation.Answer{
		CodeUnproven: {Status: 400}, CodeClosed: {}, CodeCredentials: {}, CodeExpired: {}, CodeHidden: {}, CodeMember: {},
	} {
		g.Style.Faults[code] = a
	}
	rows := g.Rows(append(s.strangers(), s.own()...)...)
	rows = append(rows, portal.Group("portal-users", "/users", "users").Rows(
		operation.GET("archive", "/{user_id}/archive", "Export all data about a user", s.Archive, people.Personal(),
			operation.Notes("The response is one document with a member for each kind of record. It contains no secrets. This operation is an addition of this project."),
			operation.Example(nil, Archive{"account": exampleProfile, "sessions": []any{}, "organisation-requests": []any{}})))...)
	invitations := portal.Group("portal-invitations", "/invitations", "invitations")
	return append(rows, invitations.Rows(operation.POST("create", "", "Invite a user", s.Invite, operation.Status(201), people.Personal(),
		operation.Faulting(table.CodeInvalid), operation.Example(map[string]any{"Email": "grace@example.com", "First": "Grace", "Role": account.ConsumerAdmin, "OrganisationID": 1}, exampleUser),
		operation.Notes("Creates an inactive account and sends a mail with a code, with which the invited person completes the registration. For an account that is already invited, another mail is sent. This operation is an addition of this project.")))...)
}

var (
	exampleUser    = people.ListedUser{ID: 8, Email: "grace@example.com", First: "Grace", Role: account.ConsumerAdmin, OrganisationID: 1, Provider: account.OwnPassword}
	exampleOpened  = Opened{UserID: 7, Role: account.Member, CSRFToken: "6a573a45.kR2n0ZyL", Expires: "2026-01-09 03:04"}
	exampleProfile = Profile{ListedUser: exampleUser, Organisation: "Acme", Teams: []string{"Acme All users"}, CustomAttributes: []ProfileValue{{FormValues{"Department", "department", "Where you work.", "String", "", false}, "Engines", true}}}
	exampleMember  = Member{ID: 8, Email: "grace@example.com", First: "Grace", Role: account.Member, Active: true, Teams: []table.ID{2}, OrganisationID: 2, Provider: account.OwnPassword, CreatedAt: "2026-01-02 03:04"}
	exampleRequest = ShownRequest{ID: 1, Name: "Acme", User: "User#7", Status: string(orgrequest.Pending), CreatedAt: "2026-01-02 03:04", UpdatedAt: "2026-01-02 03:04"}
	exampleCode    = "TQ2YVTXVZ5IDC5TLPTRAZUYT3A"
)

// strangers are the rows without authentication.
func (s *Service) strangers() []operation.Row {
	open := func(faults ...string) []operation.Option {
		return []operation.Option{operation.Public(), operation.Limits(maxStrangersBody, 0), people.Personal("Code", "InviteCode"),
			operation.Faulting(append(faults, CodeWait, CodeBusy)...)}
	}
	with := func(own []operation.Option, more ...operation.Option) []operation.Option { return append(own, more...) }
	return []operation.Row{
		operation.GET("form", "/register", "Fetch the fields of the registration form", s.SignUp, operation.Public(), operation.Example(nil, Form{true, true, []FormValues{{"Department", "department", "", "String", "", true}}})),
		operation.POST("register", "/register", "Register", s.Register, with(open(table.CodeInvalid, CodeClosed, CodeHidden),
			operation.Notes("The response is the same if the address already has an account. With automatic approval the account is active at once; otherwise an admin activates it."),
			operation.Example(map[string]any{"Email": "ada@example.com", "First": "Ada", "Password": "a-good-password", "CustomAttributes": []any{map[string]any{"Identifier": "department", "Value": "Engines"}}}, Message{"ok", "Registered: log in"}))...),
		operation.POST("accept", "/invitation", "Finish the registration of an invited person", s.Accept, with(open(table.CodeInvalid, CodeCode),
			operation.Example(map[string]any{"Code": exampleCode, "First": "Grace", "Password": "a-good-password"}, operation.Visit[Message]{Value: Message{"ok", "Registered: log in"}}))...),
		operation.POST("login", "/login", "Log in", s.Login, with(open(CodeCredentials, CodeClosed), operation.Visited(),
			operation.Notes("Sets the session cookie. The error text is the same for an unknown address, a wrong password, and an account that is locked or inactive."),
			operation.Example(Login{"ada@example.com", "a-good-password"}, operation.Visit[Opened]{Value: exampleOpened}))...),
		operation.POST("forgot", "/password/forgot", "Request a mail to reset the password", s.Forget, with(open(table.CodeInvalid),
			operation.Notes("The response is the same whether or not the account exists. The code in the mail works once, for a day."),
			operation.Example(Forgotten{"ada@example.com"}, mailed))...),
		operation.POST("reset", "/password/reset", "Choose another password with the code of a mail", s.Reset, with(open(table.CodeInvalid, CodeCode),
			operation.Example(NewPassword{exampleCode, "a-good-password"}, operation.Visit[Message]{Value: Message{"ok", "The password is changed: log in with it"}}))...),
	}
}

// own are the rows about the caller's account and the people in its organisation.
func (s *Service) own() []operation.Row {
	session := operation.BySession()
	wish := map[string]any{"Notifications": []any{map[string]any{"Name": letter.ToExpire, "Wanted": false}}}
	shown := Notifications{[]Notification{{letter.ToExpire, "A credential is about to expire", false}}}
	return []operation.Row{
		operation.GET("session", "/session", "Fetch the session and its user", s.Session, session, operation.EvenExpired(), operation.Redact("CSRFToken"), operation.Example(nil, exampleOpened)),
		operation.POST("logout", "/logout", "Log out", s.Logout, session, operation.EvenExpired(), operation.Example(nil, operation.Visit[Left]{Value: Left{"ok"}})),
		operation.PUT("password", "/password", "Change the own password", s.ChangePassword, session, operation.EvenExpired(), people.Personal("CurrentPassword", "CSRFToken"),
			operation.Faulting(table.CodeInvalid, CodePassword, CodeBusy), operation.Notes("All sessions of the user end, and the response sets the cookie of a new one."),
			operation.Example(Change{"a-good-password", "a-better-password"}, operation.Visit[Opened]{Value: exampleOpened})),
		operation.GET("profile", "/profile", "Fetch the caller's profile", s.Profile, session, operation.Example(nil, exampleProfile)),
		operation.PUT("update-profile", "/profile", "Change the own profile", s.ChangeProfile, session, people.Personal("Code", "InviteCode"), operation.Faulting(table.CodeInvalid),
			operation.Notes("Names can be changed, and custom attributes that developers may edit. Absent members do not change."), operation.Example(map[string]any{"First": "Ada"}, exampleProfile)),
		operation.POST("leave", "/profile/delete", "Delete the own account", s.Leave, session, people.Personal("CurrentPassword"), operation.Faulting(CodePassword, CodeBusy, people.CodeCaller, people.CodeMore),
			operation.Notes("The credentials of the user's apps are revoked first; then the apps and the account are deleted. Admins cannot delete their own account; another admin deletes it."),
			operation.Example(Leaving{"a-good-password"}, operation.Visit[Left]{Value: Left{"ok"}})),
		operation.GET("requests", "/organisation-requests", "List the caller's requests for an organisation", s.Asked, session,
			operation.Example(nil, operation.Listing[ShownRequest]{Items: []ShownRequest{exampleRequest}, Total: 1, Page: 1, PerPage: portal.DefaultPerPage})),
		operation.POST("ask", "/organisation-requests", "Ask for an organisation", s.Ask, session, operation.Status(201), people.Personal(), operation.Faulting(table.CodeInvalid, CodeClosed, CodeBelongs),
			operation.Example(map[string]any{"Name": "Acme"}, exampleRequest)),
		operation.GET("notifications", "/notifications", "List the mails that the caller can switch off", s.Notifications, session,
			operation.Notes("Mails about the account itself cannot be switched off and are not in the list."), operation.Example(nil, shown)),
		operation.PUT("update-notifications", "/notifications", "Switch mails off and on", s.Notify, session, operation.Faulting(table.CodeInvalid),
			operation.Notes("Members that are absent in the body do not change."), operation.Example(wish, shown)),
		operation.GET("users", "/users", "List the users in the caller's teams", s.Members, session,
			operation.Example(nil, operation.Listing[Member]{Items: []Member{exampleMember}, Total: 1, Page: 1, PerPage: portal.DefaultPerPage})),
		operation.GET("user", "/users/{user_id}", "Fetch a user in the caller's teams", s.Member, session, operation.Example(nil, exampleMember)),
		operation.PUT("update-user", "/users/{user_id}", "Change a user in the caller's teams", s.ChangeMember, session, people.Personal(), portal.Unprocessable(), operation.Faulting(table.CodeInvalid, CodeMember, CodeLast),
			operation.Example(map[string]any{"Role": account.ConsumerAdmin}, exampleMember)),
		operation.DELETE("remove-user", "/users/{user_id}", "Remove a user from the caller's organisation", s.RemoveMember, session, people.Personal(), operation.Faulting(CodeMember),
			operation.Notes("The account moves to the default organisation together with its apps, which become personal."), operation.Example(nil, portal.Status{Status: "ok"})),
		operation.POST("invite", "/users/invite", "Invite a user to the caller's organisation", s.InviteMember, session, operation.Status(201), people.Personal(), operation.Faulting(table.CodeInvalid, CodeMember),
			operation.Example(map[string]any{"Email": "grace@example.com", "First": "Grace"}, exampleUser)),
	}
}
