package session

import (
	nethttp "net/http"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// SSO has the operations of identity brokers, and of the browsers that they redirect
// here.
type SSO struct{ *Service }

// maxAccessData is the maximum size of what a broker says about a person, in bytes.
const maxAccessData = 64 << 10

// Operations lists the operations of brokers and browsers.
func (s SSO) Operations() []operation.Operation {
	data := session.AccessData{ForSection: session.Dashboard, OrgID: "5f1a0c5d8e3b2a1f00000001", EmailAddress: "ada@example.com", GroupID: "5f1a0c5d8e3b2a1f00000003"}
	minted := operation.Receipt{Message: "SSO Nonce created", Meta: "q0a8Vw3yJm5tPpXjZk1sXnq2l7cH9dRf4uYbTgEoW6A"}
	mint := func(g operation.Group, empty string, more ...operation.Option) []operation.Operation {
		g.Tag, g.Style = "Single sign-on", operation.Style{Word: "OK", Faults: map[string]operation.Answer{
			operation.CodeEmptyBody: {Status: nethttp.StatusInternalServerError, Text: empty},
			operation.CodeMalformed: {Status: nethttp.StatusBadRequest, Text: "Request body malformed."},
		}}
		return g.Rows(operation.POST("create", "", "Create a nonce for single sign-on", s.Mint, append(more, operation.Switched(s.switchedOff), operation.Limits(maxAccessData, 0),
			operation.Redact("EmailAddress", "DisplayName", "Meta"), operation.Faulting(CodeNoOrg, CodeOff, session.CodePerson),
			operation.Notes("The caller must have authenticated the person. A browser then opens `/tap?nonce=…` within 60 seconds; the nonce works once."),
			operation.Example(data, minted))...))
	}
	rows := append(
		mint(operation.Group{Surface: operation.Management, Name: "sso", Path: "/api/sso", Permission: access.IsAdmin}, "Failed to read response body, body empty."),
		mint(operation.Group{Surface: operation.Admin, Name: "admin.sso", Path: "/admin/sso"}, "Failed to read response body, body empty", operation.Brokers())...)
	landing := operation.Landing{Location: "/"}
	return append(rows, operation.Group{Surface: operation.Management, Name: "sso", Tag: "Single sign-on", Style: operation.Style{Word: "OK"}}.Rows(
		operation.GET("tap", "/tap", "Begin a session with a nonce", s.Tap, operation.Public(), operation.Writes(), operation.Redact("nonce"), operation.Status(nethttp.StatusSeeOther),
			operation.Faulting(CodeNonce, CodeRefused), operation.Example(nil, landing),
			operation.Notes("Sets the session cookies and redirects the browser to `/`. If the person is refused and sso_custom_login_error_url is set, the browser is redirected to that address.")),
		operation.GET("page", "/login", "Go to the login page", s.LoginPage, operation.Public(), operation.Status(nethttp.StatusSeeOther),
			operation.Faulting("login.page"), operation.Example(nil, landing),
			operation.Notes("Redirects the browser to sso_custom_login_url if that is set.")),
	)...)
}
