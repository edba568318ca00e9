package http_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// answers to failures: status and compatible text.
var answers = map[string]struct {
	status  int
	message string
	code    string
	detail  string // if it differs from the message
}{
	"invalid":         {400, "name is nonsense", "thing.name", ""},
	"unauthenticated": {401, "Not authorised", "auth.credential", ""},
	"denied":          {403, "access denied: no", "auth.denied", ""},
	"not_found":       {404, "thing not found", "thing.not_found", ""},
	"conflict":        {403, "thing exists: 'x'", "thing.taken", ""}, // by its kind
	"stale":           {412, "changed meanwhile", "thing.stale", ""},
	"unavailable":     {503, "come back later", "unavailable", ""},
	"too_large":       {413, "less, please", "thing.too_large", ""},
	"too_slow":        {408, "faster, please", "thing.too_slow", ""},
	"too_many":        {429, "wait, please", "thing.too_many", ""},
	"internal":        {500, "error saving thing", "internal", ""},
	"nokind":          {500, "odd", "thing.odd", ""},
	"driver":          {500, "Internal error", "internal", ""},
	"tardy":           {503, "The write would keep all others waiting and was refused; send less at once", "store.too_long", ""},
	"away":            {503, "The store is not reachable at the moment; try again", "store.unavailable", ""},
	"gone":            {503, "The database file has been moved or deleted and nothing was stored; put it back, or restore a backup, and restart the service", "store.gone", ""},
	"replaced":        {503, "Another file is in the place of the database file and nothing was stored; put the right one back, and restart the service", "store.gone", ""},
	"elsewhere":       {503, "Another process serves from the database file and nothing was stored; end one of the two", "store.gone", ""},
	"hidden":          {503, "The database file cannot be accessed and nothing was stored; check its folder and the access rights", "store.gone", ""},
	"file":            {503, "The database file cannot be read or written at the moment; the log says why", "store.unavailable", ""},
	"deadline":        {503, "Timed out", "deadline", ""},
	"canceled":        {503, "Cancelled; try again", "cancelled", ""},
	"styled":          {422, "styled: own text!", "thing.styled", "own text"},
	"styledkind":      {403, "own text", "thing.other", ""},
	"panic":           {500, "Internal error", "internal", ""},
}

var surfaces = map[string]string{"/api": `"Meta":null}`, "/admin": `"Meta":null}`, "/system": `"Nonce":""}`, "/hello": `"Meta":null}`}

func TestErrors(t *testing.T) {
	s := serve(t)
	for prefix, last := range surfaces {
		for how, want := range answers {
			w := s.do("GET", prefix+"/fail?how="+how, "")
			message, _ := json.Marshal(want.message)
			body := strings.ReplaceAll(`{"Status":"Error","Message":`+string(message)+`,`+last, `\u0026`, "&")
			if w.Code != want.status || w.Body.String() != body {
				t.Errorf("%s %s: %d %s\nwant %d %s", prefix, how, w.Code, w.Body, want.status, body)
			}
			if (w.Header().Get("Retry-After") == "1") != (w.Code == 503) {
				t.Errorf("%s %s: Retry-After %q", prefix, how, w.Header().Get("Retry-After"))
			}
			if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Request-Id") != "made-up" {
				t.Errorf("%s %s: %v", prefix, how, w.Header())
			}
		}
	}
}

func TestProblems(t *testing.T) {
	s := serve(t)
	for prefix := range surfaces {
		for how, want := range answers {
			w := s.do("GET", prefix+"/fail?how="+how, "", "Accept", "text/html;q=1, Application/Problem+JSON ; q=0.1", "X-Request-Id", "abc")
			if w.Code != want.status || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Fatalf("%s %s: %d %v", prefix, how, w.Code, w.Header())
			}
			var p struct {
				Type, Title, Detail, Instance, Code, Field string
				Status                                     int
				RequestID                                  string `json:"request_id"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
				t.Fatal(err)
			}
			detail := want.message
			if want.detail != "" {
				detail = want.detail
			}
			if p.Type != "about:blank" || p.Title == "" || p.Status != want.status || p.Detail != detail || p.Code != want.code ||
				p.Instance != "urn:request:abc" || p.RequestID != "abc" || (p.Field == "name") != (how == "invalid") {
				t.Errorf("%s %s: %s", prefix, how, w.Body)
			}
		}
	}
	for _, accept := range []string{"application/problem+json;q=0", "*/*", "application/*", "application/json"} {
		if w := s.do("GET", "/api/fail?how=denied", "", "Accept", accept); w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s", accept, w.Header().Get("Content-Type"))
		}
	}
}

// TestNodeErrorsAreNeutral proves that no error below the paths of nodes contains a
// word that stops a gateway's reloads (docs/wire/gateway-nodes.md#recovery-words).
func TestNodeErrorsAreNeutral(t *testing.T) {
	s := serve(t, func(c *httpadapter.Config) { c.MaxBody = 8 })
	var targets [][2]string
	for how := range failures {
		targets = append(targets, [2]string{"GET", "/system/fail?how=" + how}, [2]string{"POST", "/system/fail?how=" + how})
	}
	for _, path := range []string{"/system/nonce", "/register/", "/register/nonce/nonce", "/system", "/system/fail/nonce"} {
		targets = append(targets, [2]string{"GET", path})
	}
	targets = append(targets, [2]string{"DELETE", "/system/fail"}, [2]string{"PUT", "/register/nonce"}, [2]string{"GET", "/system/fail?how=panic"})
	for _, target := range targets {
		for _, accept := range []string{"", "application/problem+json"} {
			w := s.do(target[0], target[1], "", "Accept", accept, "X-Request-Id", "nonce")
			if w.Code < 400 {
				t.Fatalf("%v: %d", target, w.Code)
			}
			for _, word := range []string{"Nonce failed", "nonce", "No node ID Found"} {
				if strings.Contains(w.Body.String(), word) {
					t.Errorf("%v %q: %s", target, accept, w.Body)
				}
			}
			if !strings.HasPrefix(w.Body.String(), `{"Status":"Error","Message":"`) && w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%v: %s", target, w.Body)
			}
		}
	}
	if w := s.do("GET", "/system/fail?how=words", ""); w.Body.String() != `{"Status":"Error","Message":"Forbidden","Nonce":""}` {
		t.Errorf("%s", w.Body)
	}
	if w := s.do("GET", "/api/fail?how=words", ""); !strings.Contains(w.Body.String(), "Nonce failed") {
		t.Errorf("users may read anything: %s", w.Body)
	}
}

func TestLost(t *testing.T) {
	s := serve(t)
	for _, tt := range []struct {
		method, target string
		status         int
		allow, body    string
	}{
		{"GET", "/api/none", 404, "", `{"Status":"Error","Message":"Not Found","Meta":null}`},
		{"GET", "/admin/none", 404, "", `{"Status":"Error","Message":"Not Found","Meta":null}`},
		{"GET", "/", 404, "", `{"Status":"Error","Message":"Not Found","Meta":null}`},
		{"GET", "/system/none", 404, "", `{"Status":"Error","Message":"Not Found","Nonce":""}`},
		{"OPTIONS", "/none", 404, "", `{"Status":"Error","Message":"Not Found","Meta":null}`},
		{"PATCH", "/api/things", 405, "GET, HEAD, POST", `{"Status":"Error","Message":"Method not allowed","Meta":null}`},
		{"OPTIONS", "/api/things/x/", 405, "DELETE, GET, HEAD, PATCH, PUT", `{"Status":"Error","Message":"Method not allowed","Meta":null}`},
		{"POST", "/register/x", 405, "GET, HEAD", `{"Status":"Error","Message":"Method not allowed","Nonce":""}`},
	} {
		w := s.do(tt.method, tt.target, "")
		if w.Code != tt.status || w.Header().Get("Allow") != tt.allow || w.Body.String() != tt.body {
			t.Errorf("%s %s: %d %q %s", tt.method, tt.target, w.Code, w.Header().Get("Allow"), w.Body)
		}
		if w.Header().Get("X-Request-Id") != "made-up" || w.Header().Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s %s: %v", tt.method, tt.target, w.Header())
		}
	}
	w := s.do("PATCH", "/api/things", "", "Accept", "application/problem+json")
	if w.Code != 405 || !strings.Contains(w.Body.String(), `"code":"route.method"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, line := range s.lines() {
		if line["operation"] != "unrouted" || line["msg"] != "request" {
			t.Errorf("%v", line)
		}
	}
	// The guard gets calls below /api and /admin, with a path without secrets.
	if len(s.begun) != 9 || len(s.calls) != 5 {
		t.Errorf("observed %v, guarded %d", s.begun, len(s.calls))
	}
	for path, want := range map[string]string{
		"/api/none/x": "/api/none/x", "/api/secrets/s3cret/more": "/api/secrets/***/more", "/api/%6Bey/s3cret": "/api/%6Bey/***", "/api/none/0123456789abcdef0123456789abcdef/x": "/api/none/***/x",
	} {
		s.do("DELETE", path, "")
		if c := s.last(); c.RawPath != want || c.Spec.Method != "DELETE" || !c.Spec.Unrouted || c.Spec.Intent != "write" {
			t.Errorf("%s: %s %+v", path, c.RawPath, c.Spec)
		}
	}
	if s.do("HEAD", "/api/none", ""); s.last().Spec.Intent != "read" || s.last().Verb() != "HEAD" {
		t.Error("to look for what there is not is a write")
	}
	if s.do("BREW", "/api/none", ""); s.last().Verb() != "other" {
		t.Error("a method that a client has invented is told:", s.last().Verb())
	}
}

func TestBadTables(t *testing.T) {
	pass := func(next operation.Handler) operation.Handler { return next }
	for name, change := range map[string]func(*operation.Operation){
		"unsound":          func(o *operation.Operation) { o.Summary = "" },
		"page without key": func(o *operation.Operation) { o.Style.ListKey = "" },
	} {
		ops := table()[:1]
		change(&ops[0])
		if _, err := httpadapter.Handler(ops, httpadapter.Config{Guard: pass}); err == nil {
			t.Error(name)
		}
	}
	receipt := table()[2:3]
	receipt[0].Style.Word = ""
	if _, err := httpadapter.Handler(receipt, httpadapter.Config{Guard: pass}); err == nil {
		t.Error("an envelope without a word")
	}
	if _, err := httpadapter.Handler(table(), httpadapter.Config{}); err == nil {
		t.Error("no guard")
	}
	if _, err := httpadapter.Handler(append(table(), table()...), httpadapter.Config{Guard: pass}); err == nil {
		t.Error("every row twice")
	}
}

// TestKindsHaveStatuses fails when a kind of fault is added without an answer.
func TestKindsHaveStatuses(t *testing.T) {
	var kind fault.Kind
	ops := operation.Group{Surface: operation.Probe, Name: "k", Tag: "K"}.Rows(operation.GET("k", "/k", "K",
		func(_ ctx, _ struct{}) (any, error) { return nil, fault.New(kind, "", "m") }, operation.Public(), operation.Example(nil, 1)))
	h, err := httpadapter.Handler(ops, httpadapter.Config{Guard: func(next operation.Handler) operation.Handler { return next }, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, kind = range fault.Kinds() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/k", nil))
		if w.Code < 400 || seen[w.Code] {
			t.Errorf("%s: %d", kind, w.Code)
		}
		seen[w.Code] = true
	}
}
