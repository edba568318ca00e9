package gatewaysim

import (
	"crypto/x509"
	"sync"
	"time"
)

// Store is the shared data of the gateways of an installation, as in a real Redis: keys,
// OAuth clients and their tokens, certificates, limits of organisations and their counters.
// The zero value is empty and ready.
type Store struct {
	mu           sync.Mutex
	keys         map[string]*storedKey // by the name under which they are stored
	orgKeys      map[string]map[string]any
	clients      map[clientKey]*oauthClient
	certificates map[string]*certificate // by identifier
	counters     map[counterKey]*counter
	gateways     []*Gateway
}

// storedKey is a key or a basic-auth user.
type storedKey struct {
	session  map[string]any
	password []byte // password hash of a basic-auth user; nil: it is not one
}

// clientKey identifies an OAuth client of an API.
type clientKey struct{ api, id string }

// oauthClient is a client of the gateways' authorisation server.
type oauthClient struct {
	ID          string `json:"client_id"`
	Redirect    string `json:"redirect_uri"`
	Policy      string `json:"policy_id"`
	Secret      string `json:"secret"`
	Meta        any    `json:"meta_data"`
	Description string `json:"description"`

	tokens map[string]time.Time // by name of the key: when it expires
}

// certificate is a certificate or a bare public key.
type certificate struct {
	x509    *x509.Certificate // nil: a bare key
	private bool
}

// join adds a gateway that shares the store.
func (s *Store) join(g *Gateway) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gateways = append(s.gateways, g)
	if s.keys == nil {
		s.keys, s.orgKeys = map[string]*storedKey{}, map[string]map[string]any{}
		s.clients, s.certificates = map[clientKey]*oauthClient{}, map[string]*certificate{}
		s.counters = map[counterKey]*counter{}
	}
}

// forget removes the counters of a key.
func (s *Store) forget(kept string) {
	for key := range s.counters {
		if key.identity == kept {
			delete(s.counters, key)
		}
	}
}

// HasKey reports whether a key is stored under a name, which is its hash unless keys are
// not hashed.
func (s *Store) HasKey(kept string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[kept] != nil
}

// Keys returns the number of keys.
func (s *Store) Keys() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.keys)
}
