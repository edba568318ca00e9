package session

import (
	nethttp "net/http"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/signon"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Operations lists the rows of logins. Browsers alone call them.
func (b Broker) Operations() []operation.Operation {
	g := operation.Group{Surface: operation.Management, Name: "tib", Path: "/auth/{profileId}/{provider}", Tag: "Single sign-on", Style: operation.Style{Word: "OK"}}
	more := []string{CodeOff}
	return g.Rows(
		operation.GET("login", "", "Log in at an identity provider", b.Begin, operation.Public(), operation.Status(nethttp.StatusSeeOther),
			operation.Faulting(slices.Concat(signon.Beginning, more)...), operation.Example(nil, operation.Landing{Location: "https://login.example.com/authorize"}),
			operation.Notes("Sends the browser to the identity provider of the profile, by the code flow of OpenID Connect.")),
		operation.GET("callback", signon.Callback, "Come back from an identity provider", b.Finish, operation.Public(), operation.Writes(), operation.Unseen("state", "code", "dashboard-login"), operation.Status(nethttp.StatusSeeOther),
			operation.Faulting(slices.Concat(signon.Ending, more, []string{CodeRefused})...), operation.Example(nil, operation.Landing{Location: "/"}),
			operation.Notes("Sets the cookies of a login and sends the browser to `/`, or, where sso_custom_login_error_url is set, to that address when the person is refused. The browser must be the one that began the login.")),
	)
}
