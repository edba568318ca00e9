package gatewaysim

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net"
	"net/http"
	"sync"

	"github.com/golang-jwt/jwt/v5"
)

// Issuer is an identity provider for tests: it signs tokens with an RSA key and
// serves the public half as a key set on a loopback port.
type Issuer struct {
	server *http.Server
	url    string

	mu      sync.Mutex // guards the fields below
	key     *rsa.PrivateKey
	kid     string
	fetches int
}

// NewIssuer starts an issuer with a new key. It panics if there is no free loopback
// port. Close it when done.
func NewIssuer() *Issuer {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("gatewaysim: issuer: " + err.Error())
	}
	i := &Issuer{url: "http://" + listener.Addr().String()}
	i.Rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /jwks.json", i.ServeKeys)
	i.server = &http.Server{Handler: mux}
	go func() { _ = i.server.Serve(listener) }() // ends with Close
	return i
}

// URL returns the issuer's name, for iss.
func (i *Issuer) URL() string { return i.url }

// JWKSURL returns the address of the key set.
func (i *Issuer) JWKSURL() string { return i.url + "/jwks.json" }

// Sign returns an RS256 token with exactly these claims and the current key's id as
// kid. It panics if the claims cannot be encoded as JSON.
func (i *Issuer) Sign(claims map[string]any) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims(claims))
	token.Header["kid"] = i.kid
	signed, err := token.SignedString(i.key)
	if err != nil {
		panic("gatewaysim: issuer: " + err.Error())
	}
	return signed
}

// Rotate replaces the key: the key set then contains only the new one.
func (i *Issuer) Rotate() {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic("gatewaysim: issuer: " + err.Error())
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.key, i.kid = key, newUUID()
}

// Fetches returns how many times the key set was fetched.
func (i *Issuer) Fetches() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

// Close stops the server at once.
func (i *Issuer) Close() { _ = i.server.Close() }

// ServeKeys answers with the key set.
func (i *Issuer) ServeKeys(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	i.fetches++
	public, kid := i.key.PublicKey, i.kid
	i.mu.Unlock()
	encode := base64.RawURLEncoding.EncodeToString
	body, _ := json.Marshal(map[string]any{"keys": []jwk{{
		KID: kid, KTY: "RSA", Use: "sig", Alg: "RS256",
		N: encode(public.N.Bytes()), E: encode(big.NewInt(int64(public.E)).Bytes()),
	}}})
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // an error means that the client has disconnected
}
