package fetch_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	adapter "github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
)

// forbidden are spellings of addresses that lead to this machine, to its network, or to
// the metadata service of a cloud. HOST stands for the address of the row.
func forbidden() []string {
	hosts := []string{
		// This machine, in the spellings that resolvers accept.
		"127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "127.0.0.2", "2130706433", "0x7f000001", "0x7f.0x0.0x0.0x1", "0177.0.0.1", "017700000001", "0x7f.1", "127.0.0.1.",
		"0", "0.0.0.0", "0.0.0.1", "0x0", "00", "localhost", "LOCALHOST", "localhost.", "localhost.localdomain", "ip6-localhost", "ip6-loopback",
		"%31%32%37.0.0.1", "127.0.0.%31", "①②⑦.⓪.⓪.①", "127。0。0。1",
		"[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[0:0::0]", "[::1%25lo]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]",
		"[::ffff:0:127.0.0.1]", "[::ffff:0:0]", "[::ffff:0.0.0.0]",
		// Private networks.
		"10.0.0.1", "10.255.255.255", "10.1", "0xa000001", "167772161", "012.0.0.1", "172.16.0.1", "172.31.255.255", "172.20.1.1", "192.168.0.1", "192.168.255.255", "192.168.1", "3232235777",
		"[::ffff:10.0.0.1]", "[::ffff:a00:1]", "[::ffff:192.168.1.1]", "[::ffff:172.16.0.1]", "[::10.0.0.1]", "[fc00::1]", "[fd00::1]", "[fdff:ffff::1]", "[fd12:3456:789a:1::1]",
		// Link-local addresses, and the metadata services of clouds.
		"169.254.169.254", "169.254.0.1", "169.254.170.2", "169.254.169.253", "2852039166", "0xa9fea9fe", "0xa9.0xfe.0xa9.0xfe", "0251.0376.0251.0376", "169.254.43518",
		"[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::169.254.169.254]", "[fe80::1]", "[fe80::1%25eth0]", "[febf::1]", "[fd00:ec2::254]", "168.63.129.16", "[::ffff:168.63.129.16]",
		"100.100.100.200", "192.0.0.192", "192.0.0.170",
		// Carrier-grade NAT, benchmarks, documentation, reserved and broadcast addresses.
		"100.64.0.1", "100.127.255.255", "198.18.0.1", "198.19.255.255", "192.0.2.1", "198.51.100.1", "203.0.113.1", "240.0.0.1", "255.255.255.255", "192.88.99.1", "[::ffff:100.64.0.1]",
		"224.0.0.1", "239.255.255.255", "[ff02::1]", "[ff0e::1]", "[2001:db8::1]", "[100::1]", "[3fff::1]", "[5f00::1]", "[fec0::1]",
		// IPv6 addresses that embed IPv4 addresses.
		"[64:ff9b::7f00:1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::10.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::127.0.0.1]", "[64:ff9b:1:ffff::a00:1]",
		"[2002:7f00:1::]", "[2002:7f00:0001::1]", "[2002:a00:1::1]", "[2002:a9fe:a9fe::]", "[2002:c0a8:101::]", "[2001:0:7f00:1::]", "[2001::a00:1]", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
	}
	return hosts
}

// TestForbidden: no connection is made to any of them, with any port, scheme or kind of
// request, although a listener accepts connections on all addresses of this machine.
func TestForbidden(t *testing.T) {
	var connections atomic.Int64
	port := listen(t, &connections)
	c := adapter.New(adapter.Config{Timeout: 2 * time.Second, Allow: []netip.Prefix{netip.MustParsePrefix("203.0.113.77/32")}})
	n := 0
	for _, host := range forbidden() {
		for _, scheme := range []string{"http", "https"} {
			n++
			for _, statusOnly := range []bool{false, true} {
				_, err := c.Fetch(t.Context(), fetch.Request{Method: "POST", URL: fmt.Sprintf("%s://%s:%s/", scheme, host, port), Body: []byte("{}"), StatusOnly: statusOnly})
				if !errors.Is(err, fetch.ErrPrivate) && !errors.Is(err, fetch.ErrRequest) && !errors.Is(err, fetch.ErrUnreachable) {
					t.Errorf("%s://%s: %v", scheme, host, err)
				}
				if a, parsed := netip.ParseAddr(strings.Trim(host, "[]")); parsed == nil && !errors.Is(err, fetch.ErrPrivate) {
					t.Errorf("%s is %s, and no private address: %v", host, a, err)
				}
			}
		}
	}
	if n < 100 || connections.Load() != 0 {
		t.Errorf("%d connections to %d addresses", connections.Load(), n)
	}
}

// listen accepts connections on every address of this machine, and counts them.
func listen(t *testing.T, connections *atomic.Int64) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			_ = conn.Close()
		}
	}()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// A redirect of a public receiver into the private network is not followed, and an
// allowed network does not open others.
func TestAllow(t *testing.T) {
	var inside atomic.Int64
	port := listen(t, &inside)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := "http://127.0.0.2:" + port + "/"
		if r.URL.Path == "/here" {
			to = "/"
		}
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(s.Close)
	c := adapter.New(adapter.Config{Timeout: 2 * time.Second, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	for _, path := range []string{"/", "/here"} {
		a, err := c.Fetch(t.Context(), fetch.Request{Method: "POST", URL: s.URL + path, Body: []byte("{}"), StatusOnly: true})
		if err != nil || a.Status != http.StatusTemporaryRedirect || a.Body != nil {
			t.Errorf("%s: %+v, %v", path, a, err)
		}
	}
	mapped := strings.Replace(s.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1)
	if a, err := c.Fetch(t.Context(), fetch.Request{URL: mapped, StatusOnly: true}); err != nil || a.Status != http.StatusTemporaryRedirect {
		t.Errorf("another spelling of what is allowed: %+v, %v", a, err)
	}
	if _, err := c.Fetch(t.Context(), fetch.Request{URL: "http://127.0.0.2:" + port, StatusOnly: true}); !errors.Is(err, fetch.ErrPrivate) {
		t.Error(err)
	}
	if inside.Load() != 0 {
		t.Errorf("%d connections inside", inside.Load())
	}
}

// TestStatusOnly: of an endless answer only the status is read.
func TestStatusOnly(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	c := adapter.New(adapter.Config{AllowPrivate: true, MaxBytes: 1})
	if a, err := c.Fetch(t.Context(), fetch.Request{URL: s.URL, StatusOnly: true}); err != nil || a.Status != 200 || a.Body != nil {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestPrivate: a fetcher with access to the private network cannot reach the metadata
// services of clouds, in any spelling, or link-local addresses.
func TestPrivate(t *testing.T) {
	c := adapter.New(adapter.Config{Timeout: 2 * time.Second, Allow: adapter.Private()})
	for _, host := range []string{
		"169.254.169.254", "[::ffff:169.254.169.254]", "2852039166", "168.63.129.16", "100.100.100.200", "[fd00:ec2::254]", "169.254.1.1", "[fe80::1]", "0.0.0.0",
	} {
		if _, err := c.Fetch(t.Context(), fetch.Request{URL: "http://" + host + "/", StatusOnly: true}); err == nil {
			t.Errorf("%s is reached", host)
		} else if !errors.Is(err, fetch.ErrPrivate) && host != "2852039166" { // not every resolver accepts a number
			t.Errorf("%s: %v", host, err)
		}
	}
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	if a, err := c.Fetch(t.Context(), fetch.Request{URL: s.URL, StatusOnly: true}); err != nil || a.Status != http.StatusNotFound {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestMetadata: allowed networks do not include the metadata services of clouds. The test
// calls the guard without a connection: in a cloud it would get an answer.
func TestMetadata(t *testing.T) {
	check := adapter.Guard([]netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")})
	for _, address := range []string{
		"169.254.169.254:80", "[::ffff:169.254.169.254]:80", "168.63.129.16:80", "100.100.100.200:80", "192.0.0.192:80", "169.254.170.2:80", "169.254.170.23:80", "169.254.42.42:80",
		"[fd00:ec2::254]:80", "[fd00:ec2::23]:80", "[fd20:ce::254]:80", "[fd00:42::42]:80",
	} {
		if err := check("tcp", address, nil); !errors.Is(err, fetch.ErrPrivate) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := check("tcp", "10.0.0.1:80", nil); err != nil {
		t.Error(err)
	}
}
