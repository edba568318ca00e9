package portal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// carried are the headers of the browser that calls of the API carry on: who it is, and
// from where it calls.
var carried = []string{"Cookie", "User-Agent", "X-Forwarded-For", "Origin", "Sec-Fetch-Site", "X-Request-Id"}

// maxAnswer bounds what an operation may answer to a page.
const maxAnswer = 32 << 20

// reply is what an operation answered.
type reply struct {
	status int
	header http.Header
	body   bytes.Buffer
	over   bool
}

// Header implements http.ResponseWriter.
func (a *reply) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *reply) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *reply) Write(text []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.over = a.over || a.body.Len()+len(text) > maxAnswer; a.over {
		return 0, io.ErrShortWrite
	}
	return a.body.Write(text)
}

// ok reports whether the operation did what it was asked for.
func (a *reply) ok() bool { return a.status/100 == 2 && !a.over }

// faults returns the texts of the errors that an operation answered.
func (a *reply) faults() []string {
	var said struct {
		Errors  []string `json:"errors"`
		Message string   `json:"message"`
	}
	if json.Unmarshal(a.body.Bytes(), &said) != nil || len(said.Errors) == 0 && said.Message == "" {
		return []string{"Something went wrong. Try again."}
	}
	if len(said.Errors) == 0 {
		return []string{said.Message}
	}
	return said.Errors
}

// apiPrefix begins the addresses of the operations that pages call.
const apiPrefix = "/portal/api"

// call lets an operation for visitors work for the browser.
func (v *visit) call(method, path string, query url.Values, in any) *reply {
	address := apiPrefix + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return v.ask(method, address, in)
}

// make lets an operation make something, which it does once for each form: browsers without
// scripts send a form as often as its button is pressed. part tells apart what one form makes.
func (v *visit) make(path, part string, in any) *reply {
	if ticket := v.field(ticketField); ticket != "" {
		v.ticket = ticket[:min(len(ticket), maxTicket)] + part
		defer func() { v.ticket = "" }()
	}
	return v.call(http.MethodPost, path, nil, in)
}

// maxTicket is how much of the ticket of a form counts.
const maxTicket = 64

// makeNew lets the operation for apps make one. A user who steps back in the browser and changes
// the form wants another app.
func (v *visit) makeNew(app any) *reply {
	text, _ := json.Marshal(app) // texts by name
	sum := sha256.Sum256(text)
	return v.make("/apps", "-"+hex.EncodeToString(sum[:8]), app)
}

// ask lets the operation at an address work for the browser. Its cookies become those of the
// page.
func (v *visit) ask(method, address string, in any) *reply {
	out := &reply{header: http.Header{}}
	var body io.Reader = http.NoBody
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			out.status = http.StatusInternalServerError
			return out
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(v.r.Context(), method, address, body)
	if err != nil {
		out.status = http.StatusInternalServerError
		return out
	}
	for _, name := range carried {
		if values := v.r.Header.Values(name); len(values) > 0 {
			req.Header[name] = values
		}
	}
	req.Header.Set("Accept", "application/json")
	if v.ticket != "" {
		req.Header.Set("Idempotency-Key", v.ticket)
	}
	req.Header.Set("X-Csrf-Token", v.r.PostFormValue(tokenField))
	req.Host, req.RemoteAddr, req.TLS, req.RequestURI = v.r.Host, v.r.RemoteAddr, v.r.TLS, address
	v.api.ServeHTTP(out, req)
	for _, c := range out.header.Values("Set-Cookie") {
		v.w.Header().Add("Set-Cookie", c)
	}
	return out
}

// get reads what an operation answers, or shows why it does not.
func (v *visit) get(path string, query url.Values, out any) bool {
	return v.read(v.call(http.MethodGet, path, query, nil), out)
}

// read reads an answer. When that is not possible it shows a page for it, and returns false.
func (v *visit) read(a *reply, out any) bool {
	if !a.ok() {
		v.refused(a)
		return false
	}
	if err := json.Unmarshal(a.body.Bytes(), out); err != nil {
		v.broken("an operation answered no JSON", err)
		return false
	}
	return true
}

// total is how long a list is of which the answer is a page.
func (a *reply) total() int {
	n, _ := strconv.Atoi(a.header.Get("X-Total-Count")) // our own answer
	return n
}

// peek reads what an operation answers, and reports whether it could. Pages are made without
// what a viewer may not see.
func (v *visit) peek(path string, query url.Values, out any) bool {
	a := v.call(http.MethodGet, path, query, nil)
	return a.ok() && json.Unmarshal(a.body.Bytes(), out) == nil
}

// refused shows a page for an operation that did not do what it was asked for.
func (v *visit) refused(a *reply) {
	switch {
	case a.status == http.StatusUnauthorized:
		v.toLogin(strings.Join(a.faults(), " "))
	case a.status == http.StatusForbidden && v.site.Viewer != nil && v.site.Viewer.ResetPassword:
		v.goTo("/auth/password/edit")
	case a.status == http.StatusForbidden && v.site.Visibility == hidden:
		v.show(http.StatusForbidden, "portal_disabled", nil)
	case a.status == http.StatusNotFound:
		v.absent()
	case a.status == http.StatusUnprocessableEntity: // a state that the operation explains, as an API that no gateway serves
		v.notice(a.status, strings.Join(wordedAll(a.faults(), nil), " "))
	default:
		v.complain("an operation refused", "path", v.r.URL.Path, "status", a.status, "errors", a.faults())
		if a.status == http.StatusServiceUnavailable { // the store is away, or a turn did not come
			v.fail(a.status)
			return
		}
		v.fail(http.StatusBadGateway)
	}
}

// part is a part of the address of the page, for that of an operation. It stays one part.
func (v *visit) part(name string) string {
	part := v.r.PathValue(name)
	if strings.Trim(part, ".") == "" {
		return "/-" // no record is called so
	}
	return "/" + url.PathEscape(part)
}
