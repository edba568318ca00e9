package tryout

import (
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// TestCheck states which calls may be sent.
func TestCheck(t *testing.T) {
	long := strings.Repeat("x", MaxBody+1)
	for name, c := range map[string]struct {
		call  Call
		wrong string
	}{
		"nothing":            {Call{}, ""},
		"a call":             {Call{Method: "POST", Path: "/pets/a%20b", Query: "a=b&c=%20", Headers: []Header{{"X-Version", "2"}, {"Accept", "application/json"}}, Body: "{}", Token: "Bearer x"}, ""},
		"a method":           {Call{Method: "CONNECT"}, "Method"},
		"a small method":     {Call{Method: "get"}, "Method"},
		"a body to read":     {Call{Body: "x"}, "Body"},
		"a large body":       {Call{Method: "PUT", Body: long}, "Body"},
		"a query with lines": {Call{Query: "a\r\nb"}, "Query"},
		"a query and more":   {Call{Query: "a#b"}, "Query"},
		"two credentials":    {Call{Token: "x", CredentialID: 1}, "Token"},
		"a token of lines":   {Call{Token: "x\r\nHost: evil"}, "Token"},
		"a value of lines":   {Call{Headers: []Header{{"X", "a\nb"}}}, "Headers"},
		"a name of lines":    {Call{Headers: []Header{{"X: y\r\nZ", "a"}}}, "Headers"},
		"no name":            {Call{Headers: []Header{{"", "a"}}}, "Headers"},
		"too many":           {Call{Headers: make([]Header, maxHeaders+1)}, "Headers"},
	} {
		if err := c.call.Check(); (err == nil) != (c.wrong == "") || err != nil && (fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v, want %q", name, err, c.wrong)
		}
	}
	for _, name := range []string{"Host", "cookie", "Authorization", "Connection", "Transfer-Encoding", "Content-Length", "X-Forwarded-For", "Proxy-Authorization", "Sec-Fetch-Site", "X-Tyk-Authorization", "Upgrade"} {
		if (Call{Headers: []Header{{name, "x"}}}).Check() == nil {
			t.Error(name, "may be sent")
		}
	}
}

// TestAt states the addresses of calls.
func TestAt(t *testing.T) {
	const api = "https://gw.example.com/pets/"
	for path, want := range map[string]string{
		"": api, "/": api, "/1": api + "1", "/a/b/": api + "a/b/", "/a%20b": api + "a%20b", "/100%25": api + "100%25", "/a..b/...": api + "a..b/...", "//x": api + "/x",
		"x": "", "/../admin": "", "/a/../../tyk": "", "/%2e%2e/tyk": "", "/.%2E/tyk": "", "/%252e%252e/tyk": "", "/..;/tyk": "", "/a%2fb": "", "/a%5cb": "", `/\..\x`: "", "/a?b": "", "/a#b": "", "/a b": "", "/ä": "",
		"/%zz": "", "/a%00b": "", "/a%0d%0ab": "", "@evil.example/": "", "/./x": "", "/%252fx": "", "/%25252525": "",
		"/%2e%2e/tyk/%25": "", "/%25/%2e%2e/%2e%2e/tyk": "", "/%252e%252e/tyk/%25": "", "/%2e/%25": "", "/..%3b/%25": "", "/%25%32%65%25%32%65/%25": "", "/%25/100%25x": api + "%25/100%25x",
	} {
		if got, ok := (Call{Path: path}).At(api); got != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", path, got, ok, want)
		}
	}
	if got, ok := (Call{Path: "/", Query: "a=b"}).At("http://gw/graphql"); !ok || got != "http://gw/graphql?a=b" {
		t.Error(got, ok)
	}
	for _, api := range []string{"", "ftp://x/", "https://", "https://user:pass@x/", "https://x/?a", "https://x/#a", "::"} {
		if got, ok := (Call{Path: "/a"}).At(api); ok {
			t.Error(api, got)
		}
	}
}

// TestShown states which parts of a response are shown.
func TestShown(t *testing.T) {
	a := Shown(200, map[string][]string{"Set-Cookie": {"a=b"}, "X": {"1", "\xff"}, "A": {"z"}}, []byte("täxt"))
	if a.Body != "täxt" || len(a.Headers) != 3 || a.Headers[0].Name != "A" || a.Headers[2].Value != "\ufffd" || a.Cut {
		t.Errorf("%+v", a)
	}
	if a := Shown(200, nil, []byte("\x89PNG\xff")); a.Body != "" || a.Size != 5 {
		t.Errorf("%+v", a)
	}
	if a := Shown(200, nil, []byte(strings.Repeat("ä", maxShown))); !a.Cut || len(a.Body) > maxShown || a.Size != 2*maxShown {
		t.Error(a.Cut, len(a.Body), a.Size)
	}
}

// FuzzAt: the address of a call is always below its API, however often a server decodes
// escapes.
func FuzzAt(f *testing.F) {
	for _, s := range []string{"/a/b", "/%2e%2e/x", "/%252e%252e%252fx", "/..;/x", "//evil.example/x", "/100%25", "/%2e%2e/%25"} {
		f.Add(s, "a=b")
	}
	f.Fuzz(func(t *testing.T, at, query string) {
		got, ok := (Call{Path: at, Query: query}).At("https://gw.example.com/pets/")
		if c := (Call{Path: at, Query: query}); !ok || c.Check() != nil {
			return
		}
		u, err := url.Parse(got)
		if err != nil || u.Host != "gw.example.com" || u.User != nil {
			t.Fatalf("%q: %v %v", at, u, err)
		}
		seen := u.EscapedPath()
		for range 4 {
			if clean := path.Clean(seen); clean != "/pets" && !strings.HasPrefix(clean, "/pets/") {
				t.Fatalf("%q is %q", at, clean)
			}
			if seen, err = url.PathUnescape(seen); err != nil {
				return
			}
		}
	})
}
