package http

import (
	nethttp "net/http"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// dialect is how the wire format differs between surfaces.
type dialect struct {
	token    func(r *nethttp.Request) string
	browser  bool                               // browsers may send a cookie instead
	envelope func(b []byte, e complaint) []byte // of errors
	banned   [][]byte                           // byte strings that no error may contain; such an error gets another text
	portal   bool                               // answers are indented unless rows are compact, no problem details, never stored
}

// complaint is the content of an error answer.
type complaint struct {
	texts []string // one message, or on the portal all messages
	form  operation.Failure
}

var dialects = map[operation.Surface]*dialect{
	operation.Management: {token: accessKey, browser: true, envelope: enveloped(`,"Meta":null}`)},
	operation.Admin:      {token: header("Admin-Auth"), envelope: enveloped(`,"Meta":null}`)},
	operation.Node:       {token: header("Authorization"), envelope: enveloped(`,"Nonce":""}`), banned: recoveryWords},
	operation.Portal:     {token: accessKey, envelope: failures, portal: true},
	operation.Probe:      {token: func(*nethttp.Request) string { return "" }, envelope: enveloped(`,"Meta":null}`)},
}

// header returns a function that takes a token from a header unchanged.
func header(name string) func(*nethttp.Request) string {
	return func(r *nethttp.Request) string { return r.Header.Get(name) }
}

// enveloped returns a function that appends an error: the same members on every surface,
// except the last.
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

// dialectOf returns the dialect of a surface; an unknown surface gets the dialect of
// probes, which has no credential.
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

// isPortalAPI reports whether a path lies below the portal's API, unlike the portal's
// pages and probes. That API accepts only the methods of its operations, not even HEAD
// (docs/wire/portal.md#requests).
func isPortalAPI(path string) bool { return firstSegment(path) == "portal-api" }

// surfaceOf returns the surface that a path lies below, whether or not a row has the
// path.
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

// accessKey takes a user's access key, which is sent alone or as a bearer token.
func accessKey(r *nethttp.Request) string {
	const scheme = "bearer "
	key := strings.TrimSpace(r.Header.Get("Authorization"))
	if len(key) > len(scheme) && strings.EqualFold(key[:len(scheme)], scheme) {
		key = strings.TrimSpace(key[len(scheme):])
	}
	return key
}

// recoveryWords must not occur in errors to gateways: they make a gateway register anew,
// and it never reloads again.
var recoveryWords = [][]byte{[]byte("Nonce failed"), []byte("nonce"), []byte("No node ID Found")}
