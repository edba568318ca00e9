// Package setting models the general settings of a portal.
package setting

import (
	"encoding/json"
	"net/netip"
	"strings"
	"unicode"

	"github.com/gatehouse-io/gatehouse/core/identity"
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
	SMTPPassword                    string // stored encrypted
	EmailFrom                       string
	AdminSignUpEmail                string
	EmailSubjects                   table.Object // by notification
	ExpiryWarningDays               int64
	RobotsText                      string
	BlogEnabled                     bool
	BlogComments                    bool
	SiteName                        string // this and the following are for pages: see Brand
	SiteDescription                 string
	Logo                            string
	AccentColour                    string
	FontFamily                      string
	FooterText                      string
	SecurityText                    string
}

// Robots is the default robots.txt.
const Robots = "User-agent: *\nDisallow: /"

// Default returns the settings of a new portal. Passwords may be short, because those chosen
// at installation often are.
func Default() Settings {
	return Settings{PortalVisibility: "Public", SignInEnabled: true, RegistrationEnabled: true, OrganisationRequestsEnabled: true, APIAccessFlow: "cart",
		LoginAttempts: 5, LoginLockTime: 300, PasswordMinLength: 6, SMTPPort: 25, ExpiryWarningDays: 7, RobotsText: Robots, BlogEnabled: true, SiteName: SiteName}
}

// Passwords returns the requirements for passwords.
func (s Settings) Passwords() password.Policy {
	return password.Policy{MinLength: int(s.PasswordMinLength), MinNumeric: int(s.PasswordMinDigits), MinSpecial: int(s.PasswordMinSpecial), MultiCase: s.PasswordMixedCase}
}

// Table implements table.Row.
func (Settings) Table() *table.Table[Settings] { return rows }

// Limits of numbers.
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

// isLine reports whether a text is a single line, as headers of mails require.
func isLine(text string) bool { return !strings.ContainsFunc(text, unicode.IsControl) }

// isSender reports whether a text can be the sender address of mails.
func isSender(text string) bool {
	_, err := identity.CleanEmail(strings.TrimSpace(text))
	return err == nil && isLine(text)
}

// isHost reports whether a text can be the name or the IP address of a host. It is not looked
// up before a mail is sent.
func isHost(text string) bool {
	host := strings.TrimSpace(text)
	if _, err := netip.ParseAddr(host); err == nil {
		return isLine(text)
	}
	return isLine(text) && !strings.ContainsAny(host, " :/@[]")
}

// areTitles reports whether an object contains only subjects.
func areTitles(object string) bool {
	var titles map[string]string
	if err := json.Unmarshal([]byte(object), &titles); err != nil {
		return false
	}
	for _, title := range titles {
		if !isLine(title) {
			return false
		}
	}
	return true
}

var rows = &table.Table[Settings]{
	Kind: Kind, Noun: "settings",
	Base: func(s *Settings) *table.Base { return &s.Base },
	Fields: []table.Field[Settings]{
		{Name: "PortalVisibility", At: func(s *Settings) any { return &s.PortalVisibility }, Required: true, Enum: []string{"Public", "Private", "Hidden"}, Doc: "Who sees the portal. Public: all visitors. Private: logged-in users. Hidden: only admins."},
		{Name: "SignInEnabled", At: func(s *Settings) any { return &s.SignInEnabled }},
		{Name: "RegistrationEnabled", At: func(s *Settings) any { return &s.RegistrationEnabled }},
		{Name: "AutoApproveRegistrations", At: func(s *Settings) any { return &s.AutoApproveRegistrations }},
		{Name: "OrganisationRequestsEnabled", At: func(s *Settings) any { return &s.OrganisationRequestsEnabled }},
		{Name: "AutoApproveOrganisationRequests", At: func(s *Settings) any { return &s.AutoApproveOrganisationRequests }},
		{Name: "APIAccessFlow", At: func(s *Settings) any { return &s.APIAccessFlow }, Required: true, Enum: []string{"cart", "direct"}},
		{Name: "LoginAttempts", At: func(s *Settings) any { return &s.LoginAttempts }, Valid: within(0, mostTries, func(s Settings) int64 { return s.LoginAttempts }), Doc: "Number of wrong passwords after which an account is locked; 0: never."},
		{Name: "LoginLockTime", At: func(s *Settings) any { return &s.LoginLockTime }, Valid: within(0, longestAge, func(s Settings) int64 { return s.LoginLockTime }), Doc: "Time for which an account is locked, in seconds."},
		{Name: "PasswordMinLength", At: func(s *Settings) any { return &s.PasswordMinLength }, Valid: within(1, mostRule, func(s Settings) int64 { return s.PasswordMinLength })},
		{Name: "PasswordMinDigits", At: func(s *Settings) any { return &s.PasswordMinDigits }, Valid: within(0, mostRule, func(s Settings) int64 { return s.PasswordMinDigits })},
		{Name: "PasswordMinSpecial", At: func(s *Settings) any { return &s.PasswordMinSpecial }, Valid: within(0, mostRule, func(s Settings) int64 { return s.PasswordMinSpecial })},
		{Name: "PasswordMixedCase", At: func(s *Settings) any { return &s.PasswordMixedCase }},
		{Name: "SMTPHost", At: func(s *Settings) any { return &s.SMTPHost }, Max: 255, Valid: func(s Settings) bool { return isHost(s.SMTPHost) }, Doc: "Host name or IP address, without a port."},
		{Name: "SMTPPort", At: func(s *Settings) any { return &s.SMTPPort }, Valid: within(1, mostPort, func(s Settings) int64 { return s.SMTPPort })},
		{Name: "SMTPUser", At: func(s *Settings) any { return &s.SMTPUser }, Max: 255},
		{Name: "SMTPPassword", At: func(s *Settings) any { return &s.SMTPPassword }, Max: 4096, Doc: "Responses never have it."},
		{Name: "EmailFrom", At: func(s *Settings) any { return &s.EmailFrom }, Max: 255, Valid: func(s Settings) bool { return isSender(s.EmailFrom) }},
		{Name: "AdminSignUpEmail", At: func(s *Settings) any { return &s.AdminSignUpEmail }, Max: 255, Valid: func(s Settings) bool { return isSender(s.AdminSignUpEmail) }, Doc: "E-mail address that gets mails about developers who wait for approval, in addition to the admins."},
		{Name: "EmailSubjects", At: func(s *Settings) any { return &s.EmailSubjects }, Max: 10_000, Valid: func(s Settings) bool { return areTitles(string(s.EmailSubjects)) }, Doc: "Object with the mail subject of each notification."},
		{Name: "ExpiryWarningDays", At: func(s *Settings) any { return &s.ExpiryWarningDays }, Valid: within(0, mostDays, func(s Settings) int64 { return s.ExpiryWarningDays })},
		{Name: "RobotsText", At: func(s *Settings) any { return &s.RobotsText }, Doc: "Response of GET /robots.txt."},
		{Name: "BlogEnabled", At: func(s *Settings) any { return &s.BlogEnabled }},
		{Name: "BlogComments", At: func(s *Settings) any { return &s.BlogComments }},
		{Name: "SiteName", At: func(s *Settings) any { return &s.SiteName }, Max: 100, Valid: func(s Settings) bool { return isLine(s.SiteName) }, Doc: "Name of the site, shown on every page."},
		{Name: "SiteDescription", At: func(s *Settings) any { return &s.SiteDescription }, Max: 300, Valid: func(s Settings) bool { return isLine(s.SiteDescription) }, Doc: "Description for search engines, for pages without a description of their own."},
		{Name: "Logo", At: func(s *Settings) any { return &s.Logo }, Max: 16_000, Valid: func(s Settings) bool { return isLogo(s.Logo) }, Doc: "Path of a file of the theme, such as /assets/logo.svg, or a picture as a data URL: data:image/png;base64,…"},
		{Name: "AccentColour", At: func(s *Settings) any { return &s.AccentColour }, Valid: func(s Settings) bool { _, ok := parseColour(s.AccentColour); return s.AccentColour == "" || ok }, Doc: "Colour of links and buttons, such as #1d4fd8. If its contrast is too low, it is mixed with black or white."},
		{Name: "FontFamily", At: func(s *Settings) any { return &s.FontFamily }, Max: 200, Valid: func(s Settings) bool { return s.FontFamily == "" || fonts.MatchString(s.FontFamily) }, Doc: "Names of fonts, such as Georgia, serif. Pages load only fonts of the theme."},
		{Name: "FooterText", At: func(s *Settings) any { return &s.FooterText }, Max: 500},
		{Name: "SecurityText", At: func(s *Settings) any { return &s.SecurityText }, Max: 10_000, Doc: "Response of GET /.well-known/security.txt (RFC 9116)."},
	},
}
