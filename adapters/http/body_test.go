package http_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// A body that is small as text but large as values is refused as too large.
func TestBodiesAreBoundedByWhatTheyBecome(t *testing.T) {
	h := echoes(t, httpadapter.Config{MaxValues: 1000, MaxBody: 1 << 20})
	bomb := "a: &a " + strings.Repeat("x", 10_000) + "\nb: [" + strings.Repeat("*a,", 400) + "*a]\n"
	form := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n%s\r\n--x--\r\n"
	for name, c := range map[string]struct {
		mediaType, body string
		status          int
	}{
		"JSON, too many items":   {"application/json", "[" + strings.Repeat("1,", 1000) + "1]", 413},
		"JSON, many items":       {"application/json", "[" + strings.Repeat("1,", 900) + "1]", 200},
		"JSON, commas in a text": {"application/json", `"` + strings.Repeat(",[", 10_000) + `"`, 200},
		"YAML, too many items":   {"application/x-yaml", strings.Repeat("- 1\n", 2001), 413},
		"YAML, aliases":          {"application/x-yaml", bomb, 413},
		"form, aliases":          {"multipart/form-data; boundary=x", fmt.Sprintf(form, bomb), 413},
		"form, too many items":   {"multipart/form-data; boundary=x", fmt.Sprintf(form, "["+strings.Repeat("1,", 1000)+"1]"), 413},
		"graph, aliases":         {"application/vnd.tyk.udg.v2.openapi", bomb, 413},
		"YAML, broken":           {"application/x-yaml", "a: [", 400},
	} {
		r := httptest.NewRequest("POST", "/echo", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.mediaType)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != c.status || c.status == 413 && !strings.Contains(w.Body.String(), "Request body too large: ") {
			t.Errorf("%s: %d %.200s", name, w.Code, w.Body)
		}
	}
}

// While large bodies take all the memory, another one gets 503 with Retry-After at its
// deadline, and small ones are served.
func TestNoRoomForALargeBody(t *testing.T) {
	room := load.NewRoom(8<<20, nil)
	_, other := room.Begin(t.Context())
	if err := other.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := echoes(t, httpadapter.Config{Room: room, Deadline: 50 * time.Millisecond})
	post := func(body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/echo", strings.NewReader(body)))
		return w
	}
	largeBody := `"` + strings.Repeat("x", 500_000) + `"`
	if w := post(largeBody); w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "try again") {
		t.Errorf("%d %v %.200s", w.Code, w.Header(), w.Body)
	}
	if w := post(`{"small":1}`); w.Code != 200 {
		t.Errorf("a small body waits for large ones: %d %s", w.Code, w.Body)
	}
	other.End()
	for range 3 { // reservations are released
		if w := post(largeBody); w.Code != 200 {
			t.Errorf("%d %.200s", w.Code, w.Body)
		}
	}
}

// Slow bodies of one organisation leave memory for those of others.
func TestSlowBodiesOfOneOrganisation(t *testing.T) {
	room := load.NewRoom(8<<20, nil)
	slow, err := tenant.Of("slow")
	if err != nil {
		t.Fatal(err)
	}
	scope := slow
	h := echoes(t, httpadapter.Config{Room: room, Deadline: 50 * time.Millisecond, Guard: func(next operation.Handler) operation.Handler {
		return func(ctx ctx, c *operation.Call) (any, error) {
			c.Scope = scope
			if err := c.Receive(ctx); err != nil {
				return nil, err
			}
			return next(ctx, c)
		}
	}})
	for range 2 {
		_, q := room.Begin(t.Context())
		q.For(string(slow.Org()))
		if err := q.Text(t.Context(), 256<<10); err != nil {
			t.Fatal(err)
		}
	}
	post := func() int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/echo", strings.NewReader(`"`+strings.Repeat("x", 100_000)+`"`)))
		return w.Code
	}
	if status := post(); status != 503 {
		t.Errorf("the organisation has more than its share: %d", status)
	}
	if scope, err = tenant.Of("other"); err != nil {
		t.Fatal(err)
	}
	if status := post(); status != 200 {
		t.Errorf("another organisation waits for it: %d", status)
	}
}

// dial sends the head of a request and returns a reader for the answer.
func dial(t *testing.T, s *httptest.Server, head string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil { // for a server that never answers
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, head); err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewReader(c)
}

// A body that arrives very slowly ends at the deadline of its row, and so does the
// connection.
func TestSlowBodiesEndAtTheDeadline(t *testing.T) {
	s := httptest.NewServer(echoes(t, httpadapter.Config{Deadline: 100 * time.Millisecond}))
	t.Cleanup(s.Close) // after the connections, because it waits for running requests
	c, answers := dial(t, s, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{")
	go func() {
		for {
			if _, err := io.WriteString(c, " "); err != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	r, err := nethttp.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(r.Body); err != nil || r.StatusCode != 503 || !strings.Contains(string(body), "Timed out") {
		t.Errorf("%d %s %v", r.StatusCode, body, err)
	}
	if _, err := answers.ReadByte(); err == nil {
		t.Error("the connection is still there")
	}
}

// An unauthenticated caller gets the answer before the body is read, and keeps the
// connection when the body is short.
func TestStrangersDoNotWaitForTheirBodies(t *testing.T) {
	s := httptest.NewServer(echoes(t, httpadapter.Config{Guard: func(operation.Handler) operation.Handler {
		return func(ctx, *operation.Call) (any, error) {
			return nil, fault.New(fault.Unauthenticated, "auth.credential", "Not authorised")
		}
	}}))
	t.Cleanup(s.Close) // after the connections, because it waits for running requests
	for _, length := range []string{"Content-Length: 30000000", "Content-Length: 100000", "Transfer-Encoding: chunked"} {
		_, answers := dial(t, s, "POST /echo HTTP/1.1\r\nHost: x\r\n"+length+"\r\n\r\n1")
		r, err := nethttp.ReadResponse(answers, nil)
		if err != nil || r.StatusCode != 401 || !r.Close {
			t.Fatalf("%s: %+v %v", length, r, err)
		}
	}
	_, answers := dial(t, s, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
	for n := range 2 {
		r, err := nethttp.ReadResponse(answers, nil)
		if err != nil || r.StatusCode != 401 {
			t.Fatalf("answer %d: %+v %v", n, r, err)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Fatal(err)
		}
	}
}

// A client that sends all of a large body before it reads gets the answer.
func TestAnswersBehindLargeBodies(t *testing.T) {
	for name, guard := range map[string]func(operation.Handler) operation.Handler{
		"413": func(next operation.Handler) operation.Handler {
			return func(ctx ctx, c *operation.Call) (any, error) {
				if err := c.Receive(ctx); err != nil {
					return nil, err
				}
				return next(ctx, c)
			}
		},
		"401": func(operation.Handler) operation.Handler {
			return func(ctx, *operation.Call) (any, error) {
				return nil, fault.New(fault.Unauthenticated, "auth.credential", "Not authorised")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(echoes(t, httpadapter.Config{Guard: guard, MaxBody: 1 << 20}))
			t.Cleanup(s.Close)
			tellsBehind(t, s, "POST /echo", name)
		})
	}
	s := httptest.NewServer(echoes(t, httpadapter.Config{MaxBody: 1 << 20}))
	t.Cleanup(s.Close)
	tellsBehind(t, s, "DELETE /echo", "405") // no row has a body there, or no row has the path
	tellsBehind(t, s, "POST /none", "404")
}

func tellsBehind(t *testing.T, s *httptest.Server, request, status string) {
	t.Helper()
	for _, head := range []string{"Content-Length: 30000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n1c9c380\r\n"} {
		conn, answers := dial(t, s, request+" HTTP/1.1\r\nHost: x\r\n"+head)
		if _, err := conn.Write(make([]byte, 30_000_000)); err != nil {
			t.Fatalf("%s %q: %v", request, head, err)
		}
		if r, err := nethttp.ReadResponse(answers, nil); err != nil || strconv.Itoa(r.StatusCode) != status || !r.Close {
			t.Errorf("%s %q: %+v %v", request, head, r, err)
		}
	}
}
