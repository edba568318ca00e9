package fetch_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	adapter "github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
)

// upstream is a server that answers as a test's path says.
func upstream(t *testing.T) *httptest.Server {
	t.Helper()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "elsewhere") }))
	t.Cleanup(elsewhere.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Add("X-Two", "1")
		w.Header().Add("X-Two", "2")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.Host, r.UserAgent(), r.Header.Get("X-Asked"), body)
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 2000)) })
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, strings.Repeat("x", 1<<20))
		_ = z.Close()
	})
	mux.HandleFunc("/headers", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/here", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/echo", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestFetch(t *testing.T) {
	s := upstream(t)
	host := strings.TrimPrefix(s.URL, "http://")
	c := adapter.New(adapter.Config{AllowPrivate: true, MaxBytes: 1000})
	for _, tt := range []struct {
		r      fetch.Request
		status int
		body   string
	}{
		{fetch.Request{URL: s.URL + "/echo"}, 418, "GET " + host + " Gatehouse  "},
		{fetch.Request{Method: "POST", URL: s.URL + "/echo", Header: map[string]string{"x-asked": "yes", "host": "api.example", "user-agent": "me"}, Body: []byte("body")},
			418, "POST api.example me yes body"},
		{fetch.Request{Method: "POST", URL: s.URL + "/echo", Header: map[string]string{"Content-Length": "1"}, Body: []byte("body")}, // as rules may patch it
			418, "POST " + host + " Gatehouse  body"},
		{fetch.Request{Method: "POST", URL: s.URL + "/here", Body: []byte("body")}, 418, "POST " + host + " Gatehouse  body"},
	} {
		a, err := c.Fetch(t.Context(), tt.r)
		if err != nil || a.Status != tt.status || string(a.Body) != tt.body || len(a.Header["X-Two"]) != 2 {
			t.Errorf("%+v: %d %q %v, %v", tt.r, a.Status, a.Body, a.Header, err)
		}
	}
	// A redirect to another origin, or an endless one, is returned as the answer.
	for _, path := range []string{"/away", "/loop"} {
		if a, err := c.Fetch(t.Context(), fetch.Request{URL: s.URL + path}); err != nil || a.Status != 302 || len(a.Header["Location"]) != 1 || string(a.Body) == "elsewhere" {
			t.Errorf("%s: %d %q, %v", path, a.Status, a.Body, err)
		}
	}
}

func TestFetchRefuses(t *testing.T) {
	s := upstream(t)
	closed := httptest.NewServer(nil)
	closed.Close()
	open := adapter.New(adapter.Config{AllowPrivate: true, MaxBytes: 1000, Timeout: time.Minute})
	hasty := adapter.New(adapter.Config{AllowPrivate: true, Timeout: 50 * time.Millisecond})
	careful := adapter.New(adapter.Config{})
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	for _, tt := range []struct {
		name string
		c    *adapter.Client
		r    fetch.Request
		want error
	}{
		{"too large", open, fetch.Request{URL: s.URL + "/large"}, fetch.ErrTooLarge},
		{"large after decompression", open, fetch.Request{URL: s.URL + "/bomb"}, fetch.ErrTooLarge},
		{"large headers", open, fetch.Request{URL: s.URL + "/headers"}, fetch.ErrUnreachable},
		{"no listener", open, fetch.Request{URL: closed.URL}, fetch.ErrUnconnected},
		{"slow", hasty, fetch.Request{URL: s.URL + "/slow"}, fetch.ErrUnreachable},
		{"a private address", careful, fetch.Request{URL: s.URL + "/echo"}, fetch.ErrPrivate},
		{"a name of a private address", careful, fetch.Request{URL: "http://localhost:" + port + "/echo"}, fetch.ErrPrivate},
		{"another spelling of a private address", careful, fetch.Request{URL: "http://[::ffff:127.0.0.1]:" + port + "/echo"}, fetch.ErrPrivate},
		{"relative", open, fetch.Request{URL: "/echo"}, fetch.ErrRequest},
		{"another scheme", open, fetch.Request{URL: "file:///etc/passwd"}, fetch.ErrRequest},
		{"no host", open, fetch.Request{URL: "http:///x"}, fetch.ErrRequest},
		{"credentials", open, fetch.Request{URL: "http://me:hunter2@h/"}, fetch.ErrRequest},
		{"method", open, fetch.Request{Method: "GE T", URL: s.URL}, fetch.ErrRequest},
		{"header name", open, fetch.Request{URL: s.URL, Header: map[string]string{"a b": "c"}}, fetch.ErrRequest},
		{"header without name", open, fetch.Request{URL: s.URL, Header: map[string]string{"": "c"}}, fetch.ErrRequest},
		{"header value", open, fetch.Request{URL: s.URL, Header: map[string]string{"a": "b\r\nc: d"}}, fetch.ErrRequest},
	} {
		_, err := tt.c.Fetch(t.Context(), tt.r)
		if !errors.Is(err, tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open.Fetch(ctx, fetch.Request{URL: s.URL + "/slow"}); !errors.Is(err, context.Canceled) || !errors.Is(err, fetch.ErrUnreachable) {
		t.Error(err)
	}
}

// A trusted request may reach private addresses, but keeps all other limits.
func TestTrusted(t *testing.T) {
	s := upstream(t)
	c := adapter.New(adapter.Config{MaxBytes: 1000})
	if a, err := c.Fetch(t.Context(), fetch.Request{URL: s.URL + "/echo", Trusted: true}); err != nil || a.Status != 418 {
		t.Error(a.Status, err)
	}
	if _, err := c.Fetch(t.Context(), fetch.Request{URL: s.URL + "/large", Trusted: true}); !errors.Is(err, fetch.ErrTooLarge) {
		t.Error(err)
	}
}

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "2606:4700::1111": true, "172.32.0.1": true, "100.128.0.1": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false,
		"0.0.0.0": false, "0.1.2.3": false, "224.0.0.1": false, "255.255.255.255": false, "240.0.0.1": false, "198.18.0.1": false,
		"192.0.2.1": false, "192.0.0.8": false, "::": false, "::1": false, "::ffff:10.0.0.1": false, "fe80::1%eth0": false, "fe80::1": false,
		"fc00::1": false, "fd00:ec2::254": false, "ff02::1": false, "64:ff9b::a00:1": false, "2002:7f00:1::": false, "2001:db8::1": false,
		"::127.0.0.1": false, "2001::1": false, "fec0::1": false,
	} {
		if got := adapter.Public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// FuzzFetch: requests to a private address, however it is spelt, arrive nowhere and do
// not panic.
func FuzzFetch(f *testing.F) {
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("reached") }))
	f.Cleanup(private.Close)
	c := adapter.New(adapter.Config{Timeout: time.Second})
	f.Add("http", "/", "GET", "a", "b")
	f.Add("https", "/%00", "", "", "\n")
	f.Add("HTTP", "?", "get", "Host", "x")
	f.Fuzz(func(t *testing.T, scheme, path, method, name, value string) {
		r := fetch.Request{Method: method, URL: strings.Replace(private.URL, "http", scheme, 1) + "/" + path, Header: map[string]string{name: value}}
		if u, err := url.Parse(r.URL); err != nil || u.Hostname() != "127.0.0.1" {
			return
		}
		if _, err := c.Fetch(t.Context(), r); !errors.Is(err, fetch.ErrPrivate) && !errors.Is(err, fetch.ErrRequest) {
			t.Errorf("%+v: %v", r, err)
		}
	})
}

// TestInsecure: a certificate without a known issuer is refused, unless the caller
// allows it.
func TestInsecure(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	t.Cleanup(s.Close)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	for _, c := range []*adapter.Client{adapter.New(adapter.Config{AllowPrivate: true}), adapter.New(adapter.Config{})} {
		if _, err := c.Fetch(t.Context(), fetch.Request{URL: s.URL, Trusted: true}); !errors.Is(err, fetch.ErrUnreachable) {
			t.Error(err)
		}
		if a, err := c.Fetch(t.Context(), fetch.Request{URL: s.URL, Trusted: true, Insecure: true}); err != nil || string(a.Body) != "hello" {
			t.Error(a.Status, err)
		}
	}
	if a, err := adapter.New(adapter.Config{Insecure: true}).Fetch(t.Context(), fetch.Request{URL: s.URL, Trusted: true}); err != nil || string(a.Body) != "hello" {
		t.Error("no request was to look at certificates:", a.Status, err)
	}
	careful := adapter.New(adapter.Config{})
	if _, err := careful.Fetch(t.Context(), fetch.Request{URL: s.URL, Insecure: true}); !errors.Is(err, fetch.ErrPrivate) {
		t.Error("a certificate that is not looked at opens private networks:", err)
	}
}
