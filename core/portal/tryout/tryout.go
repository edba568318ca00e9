// Package tryout decides which calls developers may send from a page to the gateways of a
// product, and what they see of the response (docs/wire/portal-showcase.md#try-it).
package tryout

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Bounds of calls and answers.
const (
	MaxBody    = 128 << 10
	maxPath    = 4 << 10
	maxQuery   = 8 << 10
	maxHeaders = 20
	maxValue   = 4 << 10
	MaxAnswer  = 1 << 20   // bytes that are read
	maxShown   = 256 << 10 // bytes that are shown
)

// Header is a header of a call or of an answer.
type Header struct {
	Name  string `json:"Name"`
	Value string `json:"Value"`
}

// Call is a request that a developer wants to send.
type Call struct {
	Method  string   `json:"Method,omitempty" doc:"HTTP method. Default: GET."`
	Path    string   `json:"Path,omitempty" doc:"Path below the address of the API, with a leading slash, already percent-encoded."`
	Query   string   `json:"Query,omitempty" doc:"Query without the question mark, already percent-encoded."`
	Headers []Header `json:"Headers,omitempty"`
	Body    string   `json:"Body,omitempty"`
	Token   string   `json:"Token,omitempty" doc:"Value of the header Authorization. Not together with CredentialID."`
	// CredentialID is the number of a credential of the caller.
	CredentialID table.ID `json:"CredentialID,omitempty" doc:"Credential with the key for the header Authorization."`
}

// Methods are the allowed methods of calls.
var Methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

// Check returns what is wrong with a call.
func (c Call) Check() error {
	var wrong table.Problems
	if c.Method != "" && !slices.Contains(Methods, c.Method) {
		wrong.Invalid("Method")
	}
	if !pathFits(c.Path) {
		wrong.Invalid("Path")
	}
	if len(c.Query) > maxQuery || !plain(c.Query) || strings.Contains(c.Query, "#") {
		wrong.Invalid("Query")
	}
	if len(c.Headers) > maxHeaders || slices.ContainsFunc(c.Headers, func(h Header) bool { return !allowed(h) }) {
		wrong.Invalid("Headers")
	}
	if len(c.Body) > MaxBody || c.Body != "" && (c.Method == "" || c.Method == "GET" || c.Method == "HEAD") {
		wrong.Invalid("Body")
	}
	if len(c.Token) > maxValue || !printable(c.Token) || c.Token != "" && c.CredentialID != 0 {
		wrong.Invalid("Token")
	}
	return wrong.Err()
}

// At returns the address of the call, below the address of an API. It returns false if the
// address would be outside the API.
func (c Call) At(api string) (string, bool) {
	base, err := url.Parse(api)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" || !pathFits(c.Path) {
		return "", false
	}
	at := api
	if path := strings.TrimPrefix(c.Path, "/"); path != "" {
		at = strings.TrimRight(api, "/") + "/" + path
	}
	if c.Query != "" {
		at += "?" + c.Query
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != base.Scheme || u.Host != base.Host || u.User != nil || u.Fragment != "" || !strings.HasPrefix(u.EscapedPath(), strings.TrimRight(base.EscapedPath(), "/")) {
		return "", false
	}
	return at, true
}

// pathFits reports whether a path stays below its start for every reader: gateways and the
// servers behind them decode escapes at different times.
func pathFits(path string) bool {
	if len(path) > maxPath || path != "" && path[0] != '/' || !plain(path) || strings.ContainsAny(path, `?#\`) {
		return false
	}
	climbs := func(part string) bool { return part == "." || part == ".." || strings.HasPrefix(part, "..;") } // or stays in place
	for range 3 {                                                                                             // escapes may be escaped again
		if slices.ContainsFunc(strings.Split(path, "/"), climbs) {
			return false
		}
		out, err := url.PathUnescape(path)
		switch {
		case err != nil:
			return false
		case out == path:
			return true
		case strings.Count(out, "/") != strings.Count(path, "/"), strings.Contains(out, `\`), !printable(out):
			return false
		}
		path = loose(out)
	}
	return false
}

// loose replaces each percent sign that is not part of an escape by a letter. Some readers
// refuse such signs, and others decode the escapes beside them all the same.
func loose(path string) string {
	hex := func(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }
	out := []byte(path)
	for i := range out {
		if out[i] == '%' && (i+2 >= len(out) || !hex(path[i+1]) || !hex(path[i+2])) {
			out[i] = 'p'
		}
	}
	return string(out)
}

// plain reports whether a text is allowed in an address without escapes.
func plain(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// printable reports whether a text is a valid value of a header (RFC 9110, 5.5).
func printable(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// refused are headers of connections, of proxies and of browsers, and headers for credentials.
// Developers may not set them. RFC 9110, 7.6.1.
var refused = []string{"authorization", "connection", "content-length", "cookie", "expect", "forwarded", "host", "keep-alive", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "via",
	"x-real-ip", "x-tyk-authorization"}

// refusedBeginnings are prefixes of further refused headers.
var refusedBeginnings = []string{"proxy-", "sec-", "x-forwarded-"}

func allowed(h Header) bool {
	name := strings.ToLower(h.Name)
	return name != "" && len(name) <= 100 && strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	}) < 0 && len(h.Value) <= maxValue && printable(h.Value) && !slices.Contains(refused, name) &&
		!slices.ContainsFunc(refusedBeginnings, func(b string) bool { return strings.HasPrefix(name, b) })
}

// Answer is the part of a response that a developer sees.
type Answer struct {
	Status  int      `json:"Status"`
	Headers []Header `json:"Headers"`
	Body    string   `json:"Body" doc:"Body of the response; empty if it is not text."`
	Size    int      `json:"Size" doc:"Size of the whole body in bytes."`
	Cut     bool     `json:"Cut" doc:"true: Body is cut."`
}

// Shown returns the part of a response that is shown. Cookies are left out: browsers would not
// keep them for this page either.
func Shown(status int, header map[string][]string, body []byte) Answer {
	out := Answer{Status: status, Headers: []Header{}, Size: len(body)}
	for name, values := range header {
		for _, v := range values {
			if !strings.EqualFold(name, "Set-Cookie") {
				out.Headers = append(out.Headers, Header{name, strings.ToValidUTF8(v, "\ufffd")})
			}
		}
	}
	slices.SortStableFunc(out.Headers, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })
	if utf8.Valid(body) {
		text := string(body)
		if out.Cut = len(text) > maxShown; out.Cut {
			text = strings.ToValidUTF8(text[:maxShown], "")
		}
		out.Body = text
	}
	return out
}
