package gatewaysim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// claim returns a claim by its name, or by a dotted name for nested objects
// (docs/wire/feeds.md#when-gateways-use-the-registry).
func claim(claims map[string]any, name string) (any, bool) {
	if v, ok := claims[name]; ok {
		return v, true
	}
	head, rest, dotted := strings.Cut(name, ".")
	inner, ok := claims[head].(map[string]any)
	if !dotted || !ok {
		return nil, false
	}
	return claim(inner, rest)
}

// firstText returns the first of the named claims that is a non-empty text.
func firstText(claims jwt.MapClaims, names ...string) string {
	for _, name := range names {
		v, _ := claim(claims, name)
		if text, ok := v.(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// identity returns the subject of a token: from the claims that the OAS document names,
// then the one that the definition names, then sub.
func (a *api) identity(claims jwt.MapClaims) string {
	var names []string
	if a.doc != nil && a.doc.jwt != nil {
		names = a.doc.jwt.SubjectClaims
	}
	return firstText(claims, slices.Concat(names, []string{a.JWTIdentityField, "sub"})...)
}

// checkClaims refuses expired or premature tokens, and tokens that an OAS document's
// lists exclude. The texts for expiry, issuer and absent audience are known; the others
// are made in the same way.
func (a *api) checkClaims(claims jwt.MapClaims, now time.Time) *Decision {
	unauthorised := func(format string, args ...any) *Decision {
		return refuse(http.StatusUnauthorized, "Key not authorized: "+fmt.Sprintf(format, args...))
	}
	expires, errE := claims.GetExpirationTime()
	starts, errS := claims.GetNotBefore()
	issued, errI := claims.GetIssuedAt()
	seconds := func(n int64) time.Duration { return time.Duration(n) * time.Second }
	switch {
	case errE != nil || errS != nil || errI != nil:
		return &notAuthorized
	case expires != nil && now.After(expires.Add(seconds(a.JWTExpiresSkew))):
		return unauthorised("token has expired")
	case starts != nil && now.Before(starts.Add(-seconds(a.JWTNotBeforeSkew))):
		return unauthorised("token is not valid yet")
	case issued != nil && now.Before(issued.Add(-seconds(a.JWTIssuedSkew))):
		return unauthorised("token used before issued")
	case a.doc == nil || a.doc.jwt == nil:
		return nil
	}
	rules := a.doc.jwt
	audience, _ := claims.GetAudience()
	issuer, subject := firstText(claims, "iss"), a.identity(claims)
	allowed := func(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
	switch {
	case !allowed(rules.AllowedIssuers, issuer):
		return unauthorised("invalid issuer claim: %s", issuer)
	case len(rules.AllowedAudiences) > 0 && len(audience) == 0:
		return unauthorised("audience claim is required but not present in token")
	case len(rules.AllowedAudiences) > 0 && !slices.ContainsFunc(audience, func(s string) bool { return slices.Contains(rules.AllowedAudiences, s) }):
		return unauthorised("invalid audience claim: %s", strings.Join(audience, " "))
	case !allowed(rules.AllowedSubjects, subject):
		return unauthorised("invalid subject claim: %s", subject)
	}
	return nil
}
