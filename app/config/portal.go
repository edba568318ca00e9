package config

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Values of portal.serve.
const (
	PortalOff    = "off"
	PortalOwn    = "own_port"
	PortalShared = "shared"
	// PortalAlone serves only the portal; only the command line sets it.
	PortalAlone = "alone"
)

// Portal has the settings of the developer portal (docs/wire/portal.md#settings).
type Portal struct {
	Serve string // PortalOff, PortalOwn or PortalShared
	ID    string // prefix of its data in the store
	URL   string // address of the portal, for links in mails
	File  string // "": the file of the portal alone, or portal.conf in the working directory, if it exists
	// Local are addresses of the dashboard in this process. PrivateDashboards says that
	// dashboards may have private addresses.
	Local             []string
	PrivateDashboards bool

	HostPort, RefreshInterval, MaxUploadSize, NotificationsJobFrequency int
	LicenseKey, JwtSigningKey, PortalAPISecret, BrokerSecret            Secret
	ProductDocRenderer, LogLevel, LogFormat, SSOCustomLoginURL, Storage string
	EnableIDPRegistry, DCRLogEnabled, EnableHTTPProfiler                bool
	DisableCSRFCheck, TIBEnabled, AdminRegistrationAllow                bool
	ResponseHeaders                                                     []map[string]string
	Theming                                                             struct {
		Theme, Path   string
		DisableUpload bool
	}
	AuditLog struct {
		Enable bool
		Path   string
	}
	Session struct {
		Name, SameSite        string
		Key                   Secret
		Secure, HTTPOnly      bool
		BindAddress           bool
		LifeTime, IdleTimeout int
	}
	TLS struct {
		Enable, InsecureSkipVerify, PreferServerCipherSuites bool
		MinVersion, MaxVersion                               int
		CipherSuites                                         []string
		Certificates                                         []map[string]string
	}
	S3 struct {
		AccessKey, SecretKey          Secret
		Region, Endpoint, Bucket, ACL string
		PresignURLs                   bool
	}
	AssetsCacheDisable bool
	Database           struct {
		Dialect                                                       string
		ConnectionString                                              Address
		EnableLogs                                                    bool
		MaxRetries, RetryDelay                                        int
		MaxOpenConnections, MaxIdleConnections, ConnectionMaxLifetime int
	}
	CORS struct {
		Enable, AllowCredentials  bool
		Origins, Headers, Methods []string
		MaxAge                    int
	}
	Webhooks struct {
		Secret                                                                              Secret
		PauseDuration, CacheExpiration, CacheCleanupInterval, DispatchTimeout, TotalWorkers int
		Provider                                                                            string
		Disable                                                                             bool
	}
}

// Values of Portal.Storage.
const (
	FilesInFolder = "fs"
	FilesInStore  = "db"
	FilesInBucket = "s3"
)

// mySQL is a dialect that the portal recognises but does not support.
const mySQL = "mysql"

// dialects maps the dialects in the portal's own settings to storage engines.
var dialects = map[string]string{"sqlite3": SQLite, "postgres": Postgres}

// storeAlone applies the database in the portal's own settings, if the process serves
// only the portal and storage.main is the default. If a dashboard is in the same
// process, its database is used, and these settings are ignored.
func (l *loader) storeAlone() {
	named := l.said["Database.ConnectionString"]
	db := l.settings.Portal.Database
	switch {
	case !named && !l.said["Database.Dialect"]:
	case l.settings.Portal.Serve != PortalAlone || l.settings.Storage != Storage{Type: SQLite}:
		l.warn("Database.Dialect and Database.ConnectionString do not count: storage.main says where the data is")
	case db.Dialect == mySQL:
		l.problem("Database.Dialect", "mysql is not there yet: use postgres or sqlite3")
	case db.Dialect == "postgres" && !named:
		l.problem("Database.ConnectionString", "postgres needs one: postgres://user@host:5432/portal")
	default:
		pool := Pool{Life: time.Duration(db.ConnectionMaxLifetime) * time.Millisecond}
		if db.MaxOpenConnections > 0 {
			pool.Most = max(db.MaxOpenConnections, fewest)
		}
		if l.said["Database.MaxIdleConnections"] { // otherwise idle ones are all kept: connections are opened slowly
			pool.Idle = max(db.MaxIdleConnections, 1)
		}
		l.settings.Storage = Storage{Type: dialects[db.Dialect], ConnectionString: db.ConnectionString,
			Retries: db.MaxRetries, RetryDelay: time.Duration(db.RetryDelay) * time.Millisecond, Pool: pool, OfPortal: true}
	}
}

// fewest is the minimum size of a connection pool: one connection writes, and units of
// work that wait for it must not occupy the connections of readers.
const fewest = 3

// PortalStorage returns where the portal keeps files: where its settings say, or in a
// folder beside the SQLite file of the home directory, or in the database that was chosen.
func (s Settings) PortalStorage() string {
	switch {
	case s.Portal.Storage != "":
		return s.Portal.Storage
	case s.Storage.Type == SQLite && s.Storage.ConnectionString == "":
		return FilesInFolder
	}
	return FilesInStore
}

// PortalFolder returns the folder of the portal's files with Storage fs.
func (s Settings) PortalFolder() string { return filepath.Join(s.HomeDir, "public", "system") }

// hosting lists the settings of the service about the portal.
var hosting = []setting{
	{name: "portal.serve", preset: PortalOff, choices: []string{PortalOff, PortalOwn, PortalShared}, field: func(s *Settings) any { return &s.Portal.Serve },
		meaning: "where the developer portal is served. off: nowhere; own_port: on the port in its own settings (3001); shared: on listen_port"},
	{name: "portal.id", preset: "default", field: func(s *Settings) any { return &s.Portal.ID },
		meaning: "name of the portal's data in the store; portals with different names share no data"},
	{name: "portal.url", field: func(s *Settings) any { return &s.Portal.URL },
		meaning: "public address of the portal, such as https://portal.example.com, for links in mails and for redirects of identity providers. Empty: mails have no links, logins at identity providers do not work, and the start logs a warning"},
	{name: "portal.configuration", field: func(s *Settings) any { return &s.Portal.File },
		meaning: "file with the portal's own settings. Empty: the file of gatehouse portal --conf if it has portal settings, otherwise portal.conf in the working folder if it exists"},
	{name: "portal.local", field: func(s *Settings) any { return &s.Portal.Local },
		meaning: "addresses of providers that mean the dashboard in this process, which is then called without HTTP. Empty: localhost, 127.0.0.1 and [::1] with listen_port"},
	{name: "portal.private_dashboards", preset: "true", field: func(s *Settings) any { return &s.Portal.PrivateDashboards },
		meaning: "dashboards of providers may have private addresses. Portal admins choose these addresses: set false if they must not reach your private network"},
}

// ofPortal are the portal's own settings.
var ofPortal = newNames(portalRows(), "SVC_PORTAL_", "TYK_PORTAL_", "PORTAL_")

func portalRows() []setting {
	rows := slices.Concat(portalServing, portalKeeping, portalReaching)
	for i := range rows {
		rows[i].use = used
		rows[i].kind = kindOf(rows[i].field(new(Settings)))
	}
	return rows
}

func atLeast(low int, field func(*Settings) int) func(*Settings) bool {
	return func(s *Settings) bool { return field(s) >= low }
}

func within(low, high int, field func(*Settings) int) func(*Settings) bool {
	return func(s *Settings) bool { return field(s) >= low && field(s) <= high }
}

// Bounds of durations: longer ones would overflow, so that a session would have ended
// before it began.
const (
	tenYears = 10 * 365 * 24 * 60 * 60 // in seconds
	aYear    = 365 * 24 * 60           // in minutes
	aDay     = 24 * 60 * 60            // in seconds
)

// originsFit reports whether browsers can send the CORS origins: a mistyped one would
// silently never match.
func originsFit(s *Settings) bool {
	return !slices.ContainsFunc(s.Portal.CORS.Origins, func(o string) bool {
		scheme, host, whole := strings.Cut(strings.TrimSuffix(o, "/"), "://")
		if !whole {
			return o != "null" && !strings.Contains(o, "*") || strings.ContainsAny(o, "/ ")
		}
		return scheme != "http" && scheme != "https" && !strings.Contains(scheme, "*") || host == "" || strings.ContainsAny(host, "/ ")
	})
}

// methodsFit reports whether the CORS methods are valid HTTP methods.
func methodsFit(s *Settings) bool {
	return !slices.ContainsFunc(s.Portal.CORS.Methods, func(m string) bool {
		return m == "" || strings.IndexFunc(m, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-' }) >= 0
	})
}

// cookieFits reports whether the name of the cookie is valid (RFC 6265, 4.1.1).
func cookieFits(s *Settings) bool {
	return s.Portal.Session.Name != "" && (&http.Cookie{Name: s.Portal.Session.Name, Value: "x"}).Valid() == nil
}

// themesFit reports whether the folder of themes is usable: if several processes share
// a store, a path relative to the working directory of one of them is useless.
func themesFit(s *Settings) bool {
	return s.Portal.Theming.Path == "./themes" || filepath.IsAbs(s.Portal.Theming.Path) || !slices.Contains([]string{FilesInStore, FilesInBucket}, s.Portal.Storage)
}

// PortalMarkdown returns the table of the portal's settings, for the documentation.
func PortalMarkdown() string {
	var b strings.Builder
	b.WriteString("| Setting | Environment, after the prefix | Type | Default | Effect | Meaning |\n|---|---|---|---|---|---|\n")
	for i := range ofPortal.rows {
		row := &ofPortal.rows[i]
		suffix, preset, effect := "", "", "yes"
		if row.suffix != "" {
			suffix = "`" + row.suffix + "`"
		}
		if row.whole {
			suffix += ", without prefix"
		}
		if row.preset != "" {
			preset = "`" + row.preset + "`"
		}
		if row.idle {
			effect = "not yet"
		}
		b.WriteString("| " + strings.Join([]string{"`" + row.name + "`", suffix, string(row.kind), preset, effect, row.meaning}, " | ") + " |\n")
	}
	return b.String()
}
