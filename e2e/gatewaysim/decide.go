package gatewaysim

import (
	"net/http"
	"strings"
	"time"
)

// Decision is what the gateway would answer a request.
type Decision struct {
	Status   int      // 0: the connection is dropped without an answer
	Body     string   // the refusal's message, "" when allowed
	Policies []string // applied, in order
	Identity string   // subject of the token, or the key
}

// Key is an access key whose rights come from policies, as one created through
// the gateway's control API with apply_policies.
type Key struct {
	OrgID     string
	Policies  []string
	JWTSecret string // verifies tokens whose identity is this key (section 5.2, step 3)
}

// PutKey creates or replaces a key. Keys live outside the process and survive a
// restart.
func (g *Gateway) PutKey(token string, key Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keys[token] = key
}

const noField = "Authorization field missing"

// Refusals that have one text whatever the reason.
var (
	notAuthorized = Decision{Status: http.StatusForbidden, Body: "Key not authorized"}
	disallowed    = Decision{Status: http.StatusForbidden, Body: "Access to this API has been disallowed"}
	inactive      = Decision{Status: http.StatusForbidden, Body: "Key is inactive, please renew"}
	dropped       = Decision{}
)

func refuse(status int, body string) *Decision { return &Decision{Status: status, Body: body} }

// view is the loaded configuration as one decision sees it.
type view struct {
	p        *process
	running  bool
	apis     *apiSet
	policies map[policyKey]*policy
	registry *registry
}

func (g *Gateway) view() view {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.proc
	return view{p, p.running(), p.apis, p.policies, p.registry}
}

// Decide says what a request to the API with this token would be answered. The
// token is the value of the credential's header, with or without Bearer; ""
// means that there is none. It may fetch a key set.
func (g *Gateway) Decide(apiID, token string) Decision {
	v := g.view()
	if !v.running {
		return dropped
	}
	a := v.apis.byID[apiID]
	if a == nil {
		return Decision{Status: http.StatusNotFound, Body: http.StatusText(http.StatusNotFound)}
	}
	return v.decide(a, token)
}

// decide runs the checks in the gateway's order: the version of the API, then
// the credential, then the upstream (sections 3.2 and 5.2).
func (v view) decide(a *api, token string) Decision {
	if refusal := a.checkVersion(time.Now()); refusal != nil {
		return *refusal
	}
	d := v.authenticate(a, trimBearer(token))
	if d.Status == http.StatusOK && a.Proxy.TargetURL == "" {
		return Decision{Status: http.StatusInternalServerError, Body: http.StatusText(http.StatusInternalServerError)}
	}
	return d
}

func trimBearer(token string) string {
	if scheme, rest, ok := strings.Cut(token, " "); ok && strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(rest)
	}
	return token
}

// checkVersion refuses what an incomplete definition makes unusable (section
// 3.2). A decision names no version, so a versioned API needs a default.
func (a *api) checkVersion(now time.Time) *Decision {
	_, isDefault := a.VersionData.Versions[a.VersionData.DefaultVersion]
	expires, err := time.Parse("2006-01-02 15:04", a.Expiration)
	switch {
	case err == nil && now.After(expires):
		return refuse(http.StatusForbidden, http.StatusText(http.StatusForbidden))
	case a.VersionData.NotVersioned && len(a.VersionData.Versions) == 0:
		return refuse(http.StatusForbidden, "No default API version for this non-versioned API found")
	case !a.VersionData.NotVersioned && (a.VersionData.DefaultVersion == "" || !isDefault):
		return refuse(http.StatusForbidden, "Version information not found")
	}
	return nil
}

func (v view) authenticate(a *api, token string) Decision {
	switch {
	case a.UseKeyless:
		return Decision{Status: http.StatusOK}
	case !a.EnableJWT:
		return v.decideKey(a, token)
	}
	d := v.decideJWT(a, token)
	if d.Status == http.StatusOK && a.StandardAuth {
		return v.decideKey(a, token) // several methods: all of them must pass
	}
	return d
}

// decideKey judges a key by the policies it has now.
func (v view) decideKey(a *api, token string) Decision {
	if token == "" {
		return Decision{Status: http.StatusUnauthorized, Body: noField}
	}
	key, ok := v.key(a.OrgID, token)
	if !ok || len(key.Policies) == 0 {
		return disallowed
	}
	switch g := grant(v.policies, a.OrgID, key.Policies, a.APIID); {
	case g.missing:
		return disallowed
	case g.inactive:
		return inactive
	case !g.grants:
		return disallowed
	}
	return Decision{Status: http.StatusOK, Policies: key.Policies, Identity: token}
}

// key finds a key of an organisation.
func (v view) key(org, token string) (Key, bool) {
	g := v.p.gw
	g.mu.Lock()
	defer g.mu.Unlock()
	key, ok := g.keys[token]
	if !ok || key.OrgID != org {
		return Key{}, false
	}
	return key, true
}
