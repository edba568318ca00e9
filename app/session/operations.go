package session

import (
	"time"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Operations lists what browsers can ask for.
func (s *Service) Operations() []operation.Operation {
	opened := Opened{UserID: "5f1a0c5d8e3b2a1f00000002", OrgID: "5f1a0c5d8e3b2a1f00000001", Expires: time.Date(2026, 1, 2, 4, 4, 5, 0, time.UTC)}
	receipt := func(message string, meta any) operation.Landing {
		return operation.Landing{Receipt: operation.Receipt{Message: message, Meta: meta}}
	}
	return operation.Group{
		Surface: operation.Management, Name: "sessions", Tag: "Sessions", Style: operation.Style{Word: "OK"},
	}.Rows(
		operation.POST("login", "/login", "Log in with a browser", s.Login, operation.Public(), operation.Limits(8<<10, 0),
			operation.Redact("username", "password"), operation.Faulting(CodeCredentials, CodeWait, CodeBusy),
			operation.Notes("The body is JSON or a form. The answer sets the cookie `authorisation`, the session, and the cookie `csrf_token`, "+
				"whose value calls that change something carry in the header `X-CSRF-Token`. If the password is right in several organisations, "+
				"the answer lists them and sets no cookie: repeat the call with `org_id`."),
			operation.Example(Login{Username: "ada@example.com", Password: "a-long-passphrase"}, receipt("Logged in", opened))),
		operation.POST("logout", "/logout", "End the session of a browser", s.Logout, operation.Public(),
			operation.Notes("Clears the cookies, also when there is no session any more."),
			operation.Example(nil, receipt("Logged out", nil))),
		operation.GET("logout.link", "/logout", "End the session of a browser by a link", s.Logout, operation.Public(), operation.Writes(),
			operation.Example(nil, receipt("Logged out", nil))),
	)
}
