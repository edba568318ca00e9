package gatewaysim

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"
)

// Fault is a failure of a control API.
type Fault int

// The ways.
const (
	Healthy    Fault = iota
	Down             // the connection is closed before anything is read
	Hanging          // the request is never answered
	Slow             // the request is carried out half a minute late, even if its sender has disconnected
	Garbage          // 200 with bytes that are not JSON
	PlainText        // 200 with a line of text
	HalfJSON         // 200 with the beginning of the answer
	Trouble          // 500 with a line of text
	Unwired          // 404 with a line of text: another server has the address
	Endless          // 200 with an answer that does not end
	DiesBefore       // the request is read, not carried out, and the connection is closed
	DiesAfter        // the request is carried out, and the connection is closed
	HangsAfter       // the request is carried out, but never answered
)

// Faults are all of them but Healthy.
var Faults = []Fault{Down, Hanging, Slow, Garbage, PlainText, HalfJSON, Trouble, Unwired, Endless, DiesBefore, DiesAfter, HangsAfter}

// late is the delay of a slow control API.
const late = 30 * time.Second

// Misbehave makes the control API fail for the requests for which when returns true, or
// all if it is nil, until it is called again.
func (g *Gateway) Misbehave(f Fault, when func(*http.Request) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fault, g.faulty = f, when
}

// ControlCalls returns the number of requests of each call of the control API, by method
// and pattern such as "PUT /tyk/keys/{key}".
func (g *Gateway) ControlCalls() map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := map[string]int{}
	for call, n := range g.asked {
		out[call] = n
	}
	return out
}

// controlCall is a request to the control API (docs/wire/gateway-control.md).
type controlCall struct {
	*http.Request
	v     view
	store *Store // locked during the call
	body  []byte
	query url.Values
}

// control handles a call and returns status and body of the answer.
type control func(c *controlCall) (int, any)

// said is the envelope of most answers.
type said struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// done is the envelope of answers about keys and clients.
type done struct {
	Key    string `json:"key"`
	Status string `json:"status"`
	Action string `json:"action"`
	Hash   string `json:"key_hash,omitempty"`
}

func failed(status int, text string) (int, any) { return status, said{"error", text} }

// controls is the table of the control API.
func (g *Gateway) controls() http.Handler {
	mux := http.NewServeMux()
	for pattern, methods := range map[string]map[string]control{
		"keys":                                {"GET": listKeys, "POST": addKey},
		"keys/create":                         {"POST": createKey},
		"keys/preview":                        {"POST": previewKey},
		"keys/policy/{hash}":                  {"POST": policyOfKey},
		"keys/{key}":                          {"GET": readKey, "POST": addKey, "PUT": replaceKey, "DELETE": deleteKey},
		"org/keys":                            {"GET": listOrgKeys},
		"org/keys/{org}":                      {"GET": readOrgKey, "POST": putOrgKey, "PUT": putOrgKey, "DELETE": deleteOrgKey},
		"apis/{api}":                          {"GET": readAPI},
		"reload":                              {"GET": reloadOne},
		"reload/group":                        {"GET": reloadGroup},
		"cache/{api}":                         {"DELETE": dropCache},
		"cache/jwks":                          {"DELETE": dropKeySets},
		"cache/jwks/{api}":                    {"DELETE": dropKeySets},
		"certs":                               {"GET": listCertificates, "POST": addCertificate},
		"certs/{id}":                          {"GET": readCertificate, "DELETE": deleteCertificate},
		"oauth/clients/create":                {"POST": createClient},
		"oauth/clients/{api}":                 {"GET": listClients},
		"oauth/clients/apis/{client}":         {"GET": apisOfClient},
		"oauth/clients/{api}/{client}":        {"GET": readClient, "PUT": replaceClient, "DELETE": deleteClient},
		"oauth/clients/{api}/{client}/rotate": {"PUT": rotateClient},
		"oauth/clients/{api}/{client}/tokens": {"GET": tokensOfClient},
		"oauth/revoke":                        {"POST": revokeToken},
		"oauth/revoke_all":                    {"POST": revokeTokens},
		"oauth/refresh/{token}":               {"DELETE": dropRefresh},
		"oauth/tokens":                        {"DELETE": purgeTokens},
	} {
		path := "/tyk/" + pattern
		mux.Handle(path, g.methods(path, methods))
		mux.Handle(path+"/{$}", g.methods(path, methods))
	}
	mux.HandleFunc("/", http.NotFound)
	return g.guarded(mux)
}

// guarded checks the secret.
func (g *Gateway) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.State().Running:
			panic(http.ErrAbortHandler)
		case r.Header.Get("X-Tyk-Authorization") != g.cfg.Secret:
			writeJSON(w, http.StatusForbidden, said{"error", "Attempted administrative access with invalid or missing key!"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (g *Gateway) methods(path string, methods map[string]control) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		do := methods[r.Method]
		if do == nil {
			writeJSON(w, http.StatusMethodNotAllowed, said{"error", "Method not supported"})
			return
		}
		g.mu.Lock()
		g.asked[r.Method+" "+path]++
		g.mu.Unlock()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		status, answer := g.carryOut(do, &controlCall{Request: r, v: g.view(), store: g.cfg.Store, body: body, query: r.URL.Query()})
		writeJSON(w, status, answer)
	})
}

func (g *Gateway) carryOut(do control, c *controlCall) (int, any) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	return do(c)
}

// serveControl answers a request to the control API, with the current fault if there is
// one.
func (g *Gateway) serveControl(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	fault := g.fault
	if g.faulty != nil && fault != Healthy && !g.faulty(r) {
		fault = Healthy
	}
	g.mu.Unlock()
	healthy := func() *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		g.controlAPI.ServeHTTP(rec, r)
		return rec
	}
	hang := func() {
		select {
		case <-r.Context().Done():
		case <-g.view().p.ctx.Done():
		}
		panic(http.ErrAbortHandler)
	}
	switch fault {
	case Healthy:
		g.controlAPI.ServeHTTP(w, r)
	case Down, DiesBefore:
		if fault == DiesBefore {
			_, _ = io.Copy(io.Discard, r.Body) // a missing body has nothing to read
		}
		panic(http.ErrAbortHandler)
	case DiesAfter:
		healthy()
		panic(http.ErrAbortHandler)
	case Hanging:
		hang()
	case HangsAfter:
		_ = healthy()
		hang()
	case Slow:
		g.serveLate(w, r)
	case HalfJSON:
		text := healthy().Body.String()
		_, _ = io.WriteString(w, text[:len(text)/2]) // an error means that the client has disconnected
	case Endless:
		for _, err := io.WriteString(w, "["); err == nil; {
			_, err = io.WriteString(w, strings.Repeat(`"x",`, 4096))
		}
	default:
		writeText(w, fault)
	}
}

// serveLate carries a request out late, even if its sender has disconnected.
func (g *Gateway) serveLate(w http.ResponseWriter, r *http.Request) {
	p := g.view().p
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	own := r.Clone(p.ctx)
	own.Body = io.NopCloser(bytes.NewReader(body))
	done := make(chan *httptest.ResponseRecorder, 1)
	go func() {
		if rec := httptest.NewRecorder(); p.sleep(late) {
			g.controlAPI.ServeHTTP(rec, own)
			done <- rec
		}
	}()
	select {
	case rec := <-done:
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()) // an error means that the client has disconnected
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	case <-p.ctx.Done():
		panic(http.ErrAbortHandler)
	}
}

// writeText answers without JSON.
func writeText(w http.ResponseWriter, fault Fault) {
	status, text := http.StatusOK, "upstream connect error or disconnect/reset before headers"
	switch fault {
	case Garbage:
		text = "\x00\xff\x1f\x8b{\"key\":"
	case Trouble:
		status, text = http.StatusInternalServerError, "Internal Server Error"
	case Unwired:
		status, text = http.StatusNotFound, "404 page not found"
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// reloadOne and reloadGroup answer at once; a reload with block is started as well,
// without waiting for its end.
func reloadOne(c *controlCall) (int, any) {
	c.v.p.gw.Reload()
	return http.StatusOK, said{Status: "ok"}
}

func reloadGroup(c *controlCall) (int, any) {
	for _, g := range c.store.gateways {
		g.Reload()
	}
	return http.StatusOK, said{Status: "ok"}
}

func dropCache(*controlCall) (int, any) { return http.StatusOK, said{"ok", "cache invalidated"} }

func dropKeySets(c *controlCall) (int, any) {
	c.v.p.jwks.drop(c.PathValue("api"))
	return dropCache(c)
}

// decodeSession decodes an object whose members have the types of a session.
func decodeSession(body []byte) (map[string]any, bool) {
	var s map[string]any
	if sessionShape.check(body) != nil || json.Unmarshal(body, &s) != nil || s == nil {
		return nil, false
	}
	return s, true
}
