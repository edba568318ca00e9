package serve

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/files/folder"
	"github.com/gatehouse-io/gatehouse/adapters/files/s3"
	"github.com/gatehouse-io/gatehouse/adapters/graphql"
	"github.com/gatehouse-io/gatehouse/adapters/logfile"
	"github.com/gatehouse-io/gatehouse/adapters/mail"
	"github.com/gatehouse-io/gatehouse/adapters/oidc"
	"github.com/gatehouse-io/gatehouse/adapters/registration"
	"github.com/gatehouse-io/gatehouse/adapters/render"
	pages "github.com/gatehouse-io/gatehouse/adapters/web/portal"
	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/portal/contents"
	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/mails"
	"github.com/gatehouse-io/gatehouse/app/portal/sso"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
	"github.com/gatehouse-io/gatehouse/app/portal/webhooks"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/tryout"
)

// maxList bounds a response of a dashboard, such as a list of all its APIs, in bytes.
const maxList = 256 << 20

// portal returns the option that serves the portal, if the settings enable it.
func (c *Composition) portal(s config.Settings, log *slog.Logger, p Purpose) ([]app.Option, error) {
	if s.Portal.Serve == config.PortalOff || s.Portal.Serve == "" {
		return nil, nil
	}
	journal, err := c.journal(s, p)
	if err != nil {
		return nil, err
	}
	if s.Portal.URL == "" && !p.Beside && !p.Lost {
		log.Warn("portal.url is not set: mails of the portal have no links, and logins at identity providers are refused")
	}
	served := portalOf(s, journal, log, p)
	switch c := s.Portal.S3; s.PortalStorage() { // otherwise files are in the store
	case config.FilesInFolder:
		served.Files = folder.New(s.PortalFolder())
	case config.FilesInBucket:
		served.Files, err = s3.New(s3.Config{AccessKey: c.AccessKey.Reveal(), SecretKey: c.SecretKey.Reveal(), Region: c.Region, Endpoint: c.Endpoint, Bucket: c.Bucket, ACL: c.ACL, Links: c.PresignURLs})
		if err != nil {
			return nil, err
		}
	}
	pictures := contents.Shelf{Storage: served.Files}.Origin()
	served.Pages = func(p app.Pages) func(http.Handler) http.Handler {
		return pages.Front(pages.Config{
			Engine: render.Engine{}, YAML: yaml.Codec{}, Theme: p.Theme, Standard: themes.Standard(), Bootstrapped: p.Bootstrapped, Alone: p.Alone, Room: p.Room, Visitor: p.Visitor, Log: p.Log,
			Secure: s.Portal.Session.Secure, NoProof: s.Portal.DisableCSRFCheck, LoginURL: s.Portal.SSOCustomLoginURL, URL: s.Portal.URL, Renderer: s.Portal.ProductDocRenderer,
			Pictures: pictures, Home: homeOf(s), TLS: s.TLS.Enabled || portalTLSOn(s.Portal),
		})
	}
	return []app.Option{app.WithPortal(served)}, nil
}

// maxRelay is the timeout of gateways that developers call from pages, and of servers
// that have descriptions of APIs.
const maxRelay = 10 * time.Second

// portalOf returns the settings of the portal for the App.
func portalOf(s config.Settings, journal audit.File, log *slog.Logger, p Purpose) app.Portal {
	dial := mail.Dial
	if p.Beside || p.Lost {
		dial = nil // the service sends mails
	}
	s.Portal.Storage = s.PortalStorage()
	dashboards := fetch.Config{MaxBytes: maxList, Insecure: s.Portal.TLS.InsecureSkipVerify}
	if s.Portal.PrivateDashboards {
		dashboards.Allow = fetch.Private()
	}
	relay := dashboards // gateways may be at the same addresses as dashboards
	relay.MaxBytes, relay.Timeout = tryout.MaxAnswer, maxRelay
	reader := dashboards
	reader.MaxBytes, reader.Timeout = documents.MaxElsewhere, maxRelay
	signOn := sso.Settings{Secret: s.Portal.PortalAPISecret.Reveal(), NoAdmins: !s.Portal.AdminRegistrationAllow, Key: s.Portal.BrokerSecret.Reveal()}
	if s.Portal.TIBEnabled {
		signOn.Provider = oidc.New(loginsOf(s), oidc.Config{})
	}
	var answers *slog.Logger // logs responses of identity providers
	if s.Portal.DCRLogEnabled {
		answers = log
	}
	browser := s.Portal.Session
	return app.Portal{
		Journal: journal, ID: s.Portal.ID, Shared: s.Portal.Serve == config.PortalShared, SigningKey: s.Portal.JwtSigningKey.Reveal(), Options: s.Portal.Shown(),
		Refresh: time.Duration(s.Portal.RefreshInterval) * time.Minute, Local: ownAddresses(s),
		GraphQL: graphql.Checker{}, MaxUpload: int64(s.Portal.MaxUploadSize), URL: s.Portal.URL,
		SignOn:  signOn,
		Fetcher: fetch.New(dashboards), Relay: fetch.New(relay), Reader: fetch.New(reader), Webhooks: webhooksOf(s), Registry: s.Portal.EnableIDPRegistry,
		Live: live.Settings{
			Cookie: browser.Name, Secure: browser.Secure, Script: !browser.HTTPOnly, Bound: browser.BindAddress, SameSite: browser.SameSite, Key: browser.Key.Reveal(),
			NoProof: s.Portal.DisableCSRFCheck, Life: time.Duration(browser.LifeTime) * time.Second, Idle: time.Duration(browser.IdleTimeout) * time.Second, Home: homeOf(s),
		},
		Mails:     mails.Settings{Dial: dial, Engine: render.Engine{}, URL: s.Portal.URL, Every: time.Duration(s.Portal.NotificationsJobFrequency) * time.Minute},
		Themes:    themes.Settings{Engine: render.Engine{}, First: s.Portal.Theming.Theme, Path: s.Portal.Theming.Path, DisableUpload: s.Portal.Theming.DisableUpload},
		Registrar: registration.New(loginsOf(s), registration.Config{Log: answers}),
	}
}

// loginsOf returns the client for identity providers, which may be at the same
// addresses as dashboards.
func loginsOf(s config.Settings) *fetch.Client {
	c := fetch.Config{MaxBytes: idp.MaxAnswer, Insecure: s.Portal.TLS.InsecureSkipVerify}
	if s.Portal.PrivateDashboards {
		c.Allow = fetch.Private()
	}
	return fetch.New(c)
}

// journal opens the file with the actions of the portal's admins; nil: there is none. A
// command beside a service writes none.
func (c *Composition) journal(s config.Settings, p Purpose) (audit.File, error) {
	l := s.Portal.AuditLog
	if !l.Enable || p.Beside || p.Lost || s.Portal.Serve == config.PortalOff || s.Portal.Serve == "" {
		return nil, nil
	}
	path := l.Path
	if !strings.HasSuffix(path, ".log") {
		path = filepath.Join(path, "portal.log")
	}
	file, err := logfile.Open(path, s.Audit.FileSize, s.Audit.FileKeep)
	if err != nil {
		return nil, fmt.Errorf("AuditLog.Path: %w", err)
	}
	c.closers = append(c.closers, file)
	return file, nil
}

// leastPause is the pause after a failed delivery if the settings of the portal have
// none. It doubles, so that a failing receiver is not called again at once.
const leastPause = 10 * time.Millisecond

// webhooksOf returns the settings for webhooks of the portal.
func webhooksOf(s config.Settings) webhooks.Settings {
	own := s.Portal.Webhooks
	limit := time.Duration(own.DispatchTimeout) * time.Second
	if own.Disable {
		var none webhooks.Settings
		none.Deliveries.Timeout = limit // webhooks can still be created and changed, with the same limit
		return none
	}
	d := deliveriesOf(s.Deliveries)
	allowed, _ := s.Deliveries.Allowed() // the settings were validated
	d.Fetcher = fetch.New(fetch.Config{Allow: allowed, MaxBytes: maxAnswer, Timeout: limit, Insecure: s.Portal.TLS.InsecureSkipVerify})
	d.Workers, d.Pause, d.Timeout = own.TotalWorkers, max(leastPause, time.Duration(own.PauseDuration)*time.Second), limit
	return webhooks.Settings{Deliveries: d, Secret: own.Secret.Reveal()}
}

// ownAddresses returns the addresses of the dashboard in this process.
func ownAddresses(s config.Settings) (out []string) {
	switch {
	case s.Portal.Serve == config.PortalAlone:
		return nil
	case len(s.Portal.Local) > 0 || s.Listen.Port == 0:
		return s.Portal.Local
	}
	scheme := "http://"
	if s.TLS.Enabled {
		scheme = "https://"
	}
	for _, host := range []string{"localhost", "127.0.0.1", "::1"} {
		out = append(out, scheme+net.JoinHostPort(host, strconv.Itoa(s.Listen.Port)))
	}
	return out
}

// homeOf returns the path of the start page of the portal.
func homeOf(s config.Settings) string {
	if s.Portal.Serve == config.PortalShared && s.Console.Enabled {
		return "/portal" // the console is at / for browsers
	}
	return "/"
}
