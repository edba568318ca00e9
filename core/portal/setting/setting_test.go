package setting_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

// TestMail: settings with which mails could not be sent, or would get additional headers.
func TestMail(t *testing.T) {
	tabletest.Bodies(t, setting.Default(), false, map[string]string{
		`{"SMTPHost":"mail.example.com","SMTPPort":587}`:                     "",
		`{"SMTPHost":"2001:db8::1"}`:                                         "",
		`{"SMTPHost":""}`:                                                    "",
		`{"SMTPHost":"mail.example.com:587"}`:                                "SMTPHost is invalid",
		`{"SMTPHost":"smtp://mail.example.com"}`:                             "SMTPHost is invalid",
		`{"SMTPHost":"mail example"}`:                                        "SMTPHost is invalid",
		`{"SMTPHost":"mail\r\nQUIT"}`:                                        "SMTPHost is invalid",
		`{"SMTPPort":0}`:                                                     "SMTPPort is invalid",
		`{"EmailFrom":"portal@example.com"}`:                                 "",
		`{"EmailFrom":"The portal <portal@example.com>"}`:                    "EmailFrom is invalid",
		`{"EmailFrom":""}`:                                                   "",
		`{"EmailFrom":"portal"}`:                                             "EmailFrom is invalid",
		`{"EmailFrom":"portal@example.com\r\nBcc: eve@example.com"}`:         "EmailFrom is invalid",
		`{"EmailFrom":"a@example.com, b@example.com"}`:                       "EmailFrom is invalid",
		`{"AdminSignUpEmail":"admins"}`:                                      "AdminSignUpEmail is invalid",
		`{"EmailSubjects":{"approve":"You are in","Welcome":"Hello"}}`:       "",
		`{"EmailSubjects":{}}`:                                               "",
		`{"EmailSubjects":null}`:                                             "",
		`{"EmailSubjects":{"approve":7}}`:                                    "EmailSubjects is invalid",
		`{"EmailSubjects":{"approve":"You are in\r\nBcc: eve@example.com"}}`: "EmailSubjects is invalid",
	})
}
