package config

import (
	"strings"
	"testing"
)

// mailFile returns a file with valid mail settings, in which a part is replaced.
func mailFile(old, other string) string {
	return strings.Replace(`email_backend: {enable_email_notifications: true, code: smtp, settings: {SMTPAddress: "mail.example:25", SMTPUsername: u, SMTPPassword: hunter2}, `+
		`default_from_email: a@b.example, dashboard_hostname: gatehouse.example}`, old, other, 1)
}

func TestMailSettings(t *testing.T) {
	s, report := load(t, mailFile("SMTPAddress", "smtpaddress"))
	if len(report.Problems)+len(report.Warnings) > 0 || !s.Mail.Enabled || s.Mail.Setting("SMTPAddress") != "mail.example:25" || s.Mail.Setting("SMTPPassword") != "hunter2" {
		t.Errorf("%+v %+v", s.Mail, report)
	}
	if text := string(s.YAML()); strings.Contains(text, "hunter2") {
		t.Error("a password in", text)
	}
	s, report = load(t, mailFile(`settings: {SMTPAddress: "mail.example:25", SMTPUsername: u, SMTPPassword: hunter2}, `, ""), "TYK_DB_EMAILBACKEND_SETTINGS=SMTPAddress:mail.example:25")
	if len(report.Problems) > 0 || s.Mail.Setting("SMTPAddress") != "mail.example:25" {
		t.Errorf("%+v %+v", s.Mail, report)
	}
}

func TestMailProblems(t *testing.T) {
	for _, c := range []struct{ old, other, setting string }{
		{"code: smtp", "code: sendgrid", "email_backend.code"},
		{"mail.example:25", "mail.example", "email_backend.settings"},
		{`SMTPAddress: "mail.example:25", `, "", "email_backend.settings"},
		{", SMTPPassword: hunter2", "", "email_backend.settings"},
		{"a@b.example", "nobody", "email_backend.default_from_email"},
		{", dashboard_hostname: gatehouse.example", "", "email_backend.dashboard_hostname"},
		{"gatehouse.example", "ftp://gatehouse.example", "email_backend.dashboard_hostname"},
	} {
		_, report := load(t, mailFile(c.old, c.other))
		if len(report.Problems) != 1 || report.Problems[0].Setting != c.setting {
			t.Errorf("%s: %+v", c.other, report.Problems)
		}
		if _, report := load(t, strings.Replace(mailFile(c.old, c.other), "notifications: true", "notifications: false", 1)); len(report.Problems) > 0 {
			t.Errorf("%s, switched off: %+v", c.other, report.Problems)
		}
	}
}

func TestPublicURL(t *testing.T) {
	for want, s := range map[string]Settings{
		"":                       {},
		"http://a":               {Mail: Mail{Hostname: "a"}, Hosts: Hosts{Dashboard: "b"}},
		"https://b":              {Hosts: Hosts{Dashboard: "b", Secure: true}},
		"https://c:8443":         {Hosts: Hosts{Dashboard: "c:8443"}, TLS: TLS{Enabled: true}},
		"https://d.example/gate": {Mail: Mail{Hostname: "https://d.example/gate/"}},
	} {
		if got := s.PublicURL(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
