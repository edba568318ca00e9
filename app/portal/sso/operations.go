package sso

import (
	nethttp "net/http"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/signon"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// The paths where brokers create nonces and manage developers.
const (
	noncePath     = portal.Prefix + "/sso"
	developerPath = portal.Prefix + "/developers"
)

// Canonical maps a path that brokers know from the classic portal to the path of the
// operation. It is only for listeners that serve the portal alone: beside a dashboard these
// paths belong to the dashboard.
func Canonical(path string) string {
	if path == "/api/sso" {
		return noncePath
	}
	if rest, ok := strings.CutPrefix(path, "/api/portal/developers"); ok && (rest == "" || rest[0] == '/') {
		return developerPath + rest
	}
	return path
}

// maxDeveloper is the maximum body size in bytes; brokers need less.
const maxDeveloper = 64 << 10

// Operations returns the rows; none when there is no portal.
func (s *Service) Operations() []operation.Operation {
	if s.Scope.IsZero() {
		return nil
	}
	g := portal.Group("portal-sso", "", "single sign-on")
	g.Style.Faults[CodeNonce], g.Style.Faults[live.CodeClosed] = operation.Answer{}, operation.Answer{}
	rows := g.Rows(operation.POST("create", "/sso", "Create a nonce for single sign-on", s.Mint, operation.Brokers(), operation.Limits(maxDeveloper, 0),
		operation.Redact("EmailAddress", "DisplayName", "Meta"), operation.Faulting(session.CodePerson),
		operation.Notes("A browser then opens `/sso?nonce=…` within 60 seconds; the nonce works once. If the portal has its own listener, `POST /api/sso` does the same."),
		operation.Example(session.AccessData{ForSection: session.Portal, OrgID: "0", EmailAddress: "ada@example.com"}, Receipt{"OK", "SSO Nonce created", "q0a8Vw3yJm5tPpXjZk1sXnq2l7cH9dRf4uYbTgEoW6A"})))
	g.Path, g.Style.Word = "", "OK"
	rows = append(rows, g.Rows(operation.GET("enter", "/sso", "Begin a session with a nonce", s.Enter, operation.Visited(), operation.Writes(), operation.Unseen("nonce"),
		operation.Status(nethttp.StatusSeeOther), operation.Faulting(CodeNonce, CodeRefused, live.CodeClosed), operation.Example(nil, operation.Landing{Location: "/"}),
		operation.Notes("Sets the session cookie and redirects the browser: admins to `/admin`, developers to the start page of the portal.")))...)
	ways := portal.Group("portal-sso", "", "single sign-on")
	ways.Path = live.Prefix + "/logins"
	rows = append(rows, ways.Rows(operation.GET("logins", "", "List the identity providers at which people can log in", s.Logins, operation.Public(), operation.Faulting(CodeSealed),
		operation.Notes("Login pages show a button for each entry. Profiles that this portal cannot use are left out."),
		operation.Example(nil, Logins{[]Login{{"Engineers", "/tib/auth/developers/openid-connect", false}}})))...)
	return slices.Concat(rows, s.logins(g), s.developers(g))
}

// logins are the rows for logins at identity providers, which only browsers call.
func (s *Service) logins(g operation.Group) []operation.Operation {
	for _, code := range signon.Ending {
		if code != signon.CodeRefused { // the reason is only logged
			g.Style.Faults[code] = operation.Answer{}
		}
	}
	g.Path = "/tib/auth/{profile_id}/{provider}"
	hidden := operation.Unseen("state", "code", "portal-login")
	return g.Rows(
		operation.GET("login", "", "Log in at an identity provider", s.Begin, operation.Public(), operation.Status(nethttp.StatusSeeOther),
			operation.Faulting(slices.Concat(signon.Beginning, []string{CodeSealed})...), operation.Example(nil, operation.Landing{Location: "https://login.example.com/authorize"}),
			operation.Notes("Redirects the browser to the identity provider of the profile (authorization code flow of OpenID Connect).")),
		operation.GET("callback", signon.Callback, "Complete a login at an identity provider", s.Finish, operation.Visited(), operation.Writes(), hidden, operation.Status(nethttp.StatusSeeOther),
			operation.Faulting(slices.Concat(signon.Ending, []string{CodeSealed, CodeRefused, live.CodeClosed})...), operation.Example(nil, operation.Landing{Location: "/"}),
			operation.Notes("Sets the session cookie and redirects the browser: admins to `/admin`, developers to the start page of the portal. Only the browser that began the login can complete it.")))
}

// developers are the rows about developers in the format of the classic portal.
func (s *Service) developers(g operation.Group) []operation.Operation {
	g.Name, g.Path = "portal-developers", developerPath
	sample := classic(account.User{Base: table.Base{ID: 7, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, Email: "ada@example.com", First: "Ada", Active: true, SSOKey: "1234@openid-connect"})
	with := func(more ...operation.Option) []operation.Option {
		return append(more, operation.Brokers(), operation.Limits(maxDeveloper, 0), operation.Unseen("email", "password", "fields", "nonce", "sso_key"))
	}
	writing := func(answer any) []operation.Option {
		return with(operation.Faulting(table.CodeInvalid), operation.Example(sample, answer))
	}
	return g.Rows(
		operation.GET("list", "", "List developers", s.Developers, with(operation.Example(nil, Page{[]Developer{sample}, 1}))...),
		operation.POST("create", "", "Create a developer", s.Make, writing(Receipt{"OK", "7", nil})...),
		operation.GET("get", "/{developer_id}", "Fetch a developer", s.Developer, with(operation.Example(nil, sample))...),
		operation.PUT("update", "/{developer_id}", "Change a developer", s.Change, writing(Receipt{"OK", "Data updated", nil})...),
		operation.GET("key", "/ssokey/{sso_key}", "Fetch the developer with a key", s.ByKey, with(operation.Example(nil, sample))...),
	)
}
