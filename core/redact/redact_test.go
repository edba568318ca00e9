package redact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/redact"
)

func TestName(t *testing.T) {
	for name, want := range map[string]bool{
		"access_key": true, "Access-Key": true, "jwt_source": true, "source": true, "X-Api-Key": true, "client_secret": true, "key": true,
		"New_Password": true, "Authorization": true, "Set-Cookie": true, "admin-auth": true, "shared_secret": true, "digest": true, "db_pass": true, "dbPass": true, "bypass": false, "password_max_days": false, "PasswordUpdated": false, "password_max_days_password": true, "passed": false, "pass_through": false,
		"name": false, "keys": false, "api_id": false, "listen_path": false, "key_id": false, "resource": false,
	} {
		if got := redact.Name(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !redact.Headers("header_map") || !redact.Headers("requestHeaders") || redact.Headers("path") || !redact.Header("X-Whatever") || redact.Header("Content-Type") {
		t.Error("headers")
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                                      "plain",
		"https://host/path?q=1":                      "https://host/path?q=1",
		"https://user:pass@host/path":                "https://***@host/path",
		"dial postgres://u:p%40x@db:5432/x: lost":    "dial postgres://***@db:5432/x: lost",
		"https://u@h/?a=1&access_token=abc#x":        "https://***@h/?a=1&access_token=***#x",
		`{"a":"redis://:pw@r","b":"http://h?key=k"}`: `{"a":"redis://***@r","b":"http://h?key=***"}`,
		"mail me@example.com":                        "mail me@example.com",
		"user:pass@host/path":                        "***@host/path",
		`"::u:p@": no address`:                       `"***@": no address`,
		"upstreamURL=u:p@h":                          "upstreamURL=***@h",
		"at 10:30 to me@example.com":                 "at 10:30 to me@example.com",
	} {
		if got := redact.Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := redact.Credentials("https://u:p@h/?token=t&x=y"); !slices.Equal(got, []string{"u:p", "p", "t"}) {
		t.Error(got)
	}
	if got := redact.Credentials("u:p@h"); !slices.Equal(got, []string{"u:p", "p"}) {
		t.Error(got)
	}
}

func TestQuery(t *testing.T) {
	for raw, want := range map[string]string{
		"":                     "",
		"zeta=1&p=1&q=a%20b":   "zeta=1&p=1&q=a%20b",
		"q=%zz&b=2&a=1&a=0":    "q=%zz&b=2&a=1&a=0",
		"q=x;y&p=1&&flag&=v":   "q=x;y&p=1&&flag&=v",
		"token=s3cret&b=%41":   "token=***&b=%41",
		"%74oken=s3cret;p=1":   "%74oken=***;p=1",
		"q=x;api_key=s3cret":   "q=x;api_key=***",
		"key%zz=s3cret&key%=x": "key%zz=***&key%=***",
		"u=https%3A%2F%2Fa%3As3cret%40h%2F%3F%74oken%3Ds3cret&v=%zz": "u=https%3A%2F%2F***%40h%2F%3Ftoken%3D***&v=%zz",
		"u=%zz+h://a:s3cret@h&h://b:s3cret@h":                        "u=%25zz+h%3A%2F%2F***%40h&h%3A%2F%2F***%40h",
		"sig=s3cret&X-Amz-Signature=s3cret&code=s3cret&codes=1":      "sig=***&X-Amz-Signature=***&code=***&codes=1",
		"q=a%26%2574oken%3Ds3cret":                                   "q=a%26%2574oken%3D***",
	} {
		if got := redact.Query(raw, redact.Name); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("https://user:pass@host/?token=abc")
	f.Add("a://b@c@d")
	f.Add("user:password@host")
	f.Add("a:password@b://c:password@d")
	f.Fuzz(func(t *testing.T, text string) {
		once := redact.Text(text)
		if twice := redact.Text(once); twice != once {
			t.Fatalf("%q, then %q", once, twice)
		}
		for _, c := range redact.Credentials(text) {
			if len(c) > 8 && strings.Count(text, c) == 1 && strings.Contains(once, c) {
				t.Fatalf("%q still shows %q", once, c)
			}
		}
	})
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"no\nsuch\tkey\x00":               "no such key ",
		"bad \xff byte":                   "bad   byte",
		strings.Repeat("ä", 200):          strings.Repeat("ä", 200),
		strings.Repeat("ä", 201):          strings.Repeat("ä", 200) + "…",
		strings.Repeat("ä", 199) + "\nzz": strings.Repeat("ä", 199) + " …",
	} {
		if got := redact.Line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
