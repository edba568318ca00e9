package portal

import (
	"bytes"
	"cmp"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strings"
)

//go:embed start.html
var startText string

// startPage is the page of a portal without an admin. It uses no theme: the theme is not known
// before the portal is bootstrapped.
var startPage = template.Must(template.New("start").Parse(startText))

// starting is the data of the page: a form or, afterwards, the token.
type starting struct {
	Nonce, Action, Proof, First, Last, Email, Token string
	Faults                                          []string
}

// unbegun reports whether a request is for the start page of a portal without an admin.
func (s *server) unbegun(r *http.Request) bool {
	if s.begun.Load() || s.Bootstrapped == nil || cmp.Or(strings.TrimSuffix(r.URL.Path, "/"), "/") != s.Home || !s.shows(r) {
		return false
	}
	done, err := s.Bootstrapped(r.Context())
	s.begun.Store(done)
	return !done && err == nil
}

// start shows and handles the form that creates the first admin. Probes of orchestrators
// request this page, and get a success status.
func (s *server) start(w http.ResponseWriter, r *http.Request) {
	v := &visit{server: s, w: w, r: r, nonce: rand.Text()}
	v.secure()
	v.token = v.strangersToken()
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		v.begin(http.StatusOK, starting{})
		return
	case http.MethodPost:
	default:
		s.api.ServeHTTP(w, r)
		return
	}
	if !v.admitted() || !v.proven() {
		return
	}
	typed := starting{First: v.field("first_name"), Last: v.field("last_name"), Email: v.field("username")}
	a := v.ask(http.MethodPost, "/portal-api/bootstrap", map[string]string{"username": typed.Email, "password": v.field("password"), "first_name": typed.First, "last_name": typed.Last})
	if a.status == http.StatusForbidden { // another request was faster
		v.goTo(v.Home)
		return
	}
	if !a.ok() {
		typed.Faults = wordedAll(a.faults(), startSpoken)
		v.begin(statusOf(a), typed)
		return
	}
	var made struct {
		Data struct {
			Token string `json:"api_token"`
		} `json:"data"`
	}
	if err := json.Unmarshal(a.body.Bytes(), &made); err != nil {
		v.broken("an operation answered no JSON", err)
		return
	}
	v.begin(http.StatusOK, starting{Token: made.Data.Token})
}

func (v *visit) begin(status int, s starting) {
	s.Nonce, s.Action, s.Proof = v.nonce, v.Home, v.token
	var text bytes.Buffer
	if err := startPage.Execute(&text, s); err != nil {
		v.broken("the start page", err)
		return
	}
	v.send(status, text.Bytes())
}
