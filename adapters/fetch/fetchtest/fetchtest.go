// Package fetchtest tests how a fetcher handles addresses that clients choose.
package fetchtest

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-io/gatehouse/ports/fetch"
)

// The address that stands for the public Internet, and the private one that must never be
// reached.
const (
	outside = "127.0.0.1"
	inside  = "127.0.0.2"
)

// Outside checks that a fetcher reaches nothing private: neither through names, whatever
// they resolve to now and later, nor through redirects. open says that the fetcher may
// reach 127.0.0.1; otherwise no address of this machine may be reached.
func Outside(t *testing.T, f fetch.Fetcher, open bool) {
	t.Helper()
	var reached atomic.Int64
	port := listen(t, &reached)
	answers(t, map[string][]string{
		"inside.test": {inside}, "turns.test": {outside, inside}, "hops.test": {outside, inside}, "both.test": {outside + "," + inside}, "other.test": {inside + "," + outside},
	})
	for _, statusOnly := range []bool{false, true} {
		ask := func(host, path string, allowed bool) {
			t.Helper()
			answer, err := f.Fetch(t.Context(), fetch.Request{Method: http.MethodPost, URL: "http://" + host + ":" + port + path, Body: []byte("{}"), StatusOnly: statusOnly})
			if allowed && err != nil || !allowed && !errors.Is(err, fetch.ErrPrivate) {
				t.Errorf("%s%s: %d, %v", host, path, answer.Status, err)
			}
		}
		ask(inside, "/", false)
		ask("inside.test", "/", false)
		ask("turns.test", "/", open)
		ask("turns.test", "/", false)
		ask("both.test", "/", open)
		ask("other.test", "/", open)
		if open {
			ask(outside, "/to/"+inside+":"+port, true) // the answer is the redirect itself
			ask(outside, "/to/inside.test:"+port, true)
			ask("hops.test", "/here", statusOnly) // the next hop resolves the name again
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d connections inside", n)
	}
}

// listen answers requests to the outside address, and counts connections to the inside
// address, on the same port.
func listen(t *testing.T, reached *atomic.Int64) (port string) {
	t.Helper()
	for range 20 {
		out, err := net.Listen("tcp", outside+":0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ = net.SplitHostPort(out.Addr().String())
		in, err := net.Listen("tcp", inside+":"+port)
		if err != nil { // another process has the port there
			_ = out.Close()
			continue
		}
		s := &http.Server{Handler: http.HandlerFunc(redirect)} //nolint:gosec // of a test
		s.SetKeepAlivesEnabled(false)
		t.Cleanup(func() { _, _ = s.Close(), in.Close() })
		go func() { _ = s.Serve(out) }()
		go func() {
			for {
				conn, err := in.Accept()
				if err != nil {
					return
				}
				reached.Add(1)
				_ = conn.Close()
			}
		}()
		return port
	}
	t.Fatal("no port is free on both addresses")
	return ""
}

func redirect(w http.ResponseWriter, r *http.Request) {
	if to, ok := strings.CutPrefix(r.URL.Path, "/to/"); ok {
		http.Redirect(w, r, "http://"+to+"/", http.StatusTemporaryRedirect)
	} else if r.URL.Path == "/here" {
		http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
	}
}

// answers resolves names for the rest of the test: the first query gets the first
// addresses, the second query the second ones, and so on in turns.
func answers(t *testing.T, names map[string][]string) {
	t.Helper()
	conn, err := net.ListenPacket("udp", outside+":0")
	if err != nil {
		t.Fatal(err)
	}
	was := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	var served sync.WaitGroup
	served.Go(func() {
		turn, packet := map[string]int{}, make([]byte, 1<<12)
		for {
			n, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			// The name that the query asks for, and where the question ends (RFC 1035, 4.1.2).
			query, name, end := packet[:n], "", 12
			for query[end] != 0 {
				name += "." + string(query[end+1:end+1+int(query[end])])
				end += 1 + int(query[end])
			}
			name, end = strings.TrimPrefix(name, "."), end+5
			var to []string
			if list := names[name]; list != nil && binary.BigEndian.Uint16(packet[end-4:]) == 1 {
				to = strings.Split(list[turn[name]%len(list)], ",")
				turn[name]++
			}
			answer := append([]byte{}, packet[:end]...)
			binary.BigEndian.PutUint16(answer[2:], 0x8180)
			binary.BigEndian.PutUint16(answer[6:], uint16(len(to))) //nolint:gosec // two at most
			clear(answer[8:12])
			for _, address := range to { // of IPv4
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				answer = append(answer, net.ParseIP(address).To4()...)
			}
			_, _ = conn.WriteTo(answer, from)
		}
	})
	t.Cleanup(func() {
		net.DefaultResolver = was
		_ = conn.Close()
		served.Wait()
	})
}
