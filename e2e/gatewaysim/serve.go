package gatewaysim

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// Handler serves the gateway's own liveness paths /hello and /ready (section 2.6) and
// answers every request under a listen path with its decision: 200 with the serving API
// and the applied policies as JSON, or the error text. An allowed call to an MCP proxy
// is forwarded to the proxy's target, and a refused one gets a JSON-RPC error. While
// the gateway does not run, connections are closed.
func (g *Gateway) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/hello", g.alive(func(w http.ResponseWriter, s State) {
		writeJSON(w, http.StatusOK, health(s, g.cfg.Redis.Addr != ""))
	}))
	mux.HandleFunc("/ready", g.alive(func(w http.ResponseWriter, s State) {
		if !s.Ready {
			writeJSON(w, http.StatusServiceUnavailable, map[string]string{
				"status": "error", "message": "A successful API reload did not happen",
			})
			return
		}
		writeJSON(w, http.StatusOK, health(s, g.cfg.Redis.Addr != ""))
	}))
	if g.cfg.Secret != "" {
		mux.HandleFunc("/tyk/", g.serveControl)
	}
	mux.HandleFunc("/", g.reporting(g.serveAPI))
	return mux
}

func (g *Gateway) alive(serve func(http.ResponseWriter, State)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s := g.State()
		if !s.Running {
			panic(http.ErrAbortHandler)
		}
		serve(w, s)
	}
}

type component struct {
	Status string    `json:"status"`
	Type   string    `json:"componentType"`
	Time   time.Time `json:"time"`
}

// health returns the body of /hello: pass when all components pass, fail when none
// does, otherwise warn. Redis is listed only when it is configured.
func health(s State, withRedis bool) any {
	now := time.Now().UTC()
	status := map[bool]string{true: "pass", false: "fail"}
	details := map[string]component{"dashboard": {status[s.DashboardUp], "system", now}}
	passing := 0
	if withRedis {
		details["redis"] = component{status[s.Subscribed], "datastore", now}
	}
	for _, c := range details {
		if c.Status == "pass" {
			passing++
		}
	}
	overall := "warn"
	switch {
	case passing == len(details):
		overall = "pass"
	case passing == 0 && withRedis:
		overall = "fail"
	}
	return map[string]any{
		"status": overall, "version": "gatewaysim", "description": "simulated gateway", "details": details,
	}
}

func (g *Gateway) serveAPI(w http.ResponseWriter, r *http.Request) {
	v := g.view()
	if !v.running {
		panic(http.ErrAbortHandler)
	}
	a := v.apis.route(r.URL.Path)
	if a == nil {
		http.NotFound(w, r)
		return
	}
	req := &request{method: r.Method, path: under(a.listenPath, r.URL.Path), header: r.Header.Clone(), query: r.URL.Query()}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		req.cert = r.TLS.PeerCertificates[0]
	}
	a, refusal := v.chooseVersion(a, req)
	switch {
	case refusal != nil:
		writeRefusal(w, *refusal)
	case oauthPath(a, r) == "/oauth/token":
		v.serveToken(w, r, a)
	case oauthPath(a, r) == "/tyk/oauth/authorize-client":
		v.serveAuthorize(w, r, a)
	case a.mcp:
		v.serveMCP(w, r, a, req)
	default:
		writeDecision(w, a, v.decide(a, req))
	}
}

// writeDecision answers as described at Handler.
func writeDecision(w http.ResponseWriter, a *api, d Decision) {
	switch d.Status {
	case 0:
		panic(http.ErrAbortHandler)
	case http.StatusOK:
		writeJSON(w, d.Status, map[string]any{
			"api_id": a.APIID, "policies": append([]string{}, d.Policies...), "identity": d.Identity,
		})
	default:
		writeRefusal(w, d)
	}
}

func writeRefusal(w http.ResponseWriter, d Decision) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(d.Status)
	_, _ = io.WriteString(w, d.Body) // an error means that the client has disconnected
}

// tokenHeader returns the header of the credential.
func (a *api) tokenHeader() string {
	method := "authToken"
	if a.EnableJWT {
		method = "jwt"
	}
	return cmp.Or(a.AuthConfigs[method].Header, a.Auth.Header, "Authorization")
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error means that the client has disconnected
}
