package gatewaysim

import (
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// bearer is a parsed token whose signature has not been checked yet.
type bearer struct {
	*jwt.Token
	claims jwt.MapClaims
	text   string // what was signed
	sig    []byte
	kid    string
}

func parseBearer(token string) (*bearer, error) {
	b := &bearer{claims: jwt.MapClaims{}}
	parser := jwt.NewParser()
	t, parts, err := parser.ParseUnverified(token, b.claims)
	if err != nil {
		return nil, err
	}
	b.Token, b.text = t, parts[0]+"."+parts[1]
	b.kid, _ = t.Header["kid"].(string)
	b.sig, err = parser.DecodeSegment(parts[2])
	return b, err
}

func (b *bearer) signedBy(key any) bool {
	return key != nil && b.Method.Verify(b.text, b.sig, key) == nil
}

// decideJWT checks a token by docs/wire/feeds.md#when-gateways-use-the-registry.
func (v view) decideJWT(a *api, token string) Decision {
	if a.IsOAS && a.doc.jwt == nil {
		return dropped // docs/wire/feeds.md#oas-apis: classic part and document disagree
	}
	if token == "" {
		return missingToken(a)
	}
	b, err := parseBearer(token)
	if err != nil {
		return notAuthorized
	}
	if !methodFits(a.JWTSigningMethod, b.Method) {
		return Decision{Status: http.StatusForbidden, Body: "Key not authorized: Unexpected signing method"}
	}
	binding, ok := v.verify(a, b)
	if !ok || a.identity(b.claims) == "" {
		return notAuthorized
	}
	if refusal := a.checkClaims(b.claims, time.Now()); refusal != nil {
		return *refusal
	}
	return v.authorise(a, b.claims, binding)
}

func missingToken(a *api) Decision {
	if a.doc != nil && a.doc.challenge {
		return Decision{Status: http.StatusUnauthorized, Body: noField}
	}
	return Decision{Status: http.StatusBadRequest, Body: noField}
}

// methodFits compares the token's algorithm with jwt_signing_method, which means HMAC when it is
// empty.
func methodFits(want string, method jwt.SigningMethod) bool {
	families := map[string][]string{
		"": {"HS"}, "hmac": {"HS"}, "rsa": {"RS", "PS"}, "ecdsa": {"ES"},
	}
	return slices.ContainsFunc(families[want], func(family string) bool {
		return strings.HasPrefix(method.Alg(), family)
	})
}

// verify finds the key that signed the token: first as the API definition says, and only if that
// says nothing with the identity's own secret or in the registry. The binding is nil unless the key
// is from the registry.
func (v view) verify(a *api, b *bearer) (*Binding, bool) {
	if a.IsOAS && len(a.JWTJWKSURIs) > 0 {
		return nil, slices.ContainsFunc(a.JWTJWKSURIs, func(u jwksURI) bool {
			ttl, _ := time.ParseDuration(u.CacheTimeout) // unparsable text is 0 (docs/wire/classic-definition.md#types)
			return v.signedBySet(a, b, u.URL, ttl)
		})
	}
	if a.JWTSource != "" {
		return nil, v.signedBySource(a, b)
	}
	if secret := v.ownSecret(a, b); secret != "" {
		return nil, b.signedBy(keyFromText(secret, b.Method))
	}
	issuer, hasIssuer := b.claims["iss"]
	for _, binding := range v.registry.byAPI[a.APIID] {
		if hasIssuer && issuer != binding.Issuer {
			continue
		}
		if v.signedBySet(a, b, binding.JWKSURI, 0) {
			return &binding, true
		}
	}
	return nil, false
}

// signedBySet reports whether the token's kid is in the key set, and the signature is valid.
func (v view) signedBySet(a *api, b *bearer, url string, ttl time.Duration) bool {
	if b.kid == "" {
		return false
	}
	key, err := v.p.jwks.key(v.p.ctx, a.APIID, url, b.kid, ttl)
	if err != nil {
		v.p.failed("key set of "+a.APIID, err)
		return false
	}
	return b.signedBy(key)
}

// signedBySource uses jwt_source: base64 of a key set's URL, of a PEM public key or of a secret. A
// plain URL works for one request only (docs/wire/classic-definition.md#jwt).
func (v view) signedBySource(a *api, b *bearer) bool {
	if isURL(a.JWTSource) {
		return v.firstPlainUse(a.APIID) && v.signedBySet(a, b, a.JWTSource, 0)
	}
	source := a.JWTSource
	if decoded, err := base64.StdEncoding.DecodeString(source); err == nil {
		source = string(decoded)
	}
	if isURL(source) {
		return v.signedBySet(a, b, source, 0)
	}
	return b.signedBy(keyFromText(source, b.Method))
}

func isURL(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

func (v view) firstPlainUse(apiID string) bool {
	first := false
	v.p.update(func(*State) { first, v.p.plainUsed[apiID] = !v.p.plainUsed[apiID], true })
	return first
}

// ownSecret returns the secret of the existing key that is the token's identity: its kid unless the
// API skips it, else the identity claim.
func (v view) ownSecret(a *api, b *bearer) string {
	id := a.identity(b.claims)
	if !a.JWTSkipKid && b.kid != "" {
		id = b.kid
	}
	key, _ := v.key(a.OrgID, id)
	return key.JWTSecret
}

// keyFromText parses a secret or a PEM public key; nil if it is neither.
func keyFromText(text string, method jwt.SigningMethod) any {
	var key any
	err := errors.ErrUnsupported
	switch method.(type) {
	case *jwt.SigningMethodHMAC:
		return []byte(text)
	case *jwt.SigningMethodRSA, *jwt.SigningMethodRSAPSS:
		key, err = jwt.ParseRSAPublicKeyFromPEM([]byte(text))
	case *jwt.SigningMethodECDSA:
		key, err = jwt.ParseECPublicKeyFromPEM([]byte(text))
	}
	if err != nil {
		return nil
	}
	return key
}
