package gatewaysim

import (
	"crypto/x509"
	"sync"
	"time"
)

// Store is what the gateways of an installation share, as real ones share a Redis: keys,
// OAuth clients and their tokens, certificates, limits of organisations and what is left of
// them. The zero value is empty and ready.
type Store struct {
	mu           sync.Mutex
	keys         map[string]*storedKey // by the name under which they are kept
	orgKeys      map[string]map[string]any
	clients      map[clientKey]*oauthClient
	certificates map[string]*certificate // by identifier
	counters     map[counterKey]*counter
	gateways     []*Gateway
}

// storedKey is a key or a basic-auth user.
type storedKey struct {
	session  map[string]any
	password []byte // hash of a basic-auth user's; nil: it is none
}

// clientKey names an OAuth client of an API.
type clientKey struct{ api, id string }

// oauthClient is a client of the authorisation server of gateways.
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

// join adds a gateway to those that share the store.
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

// forget removes what was counted for a key.
func (s *Store) forget(kept string) {
	for key := range s.counters {
		if key.identity == kept {
			delete(s.counters, key)
		}
	}
}

// HasKey reports whether a key is kept under a name, which is its hash unless keys are not
// hashed.
func (s *Store) HasKey(kept string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[kept] != nil
}

// Keys returns how many keys there are.
func (s *Store) Keys() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.keys)
}
