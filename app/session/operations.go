package session

import (
	"time"

	users "github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Operations lists the operations of browsers.
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
		operation.POST("forgot", "/password/forgot", "Have a mail sent to choose another password", s.Forget, operation.Public(), operation.Limits(8<<10, 0),
			operation.Redact("username"), operation.Faulting(CodeNoMail, CodeUsername, CodeWait, CodeBusy),
			operation.Notes("The answer is the same whether or not there is such a user. The mail has an address that works once, for 1000 seconds. Needs `email_backend`."),
			operation.Example(Forgotten{Username: "ada@example.com"}, receipt(mailed, nil))),
		operation.GET("reset.page", "/password/reset", "Open the address of such a mail", s.ResetPage, operation.Public(), operation.Redact("code"),
			operation.Notes("A form for another password."), operation.Example(nil, page{text: "<!DOCTYPE html>"})),
		operation.POST("reset", "/password/reset", "Choose another password", s.Reset, operation.Public(), operation.Limits(8<<10, 0),
			operation.Redact("code", "new_password"), operation.Faulting(CodeReset, CodeBusy, users.CodeNewPassword, users.CodeUsedPassword),
			operation.Notes("The code is that of the mail, and works once. The rules of passwords apply, and all sessions of the user end."),
			operation.Example(NewPassword{Code: "TQ2YVTXVZ5IDC5TLPTRAZUYT3A", Password: "a-long-passphrase"}, receipt("User password updated", nil))),
		operation.GET("logout.link", "/logout", "End the session of a browser by a link", s.Logout, operation.Public(), operation.Writes(),
			operation.Example(nil, receipt("Logged out", nil))),
	)
}
