package gatewaysim

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"sync"
	"time"
)

// keySets caches fetched key sets per API and URL. A set is cached for its whole
// lifetime, even if it is empty or lacks a key (docs/wire/feeds.md#cached-keys).
type keySets struct {
	http *http.Client
	ttl  time.Duration

	mu   sync.Mutex
	sets map[keySetID]keySet
}

type keySetID struct{ api, url string }

type keySet struct {
	keys    map[string]any // by kid: *rsa.PublicKey or *ecdsa.PublicKey
	expires time.Time
}

func newKeySets(client *http.Client, ttl time.Duration) *keySets {
	return &keySets{http: client, ttl: ttl, sets: map[keySetID]keySet{}}
}

// key returns the key with this kid, nil when the set does not have it or cannot be
// fetched. ttl zero means the gateway's default.
func (k *keySets) key(ctx context.Context, apiID, url, kid string, ttl time.Duration) (any, error) {
	id := keySetID{apiID, url}
	k.mu.Lock()
	set, cached := k.sets[id]
	k.mu.Unlock()
	if cached && time.Now().Before(set.expires) {
		return set.keys[kid], nil
	}
	keys, err := k.fetch(ctx, url)
	if err != nil {
		return nil, err // an error is not cached: the next token tries again
	}
	if ttl <= 0 {
		ttl = k.ttl
	}
	k.mu.Lock()
	k.sets[id] = keySet{keys, time.Now().Add(ttl)}
	k.mu.Unlock()
	return keys[kid], nil
}

// drop removes the key sets of one API from the cache.
func (k *keySets) drop(apiID string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id := range k.sets {
		if id.api == apiID {
			delete(k.sets, id)
		}
	}
}

func (k *keySets) fetch(ctx context.Context, url string) (map[string]any, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("key set: %w", err)
	}
	resp, err := k.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("key set: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("key set: status %d", resp.StatusCode)
	}
	var set struct{ Keys []jwk }
	if err := json.NewDecoder(resp.Body).Decode(&set); err != nil {
		return nil, fmt.Errorf("key set: %w", err)
	}
	keys := map[string]any{}
	for _, j := range set.Keys {
		if public := j.public(); public != nil && keys[j.KID] == nil {
			keys[j.KID] = public
		}
	}
	return keys, nil
}

// jwk is a public key in JSON (RFC 7517, RFC 7518 section 6).
type jwk struct {
	KID string `json:"kid"`
	KTY string `json:"kty"`
	Use string `json:"use,omitempty"`
	Alg string `json:"alg,omitempty"`
	N   string `json:"n,omitempty"`
	E   string `json:"e,omitempty"`
	CRV string `json:"crv,omitempty"`
	X   string `json:"x,omitempty"`
	Y   string `json:"y,omitempty"`
}

// public returns the key, or nil if it is not a valid RSA or EC key.
func (j jwk) public() any {
	switch j.KTY {
	case "RSA":
		n, e := b64uint(j.N), b64uint(j.E)
		if n.Sign() == 0 || !e.IsInt64() || e.Int64() < 2 || e.Int64() > 1<<31-1 {
			return nil
		}
		return &rsa.PublicKey{N: n, E: int(e.Int64())}
	case "EC":
		curve := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}[j.CRV]
		if curve == nil {
			return nil
		}
		return ecPublic(curve, b64uint(j.X), b64uint(j.Y))
	}
	return nil
}

// ecPublic returns nil for a point that is not on the curve.
func ecPublic(curve elliptic.Curve, x, y *big.Int) any {
	size := (curve.Params().BitSize + 7) / 8
	if len(x.Bytes()) > size || len(y.Bytes()) > size {
		return nil
	}
	point := append([]byte{4}, x.FillBytes(make([]byte, size))...)
	point = append(point, y.FillBytes(make([]byte, size))...)
	public, err := ecdsa.ParseUncompressedPublicKey(curve, point)
	if err != nil {
		return nil
	}
	return public
}

func b64uint(text string) *big.Int {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return new(big.Int)
	}
	return new(big.Int).SetBytes(raw)
}
