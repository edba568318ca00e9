package audit_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/audit"
)

func TestDumps(t *testing.T) {
	key := strings.Repeat("0a", 16)
	request := audit.DumpRequest(audit.Message{Start: "PUT /api/users/u?token=*** HTTP/1.1", Header: map[string][]string{
		"Authorization": {key}, "User-Agent": {"curl\r\nX-Forged: 1"}, "X-Whatever": {"a", "b"}, "Cookie": {"session=s"}, "Referer": {"https://a:b@host/x?code=1"},
	}})
	want := "PUT /api/users/u?token=*** HTTP/1.1\r\nAuthorization: ***\r\nCookie: ***\r\nReferer: https://***@host/x\r\nUser-Agent: curl  X-Forged: 1\r\nX-Whatever: ***\r\nX-Whatever: ***\r\n"
	if request != want {
		t.Errorf("%q", request)
	}
	for body, want := range map[string]string{
		`{"Message":"` + key + `","Meta":{"access_key":"short","id":"5f1a0c5d8e3b2a1f00000001"}}`:                             `{"Message":"***","Meta":{"access_key":"***","id":"5f1a0c5d8e3b2a1f00000001"}}`,
		`{"Message":"the key ` + key + ` is yours","mine":"x","n":1}`:                                                         `{"Message":"the key *** is yours","mine":"***","n":1}`,
		`["https://host/a-path-that-is-long-and-has-1-digit","/a-path-that-is-long-and-has-1-digit","words without a digit"]`: `["https://host/a-path-that-is-long-and-has-1-digit","/a-path-that-is-long-and-has-1-digit","words without a digit"]`,
		`{"` + key + `":1}`:                     `{"***":1}`,
		`plain ` + key:                          `(38 bytes)`,
		`"` + strings.Repeat("a", 64<<10) + `"`: `(65538 bytes)`,
		``:                                      ``,
	} {
		got := audit.DumpResponse(audit.Message{Start: "HTTP/1.1 200 OK", Header: map[string][]string{"Set-Cookie": {"a=b"}}, Body: [][]byte{[]byte(body)}}, []string{"mine"})
		if got != "HTTP/1.1 200 OK\r\nSet-Cookie: ***\r\n\r\n"+want {
			t.Errorf("%.100s: %q", body, got)
		}
	}
}

// The size of dumps is limited for any message.
func TestDumpsAreBounded(t *testing.T) {
	many := map[string][]string{}
	for i := range 500 {
		many["X-"+strings.Repeat("é", i)] = []string{"v"}
	}
	m := audit.Message{Start: strings.Repeat("é", 9000), Header: many, Body: [][]byte{[]byte(`["` + strings.Repeat("é ", 18000) + `"]`)}}
	r := audit.Record{RequestDump: audit.DumpRequest(m), ResponseDump: audit.DumpResponse(m, nil)}.Link(1, audit.Genesis)
	if len(r.RequestDump) > 4<<10 || len(r.ResponseDump) > 16<<10 || !utf8.ValidString(r.RequestDump+r.ResponseDump) {
		t.Error(len(r.RequestDump), len(r.ResponseDump))
	}
}

// FuzzDump dumps any texts of callers and responses: they cannot end a line.
func FuzzDump(f *testing.F) {
	f.Add("X-A", "v\r\nX-B: 1", `{"key":"secret"}`)
	f.Fuzz(func(t *testing.T, name, value, body string) {
		m := audit.Message{Start: "GET / HTTP/1.1", Header: map[string][]string{name: {value}}, Body: [][]byte{[]byte(body)}}
		if got := audit.DumpRequest(m); strings.Count(got, "\n") != 2 {
			t.Errorf("%q", got)
		}
		if got := audit.DumpResponse(m, []string{"body"}); !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
	})
}
