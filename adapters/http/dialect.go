package http

import (
	nethttp "net/http"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// dialect is what differs from surface to surface on the wire, and nothing else.
type dialect struct {
	token    func(r *nethttp.Request) string
	browser  bool                               // browsers may present a cookie instead
	envelope func(b []byte, e complaint) []byte // of errors
	banned   [][]byte                           // what no error may contain: such a one is not sent as it is
	portal   bool                               // answers are indented unless rows are compact, no problem details, never stored
}

// complaint is what an error says.
type complaint struct {
	texts []string // one, or on the portal all that is wrong
	form  operation.Failure
}

var dialects = map[operation.Surface]*dialect{
	operation.Management: {token: accessKey, browser: true, envelope: enveloped(`,"Meta":null}`)},
	operation.Admin:      {token: header("Admin-Auth"), envelope: enveloped(`,"Meta":null}`)},
	operation.Node:       {token: header("Authorization"), envelope: enveloped(`,"Nonce":""}`), banned: recoveryWords},
	operation.Portal:     {token: accessKey, envelope: failures, portal: true},
	operation.Probe:      {token: func(*nethttp.Request) string { return "" }, envelope: enveloped(`,"Meta":null}`)},
}

// header takes a token from a header as it is.
func header(name string) func(*nethttp.Request) string {
	return func(r *nethttp.Request) string { return r.Header.Get(name) }
}

// enveloped returns what appends an error: the same members on every surface, but
// for the last.
func enveloped(last string) func(b []byte, e complaint) []byte {
	return func(b []byte, e complaint) []byte {
		if e.form == operation.FailureStatus {
			return append(doc.AppendString(append(b, `{"status":"error","message":`...), e.texts[0]), '}')
		}
		return append(doc.AppendString(append(b, `{"Status":"Error","Message":`...), e.texts[0]), last...)
	}
}

// failures appends an error of the portal: all messages in a list.
func failures(b []byte, e complaint) []byte {
	if e.form == operation.FailureText {
		return doc.AppendString(b, strings.Join(e.texts, ", "))
	}
	b = append(b, "{\n"...)
	switch e.form {
	case operation.FailureMessage:
		return append(doc.AppendString(append(b, "\t\"message\": "...), e.texts[0]), "\n}"...)
	case operation.FailureAction:
		b = append(b, "\t\"status\": \"error\",\n"...)
	}
	b = append(b, "\t\"errors\": ["...)
	for i, text := range e.texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = doc.AppendString(append(b, "\n\t\t"...), text)
	}
	return append(b, "\n\t]\n}"...)
}

// dialectOf returns the dialect of a surface; one unknown here is a probe's,
// which knows no credential.
func dialectOf(s operation.Surface) *dialect {
	if d, ok := dialects[s]; ok {
		return d
	}
	return dialects[operation.Probe]
}

// surfaces are the first segments of paths.
var surfaces = map[string]operation.Surface{
	"api": operation.Management, "admin": operation.Admin, "register": operation.Node, "system": operation.Node,
	"portal-api": operation.Portal, "portal": operation.Portal,
}

// isPortalAPI reports whether a path lies below that of the portal's API, which pages and
// probes of the portal do not. It takes the methods of its operations and no others, HEAD
// neither (docs/wire/portal.md#requests).
func isPortalAPI(path string) bool { return firstSegment(path) == "portal-api" }

// surfaceOf returns the surface a path lies below, known or not.
func surfaceOf(path string) operation.Surface {
	if s, ok := surfaces[firstSegment(path)]; ok {
		return s
	}
	return operation.Probe
}

func firstSegment(path string) string {
	rest, _ := trim(path)
	first, _, _ := strings.Cut(rest, "/")
	return first
}

// accessKey takes the access key of a user, which is sent bare or as a bearer token.
func accessKey(r *nethttp.Request) string {
	const scheme = "bearer "
	key := strings.TrimSpace(r.Header.Get("Authorization"))
	if len(key) > len(scheme) && strings.EqualFold(key[:len(scheme)], scheme) {
		key = strings.TrimSpace(key[len(scheme):])
	}
	return key
}

// recoveryWords in an error stop a gateway's reloads for good: it registers anew and
// never loads again.
var recoveryWords = [][]byte{[]byte("Nonce failed"), []byte("nonce"), []byte("No node ID Found")}
