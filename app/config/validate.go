package config

import (
	"maps"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// finding is the result of one check of settings with valid types.
type finding struct {
	bad     bool
	setting string
	message string
}

// pathName matches valid paths of the health check: segments that need no escaping.
// reserved matches paths of other operations.
var (
	reserved = regexp.MustCompile(`^(api|admin|register|system|portal-api|license)(/|$)`)
	pathName = regexp.MustCompile(`^[\w.~-]+(/[\w.~-]+)*$`)
)

// longestGrace is more than any gateway needs; a longer value is a typing error.
const longestGrace = 5 * time.Minute

func servingFindings(s *Settings) []finding {
	noCertificate := len(s.TLS.Certificates) == 0 && len(s.TLS.Files) == 0
	incomplete := slices.ContainsFunc(s.TLS.Certificates, func(c Certificate) bool { return c.CertFile == "" || c.KeyFile == "" })
	return []finding{
		{s.Listen.Port < 0 || s.Listen.Port > 65535, "listen_port", "expected 0 to 65535"},
		{strings.Contains(s.Listen.Host, ":") && net.ParseIP(s.Listen.Host) == nil, "listen_address",
			"expected an address without a port and brackets, such as 0.0.0.0 or ::1; listen_port holds the port"},
		{s.MetricsAddress != "" && !hostPort(s.MetricsAddress, 0), "metrics.listen_address", "expected host:port"},
		{s.TLS.Enabled && noCertificate, "http_server_options.use_ssl",
			"there is no certificate: set http_server_options.certificates or http_server_options.ssl_certificates"},
		{incomplete, "http_server_options.certificates", "expected cert_file and key_file in every entry"},
		{s.TLS.MinVersion < 769 || s.TLS.MinVersion > 772, "http_server_options.min_version",
			"expected 769 (TLS 1.0), 770 (1.1), 771 (1.2) or 772 (1.3)"},
		{!pathName.MatchString(s.HealthEndpoint), "health_check_endpoint_name",
			"expected the path of the health check, in letters, digits and -._~"},
		{reserved.MatchString(s.HealthEndpoint), "health_check_endpoint_name", "expected a path that nothing else has: not below api, admin, register, system, portal-api or license"},
		{s.PageSize < 1, "page_size", "expected at least 1"},
		{s.StopGrace < 0 || s.StopGrace > longestGrace, "shutdown.grace_period", "expected 0 to 5m"},
		{s.Storage.Type == Postgres && s.Storage.ConnectionString == "", "storage.main.connection_string",
			"postgres needs it: a URL (postgres://user:password@host/database) or key=value pairs"},
		{s.Storage.Type == SQLite && strings.HasPrefix(strings.TrimPrefix(s.SQLiteFile(), "file:"), ":memory:"), "storage.main.connection_string",
			"expected a file; set storage.main.type to memory for a store that is lost when the service ends"},
	}
}

func gatewayFindings(s *Settings) []finding {
	noEndpoint := slices.ContainsFunc(s.Edges, func(e Edge) bool { return strings.TrimSpace(e.Endpoint) == "" })
	noURL := slices.ContainsFunc(s.Security.AllowedExamples, func(a string) bool { return !absolute(a) })
	return []finding{
		{slices.ContainsFunc(s.Gateway.URLs(), func(a string) bool { return !absolute(a) }), "tyk_api_config.Host", "expected a host, with or without http:// or https://, or several with commas between"},
		{s.Gateway.Timeout <= 0 || s.Gateway.Timeout > longestControl, "gateway_control.timeout", "expected more than 0, at most 1m"},
		{s.Gateway.Port != "" && !portNumber(s.Gateway.Port, 1), "tyk_api_config.Port", "expected 1 to 65535"},
		{s.Expiry.Minutes < 1 || s.Expiry.Minutes > 365*24*60, "notifications.certificate_expiry_monitor.metadata_refresh_interval_minutes", "expected 1 minute to a year"},
		{s.Expiry.Days < 1 || s.Expiry.Days > 3650, "notifications.certificate_expiry_monitor.warning_threshold_days", "expected 1 to 3650"},
		{noEndpoint, "edge_endpoints", "expected an endpoint in every entry"},
		{noURL, "security.allowed_examples_urls", "expected absolute http or https URLs"},
	}
}

// longestControl is the maximum time that callers may wait for gateways.
const longestControl = time.Minute

// pageHint describes the values that page accepts.
const pageHint = "an absolute http or https URL, or a path that begins with /"

// page reports whether s is empty, or an address to which browsers may be redirected.
func page(s string) bool { return s == "" || absolute(s) || strings.HasPrefix(s, "/") }

// absolute reports whether s is an absolute URL that can be fetched.
func absolute(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// Bounds of session lifetimes and waiting times, in seconds.
const (
	longestSession = 30 * 24 * 3600
	longestWait    = 24 * 3600
)

// Bounds of the password settings: each previous password takes a slow check.
const (
	longestPassword = 36_500 // days
	mostPasswords   = 24
)

// peopleFindings checks the settings of logins, mails and the console.
func peopleFindings(s *Settings) []finding {
	b, p, o, m, on := &s.Sessions, &s.Security, &s.SSO, &s.Mail, s.Mail.Enabled
	wrong := slices.ContainsFunc(slices.Collect(maps.Values(o.Defaults)), func(l string) bool { return !slices.Contains([]string{"deny", "read", "write", "admin"}, l) })
	from, err := mail.ParseAddress(m.From)
	foreign := func(origins []string) bool {
		return slices.ContainsFunc(origins, func(o string) bool { return !origin(o) })
	}
	const origins = "expected origins: http:// or https://, a host, and perhaps a port, with nothing behind"
	return []finding{
		{b.Lifetime < 1 || b.Lifetime > longestSession, "dashboard_session_lifetime", "expected 1 second to 30 days"},
		{b.PerName < 0, "security.login_failure_username_limit", "expected at least 0"},
		{b.PerAddress < 0, "security.login_failure_ip_limit", "expected at least 0"},
		{b.Window < 1 || b.Window > longestWait, "security.login_failure_expiration", "expected 1 second to 24 hours"},
		{wrong, "sso_permission_defaults", "expected deny, read, write or admin for every permission"},
		{!page(o.LoginURL), "sso_custom_login_url", "expected " + pageHint},
		{!page(o.ErrorURL), "sso_custom_login_error_url", "expected " + pageHint},
		{p.PasswordMaxDays < 0 || p.PasswordMaxDays > longestPassword, "security.user_password_max_days", "expected 0 to 36500"},
		{p.PasswordHistory < 0 || p.PasswordHistory > mostPasswords, "security.enforce_password_history", "expected 0 to 24"},
		{on && m.Code != "" && !strings.EqualFold(m.Code, "smtp"), "email_backend.code", "expected smtp: this service sends mail by SMTP only, which the other mail services accept as well"},
		{on && !hostPort(m.Setting("SMTPAddress"), 1), "email_backend.settings", "expected SMTPAddress as host:port"},
		{on && (m.Setting("SMTPUsername") == "") != (m.Setting("SMTPPassword") == ""), "email_backend.settings", "SMTPUsername and SMTPPassword need each other"},
		{on && (err != nil || from.Address != m.From), "email_backend.default_from_email", "expected an e-mail address"},
		{on && !absolute(s.PublicURL()), "email_backend.dashboard_hostname", "mails need the host under which people reach the control plane; set it, or host_config.hostname"},
		{foreign(s.Console.Servers), "console.servers", origins}, {foreign(s.Console.Origins), "console.origins", origins},
	}
}

func redisFindings(r *Redis) []finding {
	single := r.Host != "" && len(r.Addrs) == 0 && len(r.Hosts) == 0
	badAddr := slices.ContainsFunc(r.Addrs, func(a string) bool { return !hostPort(a, 1) })
	badHost := false
	for host, port := range r.Hosts {
		badHost = badHost || host == "" || !portNumber(port, 1)
	}
	// The versions sort as texts.
	crossed := r.TLS.MinVersion != "" && r.TLS.MaxVersion != "" && r.TLS.MinVersion > r.TLS.MaxVersion
	return []finding{
		{single && (r.Port < 1 || r.Port > 65535), "redis_port", "expected 1 to 65535"},
		{badAddr, "redis_addrs", "expected host:port in every entry"},
		{badHost, "redis_hosts", "expected hosts with port numbers"},
		{r.TimeoutSeconds < 0, "redis_timeout", "expected at least 0"},
		{r.Database < 0, "redis_database", "expected at least 0"},
		{r.MaxActive < 0, "redis_max_active", "expected at least 0"},
		{(r.TLS.CertFile == "") != (r.TLS.KeyFile == ""), "redis_cert_file", "redis_cert_file and redis_key_file need each other"},
		{crossed, "redis_tls_min_version", "expected no more than redis_tls_max_version"},
	}
}

func limitFindings(s *Settings) []finding {
	_, proxies := s.Limits.TrustedProxies()
	_, allowed := s.Deliveries.Allowed()
	return []finding{
		{s.MaxStaleness < 0, "max_staleness", "expected at least 0"},
		{s.History.MaxAge < 0, "history.max_age", "expected at least 0"},
		{s.History.MaxBytes < 0, "history.max_bytes", "expected at least 0"},
		{s.Audit.MaxAge < 0, "audit.max_age", "expected at least 0"},
		{s.Audit.MaxBytes < 0, "audit.max_bytes", "expected at least 0"},
		{s.Audit.On() && s.Audit.Store == AuditFile && s.Audit.File() == "", "audit.path", "audit.store_type file needs the path of a file; db keeps the trail in the store"},
		{s.Audit.FileSize < 1<<16, "audit.file_max_bytes", "expected at least 65536, which is 64 KiB"},
		{s.Audit.FileKeep < 1, "audit.file_keep", "expected at least 1"},
		{s.Deliveries.Workers < 1 || s.Deliveries.Workers > 256, "deliveries.workers", "expected 1 to 256"},
		{s.Deliveries.Pause <= 0 || s.Deliveries.Pause > time.Hour, "deliveries.pause", "expected more than 0, and 1h at most"},
		{s.Deliveries.KeepDone <= 0, "deliveries.keep_done", "expected more than 0"},
		{s.Deliveries.KeepFailed <= 0, "deliveries.keep_failed", "expected more than 0"},
		{!allowed, "deliveries.allowed_networks", "expected addresses or networks such as 10.0.0.0/8"},
		{s.Limits.MaxBodyBytes < 1, "limits.max_body_bytes", "expected at least 1"},
		{s.Limits.MaxBodyValues < 1, "limits.max_body_values", "expected at least 1"},
		{s.Limits.BodyMemory != 0 && s.Limits.BodyMemory < 1<<20, "limits.body_memory", "expected 0, or at least 1048576, which is 1 MiB"},
		{s.Limits.BodyRate < 0, "limits.body_rate", "expected at least 0"},
		{s.Limits.Connections < 0, "limits.connections", "expected at least 0"},
		{s.Limits.Organisation < 0, "limits.organisation_bytes", "expected at least 0"},
		{s.Limits.Failures < 0, "limits.failed_credentials", "expected at least 0"},
		{!proxies, "limits.trusted_proxies", "expected addresses or networks such as 10.0.0.0/8"},
		{s.Limits.MaxDepth < 1, "limits.max_depth", "expected at least 1"},
		{s.Limits.RequestTimeout <= 0, "limits.request_timeout", "expected more than 0"},
		{s.Limits.WriteTime <= 0, "limits.write_time", "expected more than 0"},
	}
}

// hostPort reports whether s is host:port with a port of at least low.
func hostPort(s string, low int) bool {
	_, port, err := net.SplitHostPort(s)
	return err == nil && portNumber(port, low)
}

func portNumber(s string, low int) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= low && n <= 65535
}
