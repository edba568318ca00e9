package app

import (
	"log/slog"
	nethttp "net/http"
	"net/netip"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/certificates"
	"github.com/gatehouse-io/gatehouse/app/collector"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/gateway"
	"github.com/gatehouse-io/gatehouse/app/health"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/keys"
	"github.com/gatehouse-io/gatehouse/app/outbound"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/analytics"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	gatewayport "github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/observe"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/presence"
	"github.com/gatehouse-io/gatehouse/ports/rules"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// settings is what the options say, by area. The graph has a value for each area, and a
// constructor takes those that it needs.
type settings struct {
	basics
	storage
	people
	admission
	nodes
	transport
	outside
	announcing
	probing
	embedded
	portal      portalSettings
	deliveries  delivery.Settings
	listeners   identity.Listeners
	collector   collector.Settings
	definitions Definitions
}

// basics is what everything is made of.
type basics struct {
	log      *slog.Logger
	now      system.Clock
	newID    system.NewID
	newAPIID system.NewID
	pageSize int
}

// storage says where records are kept, and how they are read.
type storage struct {
	store     store.Store
	reads     replicated.Mode
	staleness time.Duration
	history   history
	audit     audit.Settings
}

// history is what is kept of it; 0: whatever its age, whatever its size.
type history struct {
	age   time.Duration
	bytes int64
}

// people says how users prove who they are.
type people struct {
	keys             secret.Keys
	passwords        secret.Passwords
	multiOrg         bool
	custom           map[string]string
	adminResets      bool
	sessions         session.Config
	passwordSettings identity.PasswordSettings
	hideKeys         bool
	keepKeys         bool
}

// admission says who gets in besides users.
type admission struct {
	adminSecret  string
	brokerSecret string
	failures     int
	maintenance  bool
	organisation int64 // bytes of one organisation's documents; 0: any
}

// nodes says how gateways are known.
type nodes struct {
	nodeSecret string
	board      presence.Board
}

// transport bounds requests and watches them.
type transport struct {
	observer  observe.Observer
	requestID func() string
	maxBody   int64
	maxDepth  int
	maxValues int
	bodyRate  int64
	room      *load.Room
	proxies   []netip.Prefix
	deadline  time.Duration
}

// bodies is what a body may have.
func (t transport) bodies() doc.Room { return doc.Room{Bytes: int(t.maxBody), Values: t.maxValues} }

// outside is what the service may reach.
type outside struct {
	fetcher    fetch.Fetcher
	gateways   []outbound.Gateway
	gatewayAPI outbound.GatewayAPI
	examples   []string
	control    *gatewayport.Control
	keyRules   keys.Settings
	traffic    analytics.Reader // nil: nothing is known of it
	unmasked   bool             // recorded messages are shown with their credentials
	separator  string           // of redirect addresses
	expiry     certificates.Expiry
}

// announcing says where commits are announced, and when.
type announcing struct {
	sinks   []notify.Sink
	serving func() error
}

// probing is what probes report.
type probing struct {
	version    string
	healthPath string
	checks     []health.Check
}

// embedded is what the embedding program adds.
type embedded struct {
	rules     func(Tools) (rules.Engine, error)
	workshop  func(Tools) (rules.Workshop, error)
	checker   func(Tools) rules.Checker
	services  []func(Tools) operation.Service
	resources []crud.Registrar
	front     []func(nethttp.Handler) nethttp.Handler
}

// newSettings returns the defaults with the options applied.
func newSettings(opts ...Option) settings {
	s := settings{
		basics:    basics{log: slog.Default(), now: time.Now, pageSize: 10, newAPIID: newAPIID},
		storage:   storage{reads: replicated.Current, staleness: time.Minute},
		people:    people{passwords: crypto.Passwords{}},
		transport: transport{requestID: crypto.NewUUID, maxBody: httpadapter.MaxBody, maxValues: httpadapter.MaxValues},
		outside:   outside{fetcher: nowhere{}},
		probing:   probing{version: "dev", healthPath: "/health"},
	}
	for _, opt := range opts {
		opt(&s)
	}
	if s.newID == nil {
		s.newID = crypto.NewID(s.now)
	}
	if s.fetcher == nil {
		s.fetcher = nowhere{}
	}
	if s.board == nil {
		s.board = gateway.NewMemory()
	}
	return s
}
