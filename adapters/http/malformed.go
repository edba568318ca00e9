package http

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	nethttp "net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Listener returns a listener whose connections replace the plain-text refusals of
// net/http by JSON. net/http refuses some requests before a handler sees them: a path
// with an invalid % escape, headers that are too long, a missing host.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &plainSpeaker{Conn: c}, nil
}

// plainSpeaker is a connection on which net/http may write plain text.
type plainSpeaker struct {
	net.Conn
	asked [256]byte // the first bytes of the last text that was read
	n     int
}

// methods are the first bytes of requests that are sent without TLS to a TLS connection.
var methods = map[string]bool{"GET /": true, "HEAD ": true, "POST ": true, "PUT /": true, "PATCH": true, "DELET": true, "OPTIO": true}

// Read implements net.Conn. Each request begins with a new read: clients wait for the
// answer to the previous one.
func (c *plainSpeaker) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 1 { // net/http reads the first byte of the next request alone
		c.n = copy(c.asked[:], p[:n])
	}
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok && plain.Conn != nil && methods[string(plain.RecordHeader[:])] {
		_, _ = io.WriteString(plain.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nThis address speaks HTTPS: begin the URL with https://\n")
	}
	return n, err
}

// Write implements net.Conn. It replaces a refusal by an error in the format of the
// surface that was requested.
func (c *plainSpeaker) Write(p []byte) (int, error) {
	if len(p) > maxRefusal || !bytes.HasPrefix(p, []byte("HTTP/1.")) {
		return c.Conn.Write(p)
	}
	m := refusal.FindSubmatch(p)
	if m == nil {
		return c.Conn.Write(p)
	}
	status, reason := string(m[1]), string(m[2])
	line, _, _ := strings.Cut(string(c.asked[:c.n]), "\r\n")
	_, path, _ := strings.Cut(line, " ")
	path, _, _ = strings.Cut(path, " ")
	path, _, _ = strings.Cut(path, "?")
	message := "The request is no HTTP request that can be answered: " + reason
	if _, err := url.PathUnescape(path); err != nil && status == strconv.Itoa(nethttp.StatusBadRequest) {
		message = "The path has a % that begins no escape: write %25 for a percent sign"
	}
	body := dialectOf(surfaceOf(path)).envelope(nil, complaint{texts: []string{message}})
	head := "HTTP/1.1 " + status + " " + reason + "\r\nContent-Type: " + jsonType + "\r\nContent-Length: " + strconv.Itoa(len(body)) +
		"\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
	if _, err := c.Conn.Write(append([]byte(head), body...)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite lets net/http close a connection gracefully.
func (c *plainSpeaker) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refusal matches the whole text of an answer that net/http gives by itself: it writes
// that at once, and without a Date header, unlike answers of handlers.
var refusal = regexp.MustCompile(`^HTTP/1\.[01] (4\d\d|5\d\d) ([^\r\n]*)\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n[^\r\n]*$`)

const maxRefusal = 1 << 10
