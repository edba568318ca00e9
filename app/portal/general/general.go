// Package general has the general settings of the portal, its configuration, and its robots.txt
// (docs/wire/portal.md#settings).
package general

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Kind is the kind of the settings.
var Kind = portal.KindOf[setting.Settings]()

// the is the number of the only record.
const the table.ID = 1

// Registration returns the registration of the kind of the settings.
func Registration() crud.Registration {
	return crud.Facts[setting.Settings]{Kind: Kind, Sealed: func(s *setting.Settings) *string { return &s.SMTPPassword }, Sample: func(at crud.Stamp) (setting.Settings, error) {
		return portal.Sampled(setting.Default(), at), nil
	}}.Registration()
}

// Found stores the initial settings of a portal.
func Found(ctx context.Context, w store.Writer, at crud.Stamp) error {
	_, err := portal.Add(ctx, w, Kind, at, setting.Default())
	return err
}

// Service has the operations.
type Service struct {
	crud.Tools
	Keys  secret.Keys
	Scope tenant.Scope // of the portal; the zero Scope: there is none
	// Options are the operator's settings, as GET /configs answers them: secrets masked.
	Options map[string]any
}

// Shown is the representation of the settings.
type Shown struct {
	PortalVisibility                string          `json:"PortalVisibility"`
	SignInEnabled                   bool            `json:"SignInEnabled"`
	RegistrationEnabled             bool            `json:"RegistrationEnabled"`
	AutoApproveRegistrations        bool            `json:"AutoApproveRegistrations"`
	OrganisationRequestsEnabled     bool            `json:"OrganisationRequestsEnabled"`
	AutoApproveOrganisationRequests bool            `json:"AutoApproveOrganisationRequests"`
	APIAccessFlow                   string          `json:"APIAccessFlow"`
	LoginAttempts                   int64           `json:"LoginAttempts"`
	LoginLockTime                   int64           `json:"LoginLockTime"`
	PasswordMinLength               int64           `json:"PasswordMinLength"`
	PasswordMinDigits               int64           `json:"PasswordMinDigits"`
	PasswordMinSpecial              int64           `json:"PasswordMinSpecial"`
	PasswordMixedCase               bool            `json:"PasswordMixedCase"`
	SMTPHost                        string          `json:"SMTPHost"`
	SMTPPort                        int64           `json:"SMTPPort"`
	SMTPUser                        string          `json:"SMTPUser"`
	EmailFrom                       string          `json:"EmailFrom"`
	AdminSignUpEmail                string          `json:"AdminSignUpEmail"`
	EmailSubjects                   json.RawMessage `json:"EmailSubjects"`
	ExpiryWarningDays               int64           `json:"ExpiryWarningDays"`
	RobotsText                      string          `json:"RobotsText"`
	BlogEnabled                     bool            `json:"BlogEnabled"`
	BlogComments                    bool            `json:"BlogComments"`
	SiteName                        string          `json:"SiteName"`
	SiteDescription                 string          `json:"SiteDescription"`
	Logo                            string          `json:"Logo"`
	AccentColour                    string          `json:"AccentColour"`
	FontFamily                      string          `json:"FontFamily"`
	FooterText                      string          `json:"FooterText"`
	SecurityText                    string          `json:"SecurityText"`
	UpdatedAt                       string          `json:"UpdatedAt"`
}

func shown(s setting.Settings) Shown {
	subjects := json.RawMessage(s.EmailSubjects)
	if len(subjects) == 0 {
		subjects = json.RawMessage("{}")
	}
	return Shown{s.PortalVisibility, s.SignInEnabled, s.RegistrationEnabled, s.AutoApproveRegistrations, s.OrganisationRequestsEnabled, s.AutoApproveOrganisationRequests,
		s.APIAccessFlow, s.LoginAttempts, s.LoginLockTime, s.PasswordMinLength, s.PasswordMinDigits, s.PasswordMinSpecial, s.PasswordMixedCase, s.SMTPHost, s.SMTPPort, s.SMTPUser,
		s.EmailFrom, s.AdminSignUpEmail, subjects, s.ExpiryWarningDays, s.RobotsText, s.BlogEnabled, s.BlogComments, s.SiteName, s.SiteDescription, s.Logo, s.AccentColour, s.FontFamily,
		s.FooterText, s.SecurityText, table.Stamp(s.UpdatedAt)}
}

// Operations returns the rows; none when there is no portal.
func (s *Service) Operations() []operation.Operation {
	if s.Scope.IsZero() {
		return nil
	}
	example := shown(setting.Default())
	rows := portal.Group("portal-settings", "/settings", "settings").Rows(
		operation.GET("get", "", "Fetch the general settings", func(ctx context.Context, _ in) (Shown, error) {
			v, err := s.load(ctx)
			return shown(v), err
		}, operation.Example(nil, example)),
		operation.PUT("update", "", "Change general settings", s.update, operation.Redact("SMTPPassword"), operation.Faulting(table.CodeInvalid),
			operation.Example(map[string]any{"RobotsText": setting.Robots, "PasswordMinLength": 8}, example)),
	)
	rows = append(rows, portal.Group("portal-configs", "/configs", "settings").Rows(
		operation.GET("list", "", "Fetch the configuration of the portal, secrets masked", s.configs, operation.Example(nil, []map[string]any{s.Options})))...)
	robots := portal.Group("portal", "", "settings")
	robots.Path = ""
	return append(rows, robots.Rows(
		operation.GET("robots", "/robots.txt", "Fetch the rules for web crawlers", func(ctx context.Context, _ struct{}) (Text, error) {
			v, err := s.load(ctx)
			return Text(v.RobotsText), err
		}, operation.Public(), operation.Example(nil, Text(setting.Robots))),
		operation.GET("security", "/.well-known/security.txt", "Fetch the contact for security reports", s.security, operation.Public(), operation.Example(nil, Text("Contact: mailto:security@example.com\n")),
			operation.Faulting("not_found"), operation.Notes("The file is the one of RFC 9116. The response is 404 while the setting SecurityText is empty. This operation is an addition of this project.")))...)
}

type in struct{ Scope tenant.Scope }

// Load returns the current settings.
func Load(ctx context.Context, r store.Reader) (setting.Settings, error) {
	v, err := portal.Find(ctx, r, Kind, the.String())
	if fault.KindOf(err) == fault.NotFound {
		return setting.Default(), nil
	}
	return v, err
}

func (s *Service) load(ctx context.Context) (v setting.Settings, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		v, err = portal.Find(ctx, r, Kind, the.String())
		return err
	})
	return v, err
}

type change struct {
	Scope tenant.Scope
	Body  table.Body[setting.Settings] `body:""`
}

// update changes the members in the body. The password of the mail server is sealed before it
// is stored.
func (s *Service) update(ctx context.Context, in change) (out Shown, err error) {
	at := s.Stamp(s.Scope)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		v, err := portal.Edit(ctx, w, Kind, the, at, func(old setting.Settings) (setting.Settings, error) {
			fresh := old
			fresh.SMTPPassword = "" // the bounds are for the sent password, not for the sealed one
			if err := in.Body.Apply(&fresh, false, portal.Resolver(ctx, w)); err != nil {
				return old, err
			}
			var err error
			switch {
			case !in.Body.Has("SMTPPassword"):
				fresh.SMTPPassword = old.SMTPPassword
			case fresh.SMTPPassword != "":
				fresh.SMTPPassword, err = s.Keys.Seal(fresh.SMTPPassword)
			}
			return fresh, err
		})
		out = shown(v)
		return err
	})
	return out, err
}

// configs answers the operator's settings, and whether admins have enabled the blog.
func (s *Service) configs(ctx context.Context, _ in) ([]map[string]any, error) {
	v, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(s.Options)
	if blog, ok := out["Blog"].(map[string]any); ok {
		blog = maps.Clone(blog)
		blog["Enable"] = v.BlogEnabled
		out["Blog"] = blog
	}
	return []map[string]any{out}, nil
}

func (s *Service) security(ctx context.Context, _ struct{}) (Text, error) {
	v, err := s.load(ctx)
	if err == nil && v.SecurityText == "" {
		return "", Kind.Absent()
	}
	return Text(v.SecurityText), err
}

// Text is an answer in plain text.
type Text string

// Stream implements operation.Stream.
func (t Text) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	return "text/plain; charset=utf-8", "", [][]byte{[]byte(t)}, nil
}

// Schema describes the text.
func (Text) Schema() map[string]any { return map[string]any{"type": "string"} }
