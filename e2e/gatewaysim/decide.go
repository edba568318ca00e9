package gatewaysim

import (
	"cmp"
	"crypto/x509"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Decision is the gateway's answer to a request.
type Decision struct {
	Status   int      // 0: the connection is closed without an answer
	Body     string   // the error message, "" if allowed
	Policies []string // applied, in order
	Identity string   // subject of the token, or the key
}

// Key is an access key whose rights come from policies, like one created through the
// gateway's control API with apply_policies.
type Key struct {
	OrgID     string
	Policies  []string
	JWTSecret string // verifies tokens whose identity is this key (docs/wire/feeds.md#when-gateways-use-the-registry)
}

// PutKey creates or replaces a key. Keys are stored outside the process and survive a
// restart.
func (g *Gateway) PutKey(token string, key Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keys[token] = key
}

const noField = "Authorization field missing"

// Refusals whose text does not depend on the reason.
var (
	notAuthorized = Decision{Status: http.StatusForbidden, Body: "Key not authorized"}
	disallowed    = Decision{Status: http.StatusForbidden, Body: "Access to this API has been disallowed"}
	inactive      = Decision{Status: http.StatusForbidden, Body: "Key is inactive, please renew"}
	dropped       = Decision{}
)

func refuse(status int, body string) *Decision { return &Decision{Status: status, Body: body} }

// view is the loaded configuration for one decision.
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

// request is the part of a client's request that a decision reads. Without a method
// only its credential is checked.
type request struct {
	method string
	path   string // below the listen path, with a leading slash
	header http.Header
	query  url.Values
	token  string // replaces the value of the header
	rpc    *rpcCall
	cert   *x509.Certificate // of the client; nil: none
	held   *held             // of an accepted key that was created through the control API
}

// Decide returns whether the API with this id would accept this credential. The token
// is the value of the credential's header, with or without Bearer; "" means that there
// is none. Decide may fetch a key set. Only Handler checks versions, path lists, rights
// on single requests and limits.
func (g *Gateway) Decide(apiID, token string) Decision {
	v := g.view()
	if !v.running {
		return dropped
	}
	a := v.apis.byID[apiID]
	if a == nil {
		return Decision{Status: http.StatusNotFound, Body: http.StatusText(http.StatusNotFound)}
	}
	return v.decide(a, &request{token: token})
}

// decide runs the checks in the gateway's order: the version of the API, its path
// lists, the credential and its permissions, the upstream (sections 3.2 and 5.2).
func (v view) decide(a *api, r *request) Decision {
	if refusal := a.checkVersion(time.Now()); refusal != nil {
		return *refusal
	}
	if r.method != "" {
		open, refusal := a.checkPath(r.method, r.endpoint())
		if refusal != nil {
			return *refusal
		}
		if open {
			return Decision{Status: http.StatusOK}
		}
	}
	d := v.authenticate(a, r, trimBearer(cmp.Or(r.token, r.header.Get(a.tokenHeader()))))
	if d.Status == http.StatusOK && r.method != "" {
		if refusal := v.judge(a, r, d); refusal != nil {
			return *refusal
		}
	}
	if d.Status == http.StatusOK && a.Proxy.TargetURL == "" {
		return Decision{Status: http.StatusInternalServerError, Body: http.StatusText(http.StatusInternalServerError)}
	}
	return d
}

// endpoint returns the path for the lists; for a JSON-RPC call, its method.
func (r *request) endpoint() string {
	if r.rpc != nil {
		return "/" + r.rpc.Method
	}
	return r.path
}

// judge checks one request against the permissions of its accepted credential, and
// counts it. A keyless API has no credential: only its own tool rules apply.
func (v view) judge(a *api, r *request, d Decision) *Decision {
	if a.mcp && !a.doc.permits(r.rpc) {
		return &noPrimitive
	}
	var s Session
	key := counterKey{org: a.OrgID, identity: d.Identity}
	if r.held != nil {
		s, key.identity, key.stored = r.held.Session, r.held.kept, true
	} else {
		if len(d.Policies) == 0 {
			return nil
		}
		var err error
		if s, err = newSession(v.policies, a.OrgID, d.Policies); err != nil {
			return &disallowed // the policies have changed since the credential was checked
		}
	}
	access := s.Rights[a.APIID]
	switch {
	case a.mcp && !access.permitsCall(r.rpc):
		return &noPrimitive
	case !a.mcp && !access.permits(r.method, r.path):
		return refuse(http.StatusForbidden, "Access to this resource has been disallowed")
	}
	l, scope := s.limit(a.APIID)
	key.scope = scope
	if refusal := v.limited(key, l); refusal != nil || !a.mcp {
		return refusal
	}
	for name, l := range access.callLimits(r.rpc) {
		key.scope = a.APIID + " " + name
		if refusal := v.limited(key, l); refusal != nil {
			return refusal
		}
	}
	return nil
}

func trimBearer(token string) string {
	if scheme, rest, ok := strings.Cut(token, " "); ok && strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(rest)
	}
	return token
}

// checkVersion refuses APIs that an incomplete definition makes unusable (section 3.2).
// A decision names no version, so a versioned API needs a default.
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

func (v view) authenticate(a *api, r *request, token string) Decision {
	switch {
	case a.UseKeyless:
		return Decision{Status: http.StatusOK}
	case a.MutualTLS && !v.trusts(a, r.cert):
		return Decision{Status: http.StatusForbidden, Body: "Certificate with SHA256 is not allowed"}
	case a.MutualTLS && !a.StandardAuth && !a.OAuth && !a.EnableJWT:
		return Decision{Status: http.StatusOK}
	case a.BasicAuth:
		return v.decideUser(a, r, token)
	case !a.EnableJWT:
		return v.decideKey(a, r, token)
	}
	d := v.decideJWT(a, token)
	if d.Status == http.StatusOK && a.StandardAuth {
		return v.decideKey(a, r, token) // with several methods, all must pass
	}
	return d
}

// decideKey checks a key with its current policies.
func (v view) decideKey(a *api, r *request, token string) Decision {
	if token == "" {
		return Decision{Status: http.StatusUnauthorized, Body: noField}
	}
	key, ok := v.key(a.OrgID, token)
	if !ok || len(key.Policies) == 0 {
		return v.decideStored(a, r, token)
	}
	switch s, err := newSession(v.policies, a.OrgID, key.Policies); {
	case err != nil:
		return disallowed
	case s.Inactive:
		return inactive
	case !s.Grants(a.APIID):
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
