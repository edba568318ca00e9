package config

import (
	"cmp"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Storage engines of storage.main.type.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
	Memory   = "memory"
)

// Values of log_level and log_format.
const (
	LevelError = "error"
	LevelWarn  = "warn"
	LevelInfo  = "info"
	LevelDebug = "debug"

	FormatStandard = "standard"
	FormatJSON     = "json"
)

// Values of reads: the source of reads.
const (
	// ReadsCurrent reads the copy in memory, after it has the newest commit of all processes.
	ReadsCurrent = "current"
	// ReadsLocal reads the copy in memory, after it has the newest commit of this process.
	ReadsLocal = "local"
	// ReadsPrimary reads the store itself.
	ReadsPrimary = "primary"
)

// Settings has all settings of the standalone program. Each part is for one adapter or
// one area. Programs that embed the library pass Go values to it instead.
type Settings struct {
	Listen         Listen
	TLS            TLS
	HealthEndpoint string // path of the health check, without its leading slash
	Maintenance    bool
	StopGrace      time.Duration // how long gateways get responses after the last announcement

	Log            Log
	MetricsAddress string  // host:port of a listener for metrics only; "" = none
	OTLPEndpoint   Address // collector of traces; "" = tracing off

	Console Console

	HomeDir      string
	Storage      Storage
	Analytics    Analytics
	Collector    Collector
	Reads        string        // ReadsCurrent, ReadsLocal or ReadsPrimary
	MaxStaleness time.Duration // how far a replica may be behind and still count as ready
	History      History
	Audit        Audit
	Deliveries   Deliveries

	AdminSecret    Secret   // credential of /admin; "": /admin is closed
	NodeSecret     Secret   // credential of gateway nodes; "": no node can register
	EncryptionKeys []Secret // the first encrypts, all decrypt
	EncryptAtRest  bool     // documents and their history are encrypted in the store
	Security       Security
	Sessions       Sessions
	SSO            SSO
	MultiOrgUsers  bool

	PageSize  int // records per page, at least 1
	Limits    Limits
	Bootstrap Bootstrap

	Definitions Definitions
	Keys        Keys
	Gateway     Gateway
	Edges       []Edge
	Hosts       Hosts

	RedirectSeparator string // between redirect URLs of OAuth clients; "" = clients have one URL
	Expiry            CertificateExpiry
	// AllowPrivateAddresses lets users make the control plane call private addresses.
	// Addresses in the settings may always be private.
	AllowPrivateAddresses bool

	Portal Portal

	Mail Mail

	NotifyOnChange bool
	PrivateKeyPath string // PEM file of the RSA key that signs notifications; "" = signed with the node secret
	Redis          Redis
}

// Listen says where the program listens.
type Listen struct {
	Host string // "" = all interfaces
	Port int    // 0 = any free one
}

// Address returns host:port in the form of package net.
func (l Listen) Address() string { return net.JoinHostPort(l.Host, strconv.Itoa(l.Port)) }

// TLS configures HTTPS of the program itself.
type TLS struct {
	Enabled      bool
	Certificates []Certificate
	Files        []string // certificates whose PEM file also has the key
	MinVersion   uint16   // as in crypto/tls: 771 is TLS 1.2
	CipherSuites []string // of TLS 1.2, by name; empty: all secure ones
}

// Certificate is a certificate of the program, as paths of PEM files.
type Certificate struct {
	DomainName string `json:"domain_name,omitempty" yaml:"domain_name,omitempty"` // "" = as in the certificate
	CertFile   string `json:"cert_file" yaml:"cert_file"`
	KeyFile    string `json:"key_file" yaml:"key_file"`
}

// Log configures the log.
type Log struct {
	Level  string // LevelError … LevelDebug
	Format string // FormatStandard or FormatJSON
}

// Slog returns the level of package log/slog.
func (l Log) Slog() slog.Level {
	switch l.Level {
	case LevelError:
		return slog.LevelError
	case LevelWarn:
		return slog.LevelWarn
	case LevelDebug:
		return slog.LevelDebug
	default:
		return slog.LevelInfo
	}
}

// Storage is the main store.
type Storage struct {
	Type string // SQLite, Postgres or Memory
	// ConnectionString is a file for SQLite ("" = see SQLiteFile), an address for
	// PostgreSQL, and not used in memory.
	ConnectionString Address
	// Retries is how many times a start tries again to connect to PostgreSQL, after
	// RetryDelay each. It is set by the portal's own settings if the connection string
	// is; otherwise it is 0.
	Retries    int
	RetryDelay time.Duration
	Pool       Pool
	OfPortal   bool // the connection string is Database.ConnectionString of the portal's own settings
}

// Pool bounds the connections to PostgreSQL. It is set by the portal's own settings if
// the connection string is.
type Pool struct {
	Most int           // maximum number of connections; 0: default of the service
	Idle int           // idle connections that stay open; 0: all
	Life time.Duration // maximum age of a connection; 0: no bound
}

// Setting returns the name of the setting with the connection string.
func (s Storage) Setting() string {
	if s.OfPortal {
		return "Database.ConnectionString"
	}
	return "storage.main.connection_string"
}

// SQLiteFile returns the database file: storage.main.connection_string, or gatehouse.db
// in the home directory. Parameters of a file: URL are not masked.
func (s Settings) SQLiteFile() string {
	if file := s.Storage.ConnectionString.Reveal(); file != "" {
		return file
	}
	return filepath.Join(s.HomeDir, "gatehouse.db")
}

// History bounds the log of commits; 0 means no bound.
type History struct {
	MaxAge   time.Duration
	MaxBytes int64
}

// Values of audit.store_type.
const (
	AuditDB   = "db"
	AuditFile = "file"
	AuditNone = "no_op"
)

// Values of audit.format.
const (
	AuditText = "text"
	AuditJSON = "json"
)

// Audit configures the audit trail; 0 means no bound.
type Audit struct {
	Enabled  bool
	Store    string // AuditDB, AuditFile or AuditNone
	Path     string // of a file, in addition to the store or instead of it
	OldPath  string // the older name of Path; it also enables the trail
	Format   string // of the file: AuditText or AuditJSON
	Reads    bool   // reads are recorded as well
	Detailed bool   // records have dumps of requests and responses
	FileSize int64  // size in bytes at which another file begins
	FileKeep int    // how many full files are kept
	MaxAge   time.Duration
	MaxBytes int64    // of one organisation
	Signing  []Secret // the first signs, all verify; none: keys derived from the encryption keys sign
}

// File returns the path of the file of audit records, or "".
func (a Audit) File() string {
	if a.Store == AuditNone || !a.On() {
		return ""
	}
	return cmp.Or(a.Path, a.OldPath)
}

// On reports whether audit records are kept.
func (a Audit) On() bool { return a.Enabled || a.OldPath != "" }

// Limits bounds the cost of requests and connections.
type Limits struct {
	MaxBodyBytes   int64
	MaxBodyValues  int
	BodyMemory     int64    // of all bodies in progress, in bytes; 0: depends on the memory of the process
	BodyRate       int64    // minimum bytes per second of a large body; 0: no limit
	Connections    int      // of clients; 0: no limit
	Organisation   int64    // of the records of one organisation, in bytes; 0: no limit
	Failures       int      // wrong credentials from one address in a minute; 0: no limit
	Proxies        []string // addresses and networks whose X-Forwarded-For is trusted
	MaxDepth       int      // of nested arrays and objects in a body
	RequestTimeout time.Duration
	WriteTime      time.Duration // for which one unit of work may block other writers
}

// Deliveries configures sending events to external receivers.
type Deliveries struct {
	Enabled    bool
	Workers    int
	Pause      time.Duration // after the first failed attempt
	KeepDone   time.Duration
	KeepFailed time.Duration
	Networks   []string // addresses and networks that may be called although they are not public
}

// Allowed returns the networks that may be called although they are not public, or
// false if an entry is neither a network nor an address.
func (d Deliveries) Allowed() ([]netip.Prefix, bool) { return networks(d.Networks) }

// TrustedProxies returns the networks of the proxies, or false if an entry is neither a
// network nor an address.
func (l Limits) TrustedProxies() ([]netip.Prefix, bool) { return networks(l.Proxies) }

func networks(list []string) ([]netip.Prefix, bool) {
	var out []netip.Prefix
	for _, text := range list {
		p, err := netip.ParsePrefix(text)
		if addr, failed := netip.ParseAddr(text); failed == nil {
			p, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return nil, false
		}
		out = append(out, p.Masked())
	}
	return out, true
}

// Security has settings about permissions and passwords.
type Security struct {
	OpenPolicy            OpenPolicy
	AdditionalPermissions map[string]string // custom permission → label
	PasswordMaxDays       int
	PasswordHistory       int
	FirstLoginChange      bool
	AdminResetsPassword   bool     // administrators may set other users' passwords
	HideAccessKeys        bool     // administrators do not see access keys of other users
	KeepAccessKeys        bool     // users can only renew their own access key
	AllowedExamples       []string // exact URLs of example repositories; the first is the default
}

// SSO configures what people get whom an identity broker has authenticated
// (docs/wire/single-sign-on.md).
type SSO struct {
	Broker           bool   // this service is a broker itself
	PrivateProviders bool   // identity providers may have private addresses
	Insecure         bool   // their certificates are not verified
	BrokerSecret     Secret // credential of identity brokers; "" = brokers have none
	Lookup           bool
	DefaultGroup     string
	Defaults         map[string]string // permission → level
	AdminDefault     bool
	LoginURL         string
	ErrorURL         string
}

// Sessions configures logins and browser sessions (docs/wire/sessions.md).
type Sessions struct {
	Lifetime      int64 // seconds
	One           bool  // a login ends all other sessions of the user
	SecureCookies bool
	PerName       int // wrong passwords for one name in a window; 0: no limit
	PerAddress    int // wrong passwords from one address in a window; 0: no limit
	Window        int // seconds
	Hidden        bool
	Direct        bool
}

// Mail configures sending mails (docs/wire/sessions.md#forgotten-passwords).
type Mail struct {
	Enabled        bool
	Code           string            // the transport, which is smtp
	Server         map[string]Secret // SMTPAddress, SMTPUsername, SMTPPassword, in any letter case
	From, FromName string
	Hostname       string
}

// Setting returns a setting of the mail server by name.
func (m Mail) Setting(name string) string {
	for key, val := range m.Server {
		if strings.EqualFold(key, name) {
			return val.Reveal()
		}
	}
	return ""
}

// PublicURL returns the URL of the control plane for users, without a slash at its end,
// or "" if it is not known. It never comes from a request, because a client could
// choose it.
func (s Settings) PublicURL() string {
	host := cmp.Or(s.Mail.Hostname, s.Hosts.Dashboard)
	if host == "" {
		return ""
	}
	if !strings.Contains(host, "://") {
		scheme := "http://"
		if s.Hosts.Secure || s.TLS.Enabled {
			scheme = "https://"
		}
		host = scheme + host
	}
	return strings.TrimRight(host, "/")
}

// OpenPolicy configures the policy engine (docs/wire/rules.md#switches).
type OpenPolicy struct {
	Enabled bool
	Debug   bool // log inputs and outputs of rules
	API     bool // admins may read and replace the rules of their organisation
}

// Bootstrap is the first organisation and its administrator, which are created at start
// if they do not exist.
type Bootstrap struct {
	OwnerName, OwnerSlug string // of the organisation
	OrgID                string // "" = generated
	Email                string // "" = no bootstrap at start
	Password             Secret
	FirstName, LastName  string
	AccessKey            Secret // "" = generated
}

// Active reports whether there is a bootstrap at start.
func (b Bootstrap) Active() bool { return b.Email != "" }
