package http_test

import (
	"context"
	nethttp "net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/http/contracttest"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

type enterIn struct {
	Origin operation.Origin
	Known  string `cookie:"known" doc:"What the browser has."`
}

// browserTable has a row that sets cookies and one that redirects a browser.
func browserTable() []operation.Operation {
	enter := func(_ context.Context, in enterIn) (operation.Landing, error) {
		return operation.Landing{Receipt: operation.Receipt{Message: "in", Meta: in.Known + " " + in.Origin.Peer}, Cookies: []operation.Cookie{
			{Name: "a", Value: "1", Life: time.Minute, Secure: true}, {Name: "b", Value: "2", Path: "/x", Life: time.Minute, Script: true}, {Name: "c"},
		}}, nil
	}
	leave := func(context.Context, struct{}) (operation.Landing, error) {
		return operation.Landing{Location: "/elsewhere?a=1", Cookies: []operation.Cookie{{Name: "a"}}}, nil
	}
	example := operation.Example(nil, operation.Landing{Receipt: operation.Receipt{Message: "in"}})
	return operation.Group{Surface: operation.Management, Name: "door", Tag: "Doors", Style: operation.Style{Word: "OK"}}.Rows(
		operation.POST("enter", "/enter", "Enter", enter, operation.Public(), example),
		operation.GET("enter.link", "/enter", "Enter by a link", enter, operation.Public(), example),
		operation.GET("leave", "/leave", "Leave", leave, operation.Public(), operation.Status(nethttp.StatusSeeOther), example),
	)
}

// Rows that answer with a Landing set cookies. Pages of other sites cannot call them,
// unless their visitor follows a link.
func TestCookiesAndOtherSites(t *testing.T) {
	ops := browserTable()
	s := &spy{}
	h, err := httpadapter.Handler(ops, httpadapter.Config{Guard: s.guard, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	document, err := httpadapter.Document(ops, "", "1")
	if err != nil {
		t.Fatal(err)
	}
	h = contracttest.Wrap(t, h, document)
	for _, c := range []struct {
		method, path string
		headers      []string
		status       int
	}{
		{"POST", "/enter", nil, 200},
		{"POST", "/enter", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"POST", "/enter", []string{"Origin", "http://example.com"}, 200},
		{"POST", "/enter", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"POST", "/enter", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"POST", "/enter", []string{"Origin", "https://evil.example"}, 403},
		{"GET", "/enter", []string{"Sec-Fetch-Site", "cross-site"}, 200},
		{"GET", "/leave", []string{"Sec-Fetch-Site", "cross-site"}, 303},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Header.Set("Cookie", "known=k; authorisation=s")
		for i := 0; i < len(c.headers); i += 2 {
			r.Header.Set(c.headers[i], c.headers[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got := w.Header()["Set-Cookie"]
		want := map[int][]string{
			200: {"a=1; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Lax", "b=2; Path=/x; Max-Age=60; SameSite=Lax", "c=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"},
			303: {"a=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax"},
		}[c.status]
		if w.Code != c.status || !slices.Equal(got, want) {
			t.Errorf("%s %s %v: %d %v", c.method, c.path, c.headers, w.Code, got)
		}
		if c.status == 200 && !strings.Contains(w.Body.String(), `"Meta":"k 192.0.2.1:1234"`) {
			t.Error(w.Body.String())
		}
		if c.status == 303 && (w.Header().Get("Location") != "/elsewhere?a=1" || w.Body.Len() > 0) {
			t.Error(w.Header(), w.Body.String())
		}
	}
}

// A browser's cookie is accepted on the surface of users only, and only without an
// access key.
func TestSessionCookie(t *testing.T) {
	s := serve(t)
	for _, c := range []struct{ target, key, session, proof string }{
		{"/api/fail", "", "s", "p"}, {"/api/fail", "k", "", ""}, {"/admin/fail", "", "", ""}, {"/system/fail", "", "", ""}, {"/hello/fail", "", "", ""},
	} {
		headers := []string{"Cookie", "x=y; authorisation=s", "X-CSRF-Token", "p"}
		if c.key != "" {
			headers = append(headers, "Authorization", c.key)
		}
		s.do("GET", c.target, "", headers...)
		if got := s.last(); got.Session != c.session || got.Proof != c.proof {
			t.Errorf("%+v: %q, %q", c, got.Session, got.Proof)
		}
	}
}
