package gatewaysim

import (
	"net/http"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// sessionKey identifies the session of a subject in an organisation.
type sessionKey struct{ org, subject string }

// authorise determines the policies for a valid token, by the table of
// docs/wire/feeds.md#when-gateways-use-the-registry.
func (v view) authorise(a *api, claims jwt.MapClaims, b *Binding) Decision {
	session := sessionKey{a.OrgID, a.identity(claims)}
	policies, refusal := v.choosePolicies(a, claims, b, session)
	if refusal != nil {
		return *refusal
	}
	switch s, err := newSession(v.policies, a.OrgID, policies); {
	case err != nil:
		return Decision{Status: http.StatusForbidden, Body: "key not authorized: could not apply several policies"}
	case s.Inactive:
		return inactive
	case !s.Grants(a.APIID):
		return disallowed
	}
	v.remember(session, claims)
	return Decision{Status: http.StatusOK, Policies: policies, Identity: session.subject}
}

func (v view) choosePolicies(a *api, claims jwt.MapClaims, b *Binding, session sessionKey) ([]string, *Decision) {
	forbid := func(text string) *Decision { return refuse(http.StatusForbidden, "key not authorized: "+text) }
	var policies []string
	if base := a.basePolicy(claims); base != "" {
		policies = []string{base}
	}
	scopes, present := scopesOf(claims, a.scopeClaim(claims, b))
	if mapping := a.scopeMap(b); present && len(mapping) > 0 {
		mapped := mapScopes(scopes, mapping)
		if len(mapped) == 0 {
			return nil, forbid("no matching policy found in scope claim") // defaults do not apply to a wrong scope
		}
		return appendNew(policies, mapped), nil
	}
	switch {
	case len(policies) > 0:
		return policies, nil
	case len(a.JWTDefaultPolicies) > 0:
		return a.JWTDefaultPolicies, nil
	case !present && v.known(session):
		return nil, forbid("no scope or policy in token")
	}
	return nil, forbid("no matching policy found")
}

// known reports whether the subject has a session that has not expired.
func (v view) known(key sessionKey) bool {
	v.p.gw.mu.Lock()
	defer v.p.gw.mu.Unlock()
	expires, ok := v.p.sessions[key]
	return ok && (expires.IsZero() || time.Now().Before(expires))
}

// remember creates or renews the subject's session, which expires with the token.
func (v view) remember(key sessionKey, claims jwt.MapClaims) {
	var expires time.Time
	if t, _ := claims.GetExpirationTime(); t != nil {
		expires = t.Time
	}
	v.p.gw.mu.Lock()
	defer v.p.gw.mu.Unlock()
	v.p.sessions[key] = expires
}

// basePolicy returns the policy that the token itself names, or "".
func (a *api) basePolicy(claims jwt.MapClaims) string {
	var names []string
	if a.doc != nil && a.doc.jwt != nil {
		names = a.doc.jwt.BasePolicyClaims
	}
	if a.JWTPolicyField != "" {
		names = append(slices.Clone(names), a.JWTPolicyField)
	}
	return firstText(claims, names...)
}
