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

// Values of reads: where a request reads from.
const (
	// ReadsCurrent is the local replica, after it has seen the newest commit.
	ReadsCurrent = "current"
	// ReadsLocal is the local replica as it is.
	ReadsLocal = "local"
	// ReadsPrimary is the store itself.
	ReadsPrimary = "primary"
)

// Settings is everything the standalone program lets its operator choose. Each
// part is meant for one adapter or one area; embedders pass Go values to the
// library and never see it.
type Settings struct {
	Listen         Listen
	TLS            TLS
	HealthEndpoint string // path of the health check, without its leading slash
	Maintenance    bool
	StopGrace      time.Duration // how long gateways are answered after the last announcement

	Log            Log
	MetricsAddress string  // host:port of a listener for metrics only; "" = none
	OTLPEndpoint   Address // collector of traces; "" = tracing off

	Console Console

	HomeDir      string
	Storage      Storage
	Analytics    Analytics
	Collector    Collector
	Reads        string        // ReadsCurrent, ReadsLocal or ReadsPrimary
	MaxStaleness time.Duration // how far a replica may fall behind and still count as ready
	History      History
	Audit        Audit
	Deliveries   Deliveries

	AdminSecret    Secret   // credential of /admin; "": /admin is closed
	NodeSecret     Secret   // credential of gateway nodes; "": no node can register
	EncryptionKeys []Secret // the first encrypts, all decrypt
	EncryptAtRest  bool     // documents and their history are encrypted where they are stored
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

	RedirectSeparator string // between redirect addresses of OAuth clients; "" = they have one
	Expiry            CertificateExpiry
	// AllowPrivateAddresses lets users make the control plane call private
	// addresses. Those the operator has configured may be private anyhow.
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

// Address returns host:port as package net takes it.
func (l Listen) Address() string { return net.JoinHostPort(l.Host, strconv.Itoa(l.Port)) }

// TLS is how the program itself serves HTTPS.
type TLS struct {
	Enabled      bool
	Certificates []Certificate
	Files        []string // certificates whose PEM file holds the key as well
	MinVersion   uint16   // as in crypto/tls: 771 is TLS 1.2
	CipherSuites []string // of TLS 1.2, by name; empty: those that are safe
}

// Certificate is one certificate the program serves, as paths of PEM files.
type Certificate struct {
	DomainName string `json:"domain_name,omitempty" yaml:"domain_name,omitempty"` // "" = as the certificate says
	CertFile   string `json:"cert_file" yaml:"cert_file"`
	KeyFile    string `json:"key_file" yaml:"key_file"`
}

// Log is what is logged and how.
type Log struct {
	Level  string // LevelError … LevelDebug
	Format string // FormatStandard or FormatJSON
}

// Slog returns the level as log/slog knows it.
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
	// ConnectionString is a file for SQLite ("" = see SQLiteFile), an address
	// for PostgreSQL, unused in memory.
	ConnectionString Address
	// Retries is how many times a start tries again, after RetryDelay each, to reach PostgreSQL:
	// what the portal's own settings say if the connection string is theirs, otherwise 0.
	Retries    int
	RetryDelay time.Duration
	Pool       Pool
	OfPortal   bool // the connection string is Database.ConnectionString of the portal's own settings
}

// Pool bounds the connections to PostgreSQL, by the portal's own settings if the connection
// string is theirs.
type Pool struct {
	Most int           // connections at once; 0: as many as the service likes
	Idle int           // connections that stay open while nothing is asked; 0: all
	Life time.Duration // how long a connection is used; 0: as long as it lasts
}

// Setting returns the name of the setting that has the connection string.
func (s Storage) Setting() string {
	if s.OfPortal {
		return "Database.ConnectionString"
	}
	return "storage.main.connection_string"
}

// SQLiteFile returns the database file: storage.main.connection_string, or
// gatehouse.db in the home directory. Parameters of a file: URL are not masked.
func (s Settings) SQLiteFile() string {
	if file := s.Storage.ConnectionString.Reveal(); file != "" {
		return file
	}
	return filepath.Join(s.HomeDir, "gatehouse.db")
}

// History bounds the log of commits; 0 means that the bound does not apply.
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

// Audit says whether a trail is kept, where, and how much of it; 0 means that a bound does
// not apply.
type Audit struct {
	Enabled  bool
	Store    string // AuditDB, AuditFile or AuditNone
	Path     string // of a file, beside the store or instead of it
	OldPath  string // the older name of Path; switches the trail on as well
	Format   string // of the file: AuditText or AuditJSON
	Reads    bool   // reads are recorded as well
	Detailed bool   // records have dumps of requests and answers
	FileSize int64  // bytes of the file, at which another one begins
	FileKeep int    // how many full ones are kept
	MaxAge   time.Duration
	MaxBytes int64    // of one organisation
	Signing  []Secret // the first signs, all verify; none: what derives from the encryption keys signs
}

// File returns where the file of audit records is, or "".
func (a Audit) File() string {
	if a.Store == AuditNone || !a.On() {
		return ""
	}
	return cmp.Or(a.Path, a.OldPath)
}

// On reports whether audit records are kept.
func (a Audit) On() bool { return a.Enabled || a.OldPath != "" }

// Limits bounds what requests and connections may cost.
type Limits struct {
	MaxBodyBytes   int64
	MaxBodyValues  int
	BodyMemory     int64    // of all bodies under way, in bytes; 0: what the process has memory for
	BodyRate       int64    // bytes a second of a large body at least; 0: no limit
	Connections    int      // of clients; 0: no limit
	Organisation   int64    // that the records of one may take, in bytes; 0: no limit
	Failures       int      // wrong credentials from one address in a minute; 0: no limit
	Proxies        []string // addresses and networks; X-Forwarded-For of them says who calls
	MaxDepth       int      // of nested arrays and objects in a body
	RequestTimeout time.Duration
	WriteTime      time.Duration // for which one unit of work may hold the writer
}

// Deliveries says how events are sent to receivers outside.
type Deliveries struct {
	Enabled    bool
	Workers    int
	Pause      time.Duration // after the first failed attempt
	KeepDone   time.Duration
	KeepFailed time.Duration
	Networks   []string // addresses and networks that may be reached although they are not public
}

// Allowed returns the networks that may be reached although they are not public, or
// false when one is no network and no address.
func (d Deliveries) Allowed() ([]netip.Prefix, bool) { return networks(d.Networks) }

// TrustedProxies returns the networks of the proxies, or false when one is no
// network and no address.
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

// Security holds switches of the permission check.
type Security struct {
	OpenPolicy            OpenPolicy
	AdditionalPermissions map[string]string // custom permission → label
	PasswordMaxDays       int
	PasswordHistory       int
	FirstLoginChange      bool
	AdminResetsPassword   bool     // administrators may set other users' passwords
	HideAccessKeys        bool     // administrators see no access key of another user
	KeepAccessKeys        bool     // users renew no access key but their own
	AllowedExamples       []string // exact addresses of example repositories; the first is the default
}

// SSO says what people get whom an identity broker has recognised
// (docs/wire/single-sign-on.md).
type SSO struct {
	Broker           bool   // this service is a broker itself
	PrivateProviders bool   // identity providers may have private addresses
	Insecure         bool   // their certificates are not looked at
	BrokerSecret     Secret // credential of identity brokers; "" = none has it
	Lookup           bool
	DefaultGroup     string
	Defaults         map[string]string // permission → level
	AdminDefault     bool
	LoginURL         string
	ErrorURL         string
}

// Sessions says how browsers log in (docs/wire/sessions.md).
type Sessions struct {
	Lifetime      int64 // seconds
	One           bool  // a login ends the other sessions of the user
	SecureCookies bool
	PerName       int // wrong passwords for one name in a window; 0: no limit
	PerAddress    int // wrong passwords from one address in a window; 0: no limit
	Window        int // seconds
	Hidden        bool
	Direct        bool
}

// Mail says how mail is sent to people (docs/wire/sessions.md#forgotten-passwords).
type Mail struct {
	Enabled        bool
	Code           string            // the way, which is smtp
	Server         map[string]Secret // SMTPAddress, SMTPUsername, SMTPPassword, in any letter case
	From, FromName string
	Hostname       string
}

// Setting returns one of the entries about the mail server.
func (m Mail) Setting(name string) string {
	for key, val := range m.Server {
		if strings.EqualFold(key, name) {
			return val.Reveal()
		}
	}
	return ""
}

// PublicURL returns the address under which people reach the control plane, without a
// slash at its end, or "" if that is not known. It never comes from a request, whose
// sender could choose it.
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

// OpenPolicy is the policy engine (docs/wire/rules.md#switches).
type OpenPolicy struct {
	Enabled bool
	Debug   bool // log inputs and outputs of rules
	API     bool // admins may read and replace the rules of their organisation
}

// Bootstrap is the first organisation and its administrator, made at start when
// they do not exist.
type Bootstrap struct {
	OwnerName, OwnerSlug string // of the organisation
	OrgID                string // "" = drawn
	Email                string // "" = no bootstrap at start
	Password             Secret
	FirstName, LastName  string
	AccessKey            Secret // "" = drawn
}

// Active reports whether there is something to bootstrap at start.
func (b Bootstrap) Active() bool { return b.Email != "" }
