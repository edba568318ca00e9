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

// carried are the browser's headers that are passed on to the API: credentials, client and
// origin.
var carried = []string{"Cookie", "User-Agent", "X-Forwarded-For", "Origin", "Sec-Fetch-Site", "X-Request-Id"}

// maxAnswer is the maximum size of an operation's answer to a page, in bytes.
const maxAnswer = 32 << 20

// reply is the answer of an operation.
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

// ok reports whether the operation succeeded and its answer is complete.
func (a *reply) ok() bool { return a.status/100 == 2 && !a.over }

// faults returns the texts of the errors in the answer.
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

// apiPrefix is the prefix of the addresses of the operations that pages call.
const apiPrefix = "/portal/api"

// call calls a portal operation on behalf of the browser.
func (v *visit) call(method, path string, query url.Values, in any) *reply {
	address := apiPrefix + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return v.ask(method, address, in)
}

// make calls an operation that creates something, at most once for each form: browsers without
// scripts send a form each time its button is pressed. part distinguishes several creations by
// one form.
func (v *visit) make(path, part string, in any) *reply {
	if ticket := v.field(ticketField); ticket != "" {
		v.ticket = ticket[:min(len(ticket), maxTicket)] + part
		defer func() { v.ticket = "" }()
	}
	return v.call(http.MethodPost, path, nil, in)
}

// maxTicket is how many bytes of a form's ticket are used.
const maxTicket = 64

// makeNew calls the operation that creates an app. A user who steps back in the browser and
// changes the form wants another app, so the ticket includes a hash of the app.
func (v *visit) makeNew(app any) *reply { return v.make("/apps", "-"+hashed(app), app) }

// hashed returns a short hash of the input of a form.
func hashed(in any) string {
	text, _ := json.Marshal(in) // texts by name
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// ask calls the operation at an address on behalf of the browser, and copies its cookies to the
// page's response.
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

// get decodes the answer of an operation, or shows a page for its error.
func (v *visit) get(path string, query url.Values, out any) bool {
	return v.read(v.call(http.MethodGet, path, query, nil), out)
}

// read decodes an answer. If that is not possible it shows a page for the error, and returns
// false.
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

// total returns the length of the list of which the answer is a page.
func (a *reply) total() int {
	n, _ := strconv.Atoi(a.header.Get("X-Total-Count")) // an answer of our API
	return n
}

// peek decodes the answer of an operation, and reports whether it succeeded. Pages leave out
// what a viewer may not see.
func (v *visit) peek(path string, query url.Values, out any) bool {
	a := v.call(http.MethodGet, path, query, nil)
	return a.ok() && json.Unmarshal(a.body.Bytes(), out) == nil
}

// refused shows a page for an operation that failed.
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
	case a.status == http.StatusUnprocessableEntity: // the operation explains the state, such as an API that no gateway serves
		v.notice(a.status, strings.Join(wordedAll(a.faults(), nil), " "))
	default:
		v.complain("an operation refused", "path", v.r.URL.Path, "status", a.status, "errors", a.faults())
		if a.status == http.StatusServiceUnavailable { // the store is unavailable, or no turn was free in time
			v.fail(a.status)
			return
		}
		v.fail(http.StatusBadGateway)
	}
}

// part returns a segment of the page's path, as a segment for the path of an operation. It stays
// a single segment.
func (v *visit) part(name string) string {
	part := v.r.PathValue(name)
	if strings.Trim(part, ".") == "" {
		return "/-" // no record has this name
	}
	return "/" + url.PathEscape(part)
}
