package http_test

import (
	"compress/gzip"
	"io"
	"strconv"
	"strings"
	"testing"
)

const thingText = `{"_id":"1","name":"%s","size":null,"made":"2026-01-02T03:04:05Z","also":{},"count":"3"}`

func TestOutputs(t *testing.T) {
	s := serve(t)
	named := func(name string) string { return strings.Replace(thingText, "%s", name, 1) }
	for _, tt := range []struct {
		name, method, target, body string
		status                     int
		want, tag, cache           string
	}{
		{"page", "GET", "/api/things?n=2", "", 200, `{"things":[` + named("x") + "," + named("x") + `],"pages":1}`, "", "no-store"},
		{"empty page", "GET", "/api/things/", "", 200, `{"things":[],"pages":1}`, "", "no-store"},
		{"page of values that write themselves", "GET", "/api/things/words/all", "", 200, `{"things":[{"spelled":"a <&>"},{"spelled":"b <&>"}],"pages":2}`, "", "no-store"},
		{"page under other names", "GET", "/api/policies", "", 200, `{"Data":[],"Pages":1}`, "", "no-store"},
		{"receipt", "POST", "/api/things", `{"name":"x"}`, 201, `{"Status":"success","Message":"thing <made>","Meta":"x","ID":"1"}`, `"7"`, "no-store"},
		{"receipt with nothing", "DELETE", "/api/things/x", "", 200, `{"Status":"success","Message":"thing deleted","Meta":null}`, "", "no-store"},
		{"entity", "GET", "/api/things/%C3%A4%2Fb%3F", "", 200, named("ä/b?"), `"7"`, "private, no-cache"},
		{"entity that writes itself", "GET", "/api/things/x/word", "", 200, `{"spelled":"x <&>"}`, `"w"`, "private, no-cache"},
		{"entity of a write", "PUT", "/api/things/x", `{"name":"y"}`, 200, named("y"), `"8"`, "no-store"},
		{"bare value", "PATCH", "/api/things/x", `{"name":null}`, 200, named("x"), "", "no-store"},
		{"nothing", "POST", "/api/things/x/touch", "", 204, "", "", "no-store"},
		{"an interface", "GET", "/api/things/receipt/any", "", 200, `{"Status":"success","Message":"m","Meta":{"a":1}}`, "", "no-store"},
		{"what cannot be encoded", "GET", "/api/things/x/any", "", 500, `{"Status":"Error","Message":"Internal error","Meta":null}`, "", "no-store"},
		{"what fails to write itself", "GET", "/api/things/broken/word", "", 500, `{"Status":"Error","Message":"Internal error","Meta":null}`, "", "no-store"},
		{"stream", "GET", "/register/abc", "", 200, `{"Status":"OK","Message":[],"Nonce":"n-1"}`, `"abc"`, "private, no-cache"},
		{"probe", "GET", "/hello/fail", "", 200, strings.Replace(strings.Replace(named(""), `"1"`, `""`, 1), "2026-01-02T03:04:05Z", "0001-01-01T00:00:00Z", 1), "", "no-store"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.t = t
			w := s.do(tt.method, tt.target, tt.body)
			got := w.Body.String()
			if tt.name == "probe" {
				got = strings.Replace(got, `"count":"0"`, `"count":"3"`, 1)
			}
			if w.Code != tt.status || got != tt.want {
				t.Errorf("%d %s\nwant %d %s", w.Code, got, tt.status, tt.want)
			}
			h := w.Header()
			for name, want := range map[string]string{"ETag": tt.tag, "Cache-Control": tt.cache, "Referrer-Policy": "no-referrer",
				"X-Content-Type-Options": "nosniff", "X-Request-Id": "made-up", "Access-Control-Allow-Credentials": ""} {
				if h.Get(name) != want {
					t.Errorf("%s: %q, want %q", name, h.Get(name), want)
				}
			}
			length, kind := strconv.Itoa(w.Body.Len()), "application/json"
			if tt.status == 204 {
				length, kind = "", ""
			}
			if h.Get("Content-Length") != length || h.Get("Content-Type") != kind {
				t.Errorf("%q %q", h.Get("Content-Length"), h.Get("Content-Type"))
			}
		})
	}
}

func TestConditionalRead(t *testing.T) {
	s := serve(t)
	for _, tt := range []struct {
		target, header, value string
		status                int
	}{
		{"/api/things/x", "If-None-Match", `"7"`, 304},
		{"/api/things/x", "If-None-Match", `"6", W/"7"`, 304},
		{"/api/things/x", "If-None-Match", `*`, 304},
		{"/api/things/x", "If-None-Match", `"8"`, 200},
		{"/api/things/x", "If-Match", `"7"`, 200},
		{"/api/things/x", "If-Match", `*`, 200},
		{"/api/things/x", "If-Match", `"8"`, 412},
		{"/api/things/x", "If-Match", `W/"7"`, 412},
		{"/api/things/x", "If-Match", `7`, 400},
		{"/api/things", "If-Match", `"8"`, 200}, // no entity, no tag
		{"/register/abc", "If-None-Match", `"abc"`, 304},
	} {
		w := s.do("GET", tt.target, "", tt.header, tt.value)
		if w.Code != tt.status {
			t.Errorf("%s %s: %d, want %d: %s", tt.header, tt.value, w.Code, tt.status, w.Body)
		}
		if w.Code == 304 && (w.Body.Len() > 0 || w.Header().Get("ETag") == "" || w.Header().Get("Content-Type") != "" || w.Header().Get("Cache-Control") != "private, no-cache") {
			t.Errorf("%s %s: %s %v", tt.header, tt.value, w.Body, w.Header())
		}
	}
}

func TestConditionalWrite(t *testing.T) {
	s := serve(t)
	for value, want := range map[string]int{`"7"`: 200, `"6"`: 412, `"6", "7"`: 200, `nonsense`: 400} {
		if w := s.do("PUT", "/api/things/x", `{"name":"y"}`, "If-Match", value); w.Code != want {
			t.Errorf("%s: %d, want %d", value, w.Code, want)
		}
	}
	if w := s.do("PUT", "/api/things/x", `{"name":"y"}`, "If-None-Match", "*"); w.Code != 412 {
		t.Errorf("If-None-Match: *: %d", w.Code)
	}
}

func TestGzip(t *testing.T) {
	s := serve(t)
	for accept, want := range map[string]bool{"gzip": true, "deflate, GZIP;q=0.5": true, "gzip;q=0": false, "gzip; q=0.0, br": false, "": false, "identity": false, "gzip;q=x": false} {
		w := s.do("GET", "/register/abc", "", "Accept-Encoding", accept)
		body, tag := io.Reader(w.Body), `"abc"`
		if length := strconv.Itoa(w.Body.Len()); w.Header().Get("Content-Length") != length {
			t.Errorf("%q: length %s", accept, w.Header().Get("Content-Length"))
		}
		if want {
			tag = `"abc-gzip"`
			z, err := gzip.NewReader(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			body = z
		}
		text, err := io.ReadAll(body)
		if err != nil || string(text) != `{"Status":"OK","Message":[],"Nonce":"n-1"}` {
			t.Errorf("%q: %s %v", accept, text, err)
		}
		if h := w.Header(); (h.Get("Content-Encoding") == "gzip") != want || h.Get("Vary") != "Accept-Encoding" || h.Get("ETag") != tag {
			t.Errorf("%q: %v", accept, h)
		}
	}
	if w := s.do("GET", "/register/plain", "", "Accept-Encoding", "gzip"); w.Header().Get("Vary") != "" || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("a stream without a compressed form: %v", w.Header())
	}
	if w := s.do("GET", "/register/abc", "", "Accept-Encoding", "gzip", "If-None-Match", `"abc-gzip"`); w.Code != 304 || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestHead(t *testing.T) {
	s := serve(t)
	for target, status := range map[string]int{"/api/things/x": 200, "/api/fail?how=denied": 403, "/register/abc": 200, "/api/none": 404} {
		get, head := s.do("GET", target, ""), s.do("HEAD", target, "")
		if head.Code != status || head.Body.Len() != 0 {
			t.Errorf("%s: %d %s", target, head.Code, head.Body)
		}
		for name := range get.Header() {
			if get.Header().Get(name) != head.Header().Get(name) {
				t.Errorf("%s: %s is %q for GET and %q for HEAD", target, name, get.Header().Get(name), head.Header().Get(name))
			}
		}
	}
}
