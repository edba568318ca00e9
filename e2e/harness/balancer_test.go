package harness_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// backend answers with its name, the method, the path with query, and the body.
func backend(t *testing.T, name string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		fmt.Fprintf(w, "%s %s %s %s", name, r.Method, r.RequestURI, body)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// refusing is an address where nothing listens.
func refusing(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", harness.FreePort(t))
}

// breaking accepts connections, reads a request and closes the connection.
func breaking(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(within(t), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

func TestBalancerTakesTurnsPerRequest(t *testing.T) {
	balancer := harness.NewBalancer(t, backend(t, "a"), backend(t, "b"), backend(t, "c"))
	var got []string
	for range 7 {
		_, answer := ask(t, http.MethodGet, balancer.URL(), "")
		got = append(got, answer[:1])
	}
	if want := strings.Split("abcabca", ""); !slices.Equal(got, want) {
		t.Errorf("answered by %v, want %v", got, want)
	}
}

func TestBalancerFailsOverOnlyWhereItIsSafe(t *testing.T) {
	live := backend(t, "a")
	for _, c := range []struct {
		name, method, body string
		backends           []string
		status             int
		answer             string
	}{
		{"a refused POST goes on with its body", "POST", "text", []string{refusing(t), live}, 200, "a POST /p?q=1;2 text"},
		{"a broken GET goes on", "GET", "", []string{breaking(t), live}, 200, "a GET /p?q=1;2 "},
		{"a broken POST does not", "POST", "text", []string{breaking(t), live}, 502, ""},
		{"a broken DELETE does not", "DELETE", "", []string{breaking(t), live}, 502, ""},
		{"a broken GET with a body does not", "GET", "text", []string{breaking(t), live}, 502, ""},
		{"all refuse", "GET", "", []string{refusing(t), refusing(t)}, 502, ""},
		{"there is none", "GET", "", nil, 502, "balancer: no backend\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			balancer := harness.NewBalancer(t, c.backends...)
			status, answer := ask(t, c.method, balancer.URL()+"/p?q=1;2", c.body)
			if status != c.status || (c.answer != "" && answer != c.answer) {
				t.Errorf("got %d %q, want %d %q", status, answer, c.status, c.answer)
			}
		})
	}
}

func TestBalancerChangesBackends(t *testing.T) {
	balancer := harness.NewBalancer(t, backend(t, "a"))
	balancer.Set(backend(t, "b"))
	for range 2 {
		if _, answer := ask(t, http.MethodGet, balancer.URL(), ""); answer[:1] != "b" {
			t.Errorf("answered by %q", answer)
		}
	}
}

func TestFreePortsDifferAndAreFree(t *testing.T) {
	seen := map[int]bool{}
	for range 50 {
		port := harness.FreePort(t)
		if seen[port] {
			t.Fatalf("port %d was handed out twice", port)
		}
		seen[port] = true
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
	}
}
