package http_test

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
)

// Requests that net/http refuses before any handler are answered in JSON, in the format
// of the surface.
func TestMalformedRequestsAreAnsweredInJSON(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nethttp.Server{Handler: echoes(t, httpadapter.Config{}), MaxHeaderBytes: 1 << 10}
	go func() { _ = s.Serve(httpadapter.Listener(l)) }()
	defer func() { _ = s.Close() }()
	for _, c := range []struct {
		request string
		status  int
		member  string // besides Status and Message
		text    string
	}{
		{"GET /api/things/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "Meta", "% that begins no escape"},
		{"GET /admin/x%2 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "Meta", "% that begins no escape"},
		{"GET /system/apis/% HTTP/1.1\r\nHost: x\r\n\r\n", 400, "Nonce", "% that begins no escape"},
		{"GET /%zz?x=%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "Meta", "% that begins no escape"},
		{"GET /api/things HTTP/1.1\r\n\r\n", 400, "Meta", "Bad Request"},
		{"nonsense\r\n\r\n", 400, "Meta", "Bad Request"},
		{"GET /api/things HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 10<<10) + "\r\n\r\n", 431, "Meta", "Request Header Fields Too Large"},
		{"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 200, "", ""},
	} {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, c.request); err != nil {
			t.Fatal(err)
		}
		answers := bufio.NewReader(conn)
		r, err := nethttp.ReadResponse(answers, nil)
		if err != nil {
			t.Errorf("%.40q: %v", c.request, err)
			continue
		}
		body, err := io.ReadAll(r.Body)
		if c.status == 200 { // the second of two requests on one connection
			if r, err = nethttp.ReadResponse(answers, nil); err == nil {
				body, err = io.ReadAll(r.Body)
			}
			c.status, c.member = 400, "Meta"
		}
		var form map[string]any
		if err != nil || r.StatusCode != c.status || r.Header.Get("Content-Type") != "application/json" || json.Unmarshal(body, &form) != nil {
			t.Errorf("%.40q: %d %v %s %v", c.request, r.StatusCode, r.Header, body, err)
			continue
		}
		message, _ := form["Message"].(string)
		if _, there := form[c.member]; !there || form["Status"] != "Error" || !strings.Contains(message, c.text) {
			t.Errorf("%.40q: %s", c.request, body)
		}
	}
}

// The same holds over TLS, where a client without TLS gets an explanation.
func TestMalformedRequestsOverTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	sample := httptest.NewTLSServer(nil)
	defer sample.Close()
	s := &nethttp.Server{Handler: echoes(t, httpadapter.Config{}), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	go func() {
		_ = s.Serve(httpadapter.Listener(tls.NewListener(l, &tls.Config{Certificates: sample.TLS.Certificates, MinVersion: tls.VersionTLS12})))
	}()
	defer func() { _ = s.Close() }()
	for secure, want := range map[bool]string{true: "% that begins no escape", false: "begin the URL with https://"} {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if secure {
			conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // a server of this test
		}
		if _, err := io.WriteString(conn, "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		if !strings.Contains(string(answer), " 400 Bad Request") || !strings.Contains(string(answer), want) {
			t.Errorf("secure %v: %s %v", secure, answer, err)
		}
	}
}
