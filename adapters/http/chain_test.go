package http_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	nethttp "net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

type ctx = context.Context

var quiet = slog.New(slog.DiscardHandler)

func TestCall(t *testing.T) {
	s := serve(t)
	s.do("PUT", "/api/things/%61%2Fb?p=1&p=2", `{"name":"y"}`, "Authorization", "k1", "Content-Type", "text/plain", "Cookie", "secret", "If-Match", `"7"`)
	c := s.last()
	want := &operation.Call{
		Spec: c.Spec, RequestID: "made-up", RawPath: "/api/things/%61%2Fb", Path: map[string]string{"name": "a/b"}, Query: url.Values{"p": {"1", "2"}}, RawQuery: "p=1&p=2",
		Header: map[string]string{"Content-Type": "text/plain", "If-Match": `"7"`}, Body: []byte(`{"name":"y"}`), Token: "k1", Remote: "192.0.2.1:1234", Peer: "192.0.2.1:1234",
		Principal: operation.Principal{ID: "principal-1"},
	}
	if status := c.Status(fault.New(fault.Denied, "", "no")); status != 403 {
		t.Errorf("the status of a refusal is %d", status)
	}
	c.Status, c.Answered = nil, nil // functions cannot be compared
	if !reflect.DeepEqual(c, want) || c.Spec.ID != "things.replace" {
		t.Errorf("%+v\nwant %+v", c, want)
	}
	s.do("GET", "/system/fail", "", "X-Test-Host", "h")
	if c = s.last(); c.Header["X-Test-Host"] != "h" || c.Path != nil || c.Query != nil {
		t.Errorf("%+v", c)
	}
}

func TestTokens(t *testing.T) {
	s := serve(t)
	for _, tt := range []struct{ target, header, value, want string }{
		{"/api/fail", "authorization", "abc", "abc"},
		{"/api/fail", "Authorization", "Bearer abc", "abc"},
		{"/api/fail", "Authorization", "bEARER   abc ", "abc"},
		{"/api/fail", "Authorization", "bearerabc", "bearerabc"},
		{"/api/fail", "Authorization", "Bearer ", "Bearer"},
		{"/api/fail", "Admin-Auth", "abc", ""},
		{"/admin/fail", "admin-auth", "abc", "abc"},
		{"/admin/fail", "Authorization", "abc", ""},
		{"/system/fail", "Authorization", "abc", "abc"},
		{"/hello/fail", "Authorization", "abc", ""},
	} {
		s.do("GET", tt.target, "", tt.header, tt.value)
		if got := s.last().Token; got != tt.want {
			t.Errorf("%s %s: %s: %q, want %q", tt.target, tt.header, tt.value, got, tt.want)
		}
	}
}

func TestRequestID(t *testing.T) {
	s := serve(t)
	for sent, want := range map[string]string{
		"": "made-up", "a.B_9-": "a.B_9-", "a b": "made-up", "ä": "made-up", "a\"": "made-up",
		strings.Repeat("x", 128): strings.Repeat("x", 128), strings.Repeat("x", 129): "made-up",
	} {
		if w := s.do("GET", "/api/things", "", "X-Request-Id", sent); w.Header().Get("X-Request-Id") != want || s.last().RequestID != want {
			t.Errorf("%q: %q %q", sent, w.Header().Get("X-Request-Id"), s.last().RequestID)
		}
	}
	for target, status := range map[string]int{"/api/none": 404, "/api/fail?how=panic": 500, "/api/fail?how=denied": 403} {
		if w := s.do("GET", target, "", "X-Request-Id", "mine"); w.Code != status || w.Header().Get("X-Request-Id") != "mine" {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
	}
}

func TestPanic(t *testing.T) {
	s := serve(t)
	s.do("GET", "/api/fail?how=panic", "", "Authorization", "token")
	lines := s.lines()
	if len(lines) != 2 || lines[1]["msg"] != "panic" || lines[1]["request_id"] != "made-up" || lines[1]["operation"] != "m.fail" ||
		!strings.Contains(lines[1]["stack"].(string), "table_test.go") || lines[1]["panic"] != "secret panic text" {
		t.Fatalf("%v", lines)
	}
	if lines[0]["msg"] != "request" || lines[0]["status"] != 500.0 || lines[0]["level"] != "WARN" || s.ended[0] != 500 {
		t.Errorf("%v %v", lines[0], s.ended)
	}
}

func TestObserver(t *testing.T) {
	s := serve(t)
	s.do("POST", "/api/things", `{"name":"x"}`)
	s.do("GET", "/api/fail?how=denied", "")
	s.do("GET", "/api/things/x", "", "If-None-Match", `"7"`)
	s.do("PATCH", "/api/things", "")
	if !reflect.DeepEqual(s.begun, []string{"things.create", "m.fail", "things.get", "unrouted"}) || !reflect.DeepEqual(s.ended, []int{201, 403, 304, 405}) {
		t.Errorf("%v %v", s.begun, s.ended)
	}
	s = serve(t, func(c *httpadapter.Config) { c.Observer = nil })
	if w := s.do("GET", "/api/things", ""); w.Code != 200 {
		t.Error(w.Code)
	}
}

func TestAccessLog(t *testing.T) {
	s := serve(t)
	s.do("GET", "/api/things/x", "")
	s.do("POST", "/api/things", `{"name":"x"}`)
	s.do("GET", "/api/fail?how=unavailable", "")
	s.do("BREW", "/api/things", "")
	want := []struct {
		level, operation, method string
		status                   float64
		principal                string
	}{
		{"DEBUG", "things.get", "GET", 200, "principal-1"}, {"INFO", "things.create", "POST", 201, "principal-1"},
		{"WARN", "m.fail", "GET", 503, "principal-1"}, {"INFO", "unrouted", "other", 405, "principal-1"},
	}
	lines := s.lines()
	if len(lines) != len(want) {
		t.Fatalf("%v", lines)
	}
	for i, w := range want {
		l := lines[i]
		if l["level"] != w.level || l["operation"] != w.operation || l["method"] != w.method || l["status"] != w.status || l["principal_id"] != w.principal ||
			l["request_id"] != "made-up" || l["duration"] == nil || len(l) != 9 {
			t.Errorf("%v", l)
		}
	}
}

// TestLogsKeepSecrets sends secrets in every place a client can put them.
func TestLogsKeepSecrets(t *testing.T) {
	s := serve(t)
	s.before = func(*operation.Call) error { return nil }
	for _, target := range []string{"/api/things/hush-path", "/api/things/hush-path?q=hush-query", "/api/hush-none?x=hush-query", "/api/fail?how=driver&x=hush-query"} {
		for _, method := range []string{"GET", "PUT", "POST", "DELETE", "HUSH"} {
			s.do(method, target, `{"name":"hush-body","word":[`, "Authorization", "Bearer hush-key", "admin-auth", "hush-admin", "Cookie", "a=hush-cookie",
				"User-Agent", "hush-agent", "X-Request-Id", "hush id", "Referer", "hush-referer")
		}
	}
	if text := s.logs.String(); strings.Contains(strings.ToLower(text), "hush") || len(s.lines()) < 20 {
		t.Error(text)
	}
}

func TestErrorsAreLogged(t *testing.T) {
	for how, want := range map[string]struct{ level, text string }{
		"driver": {"ERROR", "pq: secret driver text"}, "internal": {"ERROR", "error saving thing: pq: secret driver text"},
		"away": {"WARN", "dial tcp: secret driver text: store: not reachable at the moment"}, "conflict": {"DEBUG", "thing exists: 'x': pq: duplicate key"},
		"deadline": {"WARN", "secret driver text: context deadline exceeded"}, "denied": {"", ""},
	} {
		s := serve(t)
		s.do("GET", "/api/fail?how="+how, "")
		lines := s.lines()
		if want.text == "" {
			if len(lines) != 1 {
				t.Errorf("%s: %v", how, lines)
			}
			continue
		}
		if len(lines) != 2 || lines[0]["msg"] != "request failed" || lines[0]["level"] != want.level || lines[0]["error"] != want.text || lines[0]["request_id"] != "made-up" {
			t.Errorf("%s: %v", how, lines)
		}
	}
}

func TestBodyLimit(t *testing.T) {
	const over = 201 // the row allows 200
	s := serve(t)
	body := `{"name":"` + strings.Repeat("x", over-11) + `"}`
	for name, in := range map[string]io.Reader{"announced": strings.NewReader(body), "chunked": io.MultiReader(strings.NewReader(body)), "chunked, endless": endless{}} {
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, httptest.NewRequest("POST", "/api/things", in))
		if w.Code != 413 || w.Body.String() != `{"Status":"Error","Message":"Request body too large","Meta":null}` || w.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if text := s.logs.String(); strings.Contains(text, "status=201") {
		t.Error("the operation saw a request that was too large")
	}
	for _, in := range []io.Reader{strings.NewReader(body[:9] + body[10:]), io.MultiReader(strings.NewReader(body[:9] + body[10:]))} {
		w := httptest.NewRecorder()
		if s.handler.ServeHTTP(w, httptest.NewRequest("POST", "/api/things", in)); w.Code != 201 {
			t.Errorf("exactly the limit: %d %s", w.Code, w.Body)
		}
	}
	s = serve(t, func(c *httpadapter.Config) { c.MaxBody = 10 })
	if w := s.do("PATCH", "/api/things/x", `{"name":"x"}`); w.Code != 413 {
		t.Error(w.Code)
	}
	if w := s.do("DELETE", "/api/things/x", `{"name":"x"}`); w.Code != 200 {
		t.Error("a row without a body does not read one", w.Code)
	}
	r := httptest.NewRequest("PATCH", "/api/things/x", nethttp.MaxBytesReader(nil, io.NopCloser(strings.NewReader(body)), 5))
	w := httptest.NewRecorder()
	if s.handler.ServeHTTP(w, r); w.Code != 413 {
		t.Error("somebody else's limit", w.Code)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte("x"), len(p))), nil }

func TestBodyNobodyCanRead(t *testing.T) {
	s := serve(t)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, httptest.NewRequest("POST", "/api/things", io.MultiReader(strings.NewReader("{"), broken{})))
	if w.Code != 400 || strings.Contains(w.Body.String(), "wire") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("wire cut") }

func TestDepth(t *testing.T) {
	s := serve(t, func(c *httpadapter.Config) { c.MaxDepth = 5 })
	nested := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	for body, want := range map[string]string{
		nested(5):                       ``,
		nested(6):                       `error reading json body: nested deeper than 5 levels`,
		`{"a":[1,[2,[3,[4,[5]]]]]}`:     `error reading json body: nested deeper than 5 levels`,
		`{"a":"[[[[[[[[[[{{{{{{"}`:      ``,
		`[[[[[[[[`:                      `error reading json body: `, // the decoder, behind the guard
		`{"a":[[],[],[],[],[],[],[]]}`:  ``,
		strings.Repeat("[", 100_000):    `error reading json body: `,
		`{"a":"\"[[[[[[","b":[[[[1]]]]`: `error reading json body: `,
	} {
		w := s.do("PATCH", "/api/things/x", body)
		if (w.Code == 200) != (want == "") || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%.40s: %d %s", body, w.Code, w.Body)
		}
	}
}

// The body of an unauthenticated request is not read, and its length, type and form are
// not checked.
func TestStrangersAreRefusedUnread(t *testing.T) {
	s := serve(t)
	s.before = func(*operation.Call) error {
		return fault.New(fault.Unauthenticated, "auth.credential", "Not authorised")
	}
	for _, length := range []int64{-1, 0, 1, 1 << 40} {
		for _, mediaType := range []string{"", "application/json", "application/x-yaml", "multipart/form-data; boundary=x"} {
			r := httptest.NewRequest("PUT", "/api/things/x", unread{t})
			r.ContentLength, r.Header["Content-Type"] = length, []string{mediaType}
			w := httptest.NewRecorder()
			if s.handler.ServeHTTP(w, r); w.Code != 401 || s.last().Body != nil {
				t.Errorf("%d %s: %d %s", length, mediaType, w.Code, w.Body)
			}
		}
	}
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func TestDeadline(t *testing.T) {
	s := serve(t)
	w := s.do("GET", "/api/things/x/slow", "")
	if w.Code != 503 || w.Header().Get("Retry-After") != "1" || w.Body.String() != `{"Status":"Error","Message":"Timed out","Meta":null}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestClientGone(t *testing.T) {
	ops := table()
	s := &spy{}
	var logs bytes.Buffer
	h, err := httpadapter.Handler(ops, httpadapter.Config{Guard: s.guard, Observer: s, Logger: slog.New(slog.NewTextHandler(&logs, nil))})
	if err != nil {
		t.Fatal(err)
	}
	c, cancel := context.WithCancel(t.Context())
	cancel()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/api/fail?how=canceled", nil).WithContext(c))
	if s.ended[0] != 499 || strings.Contains(logs.String(), "WARN") || !strings.Contains(logs.String(), "status=499") {
		t.Errorf("%v %s", s.ended, &logs)
	}
}
