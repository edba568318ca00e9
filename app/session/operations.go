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
			operation.Notes("The body is JSON or a form. The response sets two cookies: `authorisation` is the session, and `csrf_token` holds a token "+
				"that requests which change something send in the header `X-CSRF-Token`. If the address and the password match users in several organisations, "+
				"the response lists the organisations and sets no cookie; send the request again with `org_id`."),
			operation.Example(Login{Username: "ada@example.com", Password: "a-long-passphrase"}, receipt("Logged in", opened))),
		operation.POST("logout", "/logout", "End the session of a browser", s.Logout, operation.Public(),
			operation.Notes("Clears the cookies, even if the session has already ended."),
			operation.Example(nil, receipt("Logged out", nil))),
		operation.POST("forgot", "/password/forgot", "Request a mail to reset the password", s.Forget, operation.Public(), operation.Limits(8<<10, 0),
			operation.Redact("username"), operation.Faulting(CodeNoMail, CodeUsername, CodeWait, CodeBusy),
			operation.Notes("The response is the same whether or not the user exists. The mail has a link that works once, for 1000 seconds. Needs `email_backend`."),
			operation.Example(Forgotten{Username: "ada@example.com"}, receipt(mailed, nil))),
		operation.GET("reset.page", "/password/reset", "Show the form of a password reset", s.ResetPage, operation.Public(), operation.Redact("code"),
			operation.Notes("The link in the mail of sessions.forgot leads here. The page has a form for a new password."), operation.Example(nil, page{text: "<!DOCTYPE html>"})),
		operation.POST("reset", "/password/reset", "Set a new password with the code of a mail", s.Reset, operation.Public(), operation.Limits(8<<10, 0),
			operation.Redact("code", "new_password"), operation.Faulting(CodeReset, CodeBusy, users.CodeNewPassword, users.CodeUsedPassword),
			operation.Notes("The code comes from the mail of sessions.forgot and works once. The password rules apply. All sessions of the user end."),
			operation.Example(NewPassword{Code: "TQ2YVTXVZ5IDC5TLPTRAZUYT3A", Password: "a-long-passphrase"}, receipt("User password updated", nil))),
		operation.GET("logout.link", "/logout", "End the session of a browser with a GET request", s.Logout, operation.Public(), operation.Writes(),
			operation.Example(nil, receipt("Logged out", nil))),
	)
}
