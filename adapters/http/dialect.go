package http

import (
	"bytes"
	nethttp "net/http"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// dialect is what differs from surface to surface on the wire, and nothing else.
type dialect struct {
	token    func(r *nethttp.Request) string
	envelope func(b []byte, message string) []byte // of errors
	banned   [][]byte                              // what no error may contain
}

var dialects = map[operation.Surface]*dialect{
	operation.Management: {token: accessKey, envelope: appendEnvelope},
	operation.Admin:      {token: adminSecret, envelope: appendEnvelope},
	operation.Node:       {token: nodeSecret, envelope: appendNodeEnvelope, banned: recoveryWords},
	operation.Probe:      {token: nobody, envelope: appendEnvelope},
}

// dialectOf returns the dialect of a surface; one unknown here is a probe's,
// which knows no credential.
func dialectOf(s operation.Surface) *dialect {
	if d, ok := dialects[s]; ok {
		return d
	}
	return dialects[operation.Probe]
}

// surfaces are the first segments of paths (contract dashboard.md 1).
var surfaces = map[string]operation.Surface{
	"api": operation.Management, "admin": operation.Admin, "register": operation.Node, "system": operation.Node,
}

// surfaceOf returns the surface a path lies below, known or not.
func surfaceOf(path string) operation.Surface {
	rest, _ := trim(path)
	first, _, _ := strings.Cut(rest, "/")
	if s, ok := surfaces[first]; ok {
		return s
	}
	return operation.Probe
}

// accessKey is sent bare or as a bearer token (contract dashboard.md 3.1).
func accessKey(r *nethttp.Request) string {
	const scheme = "bearer "
	key := strings.TrimSpace(r.Header.Get("Authorization"))
	if len(key) > len(scheme) && strings.EqualFold(key[:len(scheme)], scheme) {
		key = strings.TrimSpace(key[len(scheme):])
	}
	return key
}

func adminSecret(r *nethttp.Request) string { return r.Header.Get("Admin-Auth") }
func nodeSecret(r *nethttp.Request) string  { return r.Header.Get("Authorization") }
func nobody(*nethttp.Request) string        { return "" }

// appendEnvelope appends an error of contract dashboard.md 2.2.
func appendEnvelope(b []byte, message string) []byte {
	b = doc.AppendString(append(b, `{"Status":"Error","Message":`...), message)
	return append(b, `,"Meta":null}`...)
}

// appendNodeEnvelope appends an error of contract gateway.md 2.5.
func appendNodeEnvelope(b []byte, message string) []byte {
	b = doc.AppendString(append(b, `{"Status":"Error","Message":`...), message)
	return append(b, `,"Nonce":""}`...)
}

// recoveryWords in an error stop a gateway's reloads for good (contract
// gateway.md 2.5).
var recoveryWords = [][]byte{[]byte("Nonce failed"), []byte("nonce"), []byte("No node ID Found")}

// unsafe reports whether an error must not be sent on the surface as it is.
func (d *dialect) unsafe(body []byte) bool {
	for _, word := range d.banned {
		if bytes.Contains(body, word) {
			return true
		}
	}
	return false
}
