package gatewaysim

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// docs/wire/feeds.md#cached-keys: a set is cached for its time, even if it lacks keys.
func TestKeySetCache(t *testing.T) {
	i := newIssuer(t)
	k := newKeySets(http.DefaultClient, time.Hour)
	kid := i.kid
	get := func(api, url, kid string, ttl time.Duration) any {
		t.Helper()
		key, err := k.key(t.Context(), api, url, kid, ttl)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	fetched := func(what string, want int) {
		t.Helper()
		if n := i.Fetches(); n != want {
			t.Errorf("%s: %d fetches, want %d", what, n, want)
		}
	}
	if get("a", i.JWKSURL(), kid, 0) == nil {
		t.Fatal("key not found")
	}
	if get("a", i.JWKSURL(), "unknown", 0) != nil {
		t.Error("an unknown kid has a key")
	}
	fetched("a missing kid must not refetch", 1)
	get("b", i.JWKSURL(), kid, 0)
	fetched("each API has its own cache", 2)
	get("a", i.JWKSURL()+"?v=2", kid, 0)
	fetched("a changed URL is another set", 3)
	i.Rotate()
	if get("a", i.JWKSURL(), i.kid, 0) != nil {
		t.Error("rotation was noticed")
	}
	k.drop("a")
	if get("a", i.JWKSURL(), i.kid, 0) == nil {
		t.Error("rotation was not noticed after the cache was dropped")
	}
	fetched("only the API's sets are dropped", 4)
	get("b", i.JWKSURL(), kid, 0)
	fetched("the other API's set stays", 4)
	get("c", i.JWKSURL(), kid, time.Nanosecond)
	get("c", i.JWKSURL(), kid, time.Nanosecond)
	fetched("a set past its own time", 6)
}

func TestKeySetFailuresAreNotCached(t *testing.T) {
	answers := []string{`not json`, `{"keys":[]}`, `{"keys":[{"kid":"late"}]}`}
	status := http.StatusInternalServerError
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, answers[min(n, len(answers)-1)])
		n++
	}))
	t.Cleanup(server.Close)
	k := newKeySets(http.DefaultClient, time.Hour)
	for _, url := range []string{server.URL, "file:///x", "http://127.0.0.1:1/", "\x00"} {
		if _, err := k.key(t.Context(), "a", url, "late", 0); err == nil {
			t.Errorf("%q: no error", url)
		}
	}
	status, n = http.StatusOK, 0
	if _, err := k.key(t.Context(), "a", server.URL, "late", 0); err == nil {
		t.Error("no error for a body that is no JSON")
	}
	for range 2 { // the empty set is a valid answer and is cached
		if key, err := k.key(t.Context(), "a", server.URL, "late", 0); key != nil || err != nil {
			t.Errorf("key %v, error %v", key, err)
		}
	}
	if n != 2 {
		t.Errorf("%d fetches, want one failed and one kept", n)
	}
}

func TestJWKForms(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := ec.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	x, y := b64(point[1:49]), b64(point[49:])
	key, ok := jwk{KTY: "EC", CRV: "P-384", X: x, Y: y}.public().(*ecdsa.PublicKey)
	if !ok || !key.Equal(&ec.PublicKey) {
		t.Errorf("EC key %v", key)
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodES384, jwt.MapClaims{"sub": "s"}).SignedString(ec)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := parseBearer(token); err != nil || !b.signedBy(key) {
		t.Errorf("ES384 signature refused: %v", err)
	}
	for name, j := range map[string]jwk{
		"empty":             {},
		"symmetric":         {KTY: "oct"},
		"RSA without n":     {KTY: "RSA", E: "AQAB"},
		"RSA without e":     {KTY: "RSA", N: "AQAB"},
		"RSA not base64":    {KTY: "RSA", N: "!", E: "AQAB"},
		"EC unknown curve":  {KTY: "EC", CRV: "P-1", X: x, Y: y},
		"EC off the curve":  {KTY: "EC", CRV: "P-384", X: x, Y: x},
		"EC of wrong curve": {KTY: "EC", CRV: "P-256", X: x, Y: y},
	} {
		if public := j.public(); public != nil {
			t.Errorf("%s: %v", name, public)
		}
	}
}

func TestIssuer(t *testing.T) {
	i := newIssuer(t)
	k := newKeySets(http.DefaultClient, time.Hour)
	check := func() bool {
		b, err := parseBearer(i.Sign(map[string]any{"sub": "s", "n": 1}))
		if err != nil || len(b.claims) != 2 {
			t.Fatalf("claims %v, error %v", b.claims, err)
		}
		key, err := k.key(t.Context(), "a", i.JWKSURL(), b.kid, 0)
		if err != nil {
			t.Fatal(err)
		}
		return b.signedBy(key)
	}
	old := i.kid
	if !check() {
		t.Error("own token refused")
	}
	i.Rotate()
	if check() || i.kid == old {
		t.Error("a new key signs, the old set cannot know it")
	}
	k.drop("a")
	if !check() {
		t.Error("own token refused after rotation")
	}
}

func FuzzBearer(f *testing.F) {
	f.Add("a.b.c")
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Add("eyJhbGciOiJIUzI1NiIsImtpZCI6MX0.eyJzdWIiOlsxXSwiZXhwIjoieCJ9.AA")
	a := &api{definition: definition{JWTIdentityField: "a.b"}}
	f.Fuzz(func(t *testing.T, token string) {
		b, err := parseBearer(token)
		if err != nil {
			return
		}
		if b.signedBy([]byte("secret")) && b.Method.Alg() == "none" {
			t.Error("an unsigned token passed")
		}
		a.checkClaims(b.claims, time.Now())
		scopesOf(b.claims, a.scopeClaim(b.claims, nil))
		a.identity(b.claims)
	})
}
