package serve

import (
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/mail"
	"github.com/gatehouse-io/gatehouse/adapters/oidc"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	sessions "github.com/gatehouse-io/gatehouse/core/session"
	ports "github.com/gatehouse-io/gatehouse/ports/mail"
)

// mailServer returns the sender of mails, nil without a mail server.
func mailServer(s config.Settings) (ports.Sender, error) {
	if !s.Mail.Enabled {
		return nil, nil
	}
	server, err := mail.New(mail.Config{
		Address: s.Mail.Setting("SMTPAddress"), Username: s.Mail.Setting("SMTPUsername"), Password: s.Mail.Setting("SMTPPassword"),
		From: s.Mail.From, FromName: s.Mail.FromName,
	})
	return server, naming("email_backend", err)
}

// browserSessions returns the option for browser sessions and single sign-on.
func browserSessions(s config.Settings, server ports.Sender) app.Option {
	b := s.Sessions
	defaults := access.Map{}
	for permission, level := range s.SSO.Defaults {
		defaults[permission] = access.Level(level)
	}
	cfg := session.Config{
		LoginURL: s.SSO.LoginURL, ErrorURL: s.SSO.ErrorURL,
		Grants: sessions.Grants{Lookup: s.SSO.Lookup, DefaultGroup: s.SSO.DefaultGroup, Defaults: defaults, AdminDefault: s.SSO.AdminDefault},
		Life:   time.Duration(b.Lifetime) * time.Second, One: b.One, Secure: b.SecureCookies || s.TLS.Enabled,
		PerName: b.PerName, PerAddress: b.PerAddress, Window: time.Duration(b.Window) * time.Second, Hidden: b.Hidden, Direct: b.Direct,
	}
	if server != nil {
		cfg.Mail = server
	}
	cfg.PublicURL = s.PublicURL()
	if s.SSO.Broker {
		bounds := fetch.Config{MaxBytes: idp.MaxAnswer, Insecure: s.SSO.Insecure}
		if s.SSO.PrivateProviders {
			bounds.Allow = fetch.Private()
		}
		cfg.Provider = oidc.New(fetch.New(bounds), oidc.Config{})
	}
	return app.WithSessions(cfg)
}
