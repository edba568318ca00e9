// Package setting models what an admin of the portal sets about all of it.
package setting

import (
	"github.com/gatehouse-io/gatehouse/core/password"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Kind is the name of the resource in storage.
const Kind = "portal-settings"

// Settings are the general settings. A portal has one record of them.
type Settings struct {
	table.Base
	PortalVisibility                string
	SignInEnabled                   bool
	RegistrationEnabled             bool
	AutoApproveRegistrations        bool
	OrganisationRequestsEnabled     bool
	AutoApproveOrganisationRequests bool
	APIAccessFlow                   string
	LoginAttempts                   int64
	LoginLockTime                   int64 // seconds
	PasswordMinLength               int64
	PasswordMinDigits               int64
	PasswordMinSpecial              int64
	PasswordMixedCase               bool
	SMTPHost                        string
	SMTPPort                        int64
	SMTPUser                        string
	SMTPPassword                    string // sealed where it is stored
	EmailFrom                       string
	AdminSignUpEmail                string
	EmailSubjects                   table.Object // by notification
	ExpiryWarningDays               int64
	RobotsText                      string
	BlogEnabled                     bool
	BlogComments                    bool
}

// Robots is what crawlers are told unless an admin says otherwise.
const Robots = "User-agent: *\nDisallow: /"

// Default are the settings that a portal begins with. Passwords may be short: those who
// set an installation up choose such.
func Default() Settings {
	return Settings{PortalVisibility: "Public", SignInEnabled: true, RegistrationEnabled: true, OrganisationRequestsEnabled: true, APIAccessFlow: "cart",
		LoginAttempts: 5, LoginLockTime: 300, PasswordMinLength: 6, SMTPPort: 25, ExpiryWarningDays: 7, RobotsText: Robots, BlogEnabled: true}
}

// Passwords says which passwords people may choose.
func (s Settings) Passwords() password.Policy {
	return password.Policy{MinLength: int(s.PasswordMinLength), MinNumeric: int(s.PasswordMinDigits), MinSpecial: int(s.PasswordMinSpecial), MultiCase: s.PasswordMixedCase}
}

// Table implements table.Row.
func (Settings) Table() *table.Table[Settings] { return rows }

// Bounds of numbers.
const (
	mostDays   = 3650
	mostRule   = 128
	mostPort   = 65535
	mostTries  = 1_000_000
	longestAge = 366 * 24 * 3600
)

func within(low, high int64, of func(Settings) int64) func(Settings) bool {
	return func(s Settings) bool { n := of(s); return low <= n && n <= high }
}

var rows = &table.Table[Settings]{
	Kind: Kind, Noun: "settings",
	Base: func(s *Settings) *table.Base { return &s.Base },
	Fields: []table.Field[Settings]{
		{Name: "PortalVisibility", At: func(s *Settings) any { return &s.PortalVisibility }, Required: true, Enum: []string{"Public", "Private", "Hidden"}, Doc: "Hidden: only admins see it."},
		{Name: "SignInEnabled", At: func(s *Settings) any { return &s.SignInEnabled }},
		{Name: "RegistrationEnabled", At: func(s *Settings) any { return &s.RegistrationEnabled }},
		{Name: "AutoApproveRegistrations", At: func(s *Settings) any { return &s.AutoApproveRegistrations }},
		{Name: "OrganisationRequestsEnabled", At: func(s *Settings) any { return &s.OrganisationRequestsEnabled }},
		{Name: "AutoApproveOrganisationRequests", At: func(s *Settings) any { return &s.AutoApproveOrganisationRequests }},
		{Name: "APIAccessFlow", At: func(s *Settings) any { return &s.APIAccessFlow }, Required: true, Enum: []string{"cart", "direct"}},
		{Name: "LoginAttempts", At: func(s *Settings) any { return &s.LoginAttempts }, Valid: within(0, mostTries, func(s Settings) int64 { return s.LoginAttempts }), Doc: "Wrong passwords before an account is locked; 0: without end."},
		{Name: "LoginLockTime", At: func(s *Settings) any { return &s.LoginLockTime }, Valid: within(0, longestAge, func(s Settings) int64 { return s.LoginLockTime }), Doc: "Seconds."},
		{Name: "PasswordMinLength", At: func(s *Settings) any { return &s.PasswordMinLength }, Valid: within(1, mostRule, func(s Settings) int64 { return s.PasswordMinLength })},
		{Name: "PasswordMinDigits", At: func(s *Settings) any { return &s.PasswordMinDigits }, Valid: within(0, mostRule, func(s Settings) int64 { return s.PasswordMinDigits })},
		{Name: "PasswordMinSpecial", At: func(s *Settings) any { return &s.PasswordMinSpecial }, Valid: within(0, mostRule, func(s Settings) int64 { return s.PasswordMinSpecial })},
		{Name: "PasswordMixedCase", At: func(s *Settings) any { return &s.PasswordMixedCase }},
		{Name: "SMTPHost", At: func(s *Settings) any { return &s.SMTPHost }, Max: 255},
		{Name: "SMTPPort", At: func(s *Settings) any { return &s.SMTPPort }, Valid: within(0, mostPort, func(s Settings) int64 { return s.SMTPPort })},
		{Name: "SMTPUser", At: func(s *Settings) any { return &s.SMTPUser }, Max: 255},
		{Name: "SMTPPassword", At: func(s *Settings) any { return &s.SMTPPassword }, Max: 4096, Doc: "Never answered."},
		{Name: "EmailFrom", At: func(s *Settings) any { return &s.EmailFrom }, Max: 255},
		{Name: "AdminSignUpEmail", At: func(s *Settings) any { return &s.AdminSignUpEmail }, Max: 255},
		{Name: "EmailSubjects", At: func(s *Settings) any { return &s.EmailSubjects }, Max: 10_000, Doc: "Subjects by notification, as an object."},
		{Name: "ExpiryWarningDays", At: func(s *Settings) any { return &s.ExpiryWarningDays }, Valid: within(0, mostDays, func(s Settings) int64 { return s.ExpiryWarningDays })},
		{Name: "RobotsText", At: func(s *Settings) any { return &s.RobotsText }, Doc: "What GET /robots.txt answers."},
		{Name: "BlogEnabled", At: func(s *Settings) any { return &s.BlogEnabled }},
		{Name: "BlogComments", At: func(s *Settings) any { return &s.BlogComments }},
	},
}
