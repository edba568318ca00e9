package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/audit"
)

func TestMask(t *testing.T) {
	for _, c := range []struct{ text, want, hidden string }{
		{`{"name":"a","n":1.0,"b":[true,null]}`, `{"name":"a","n":1.0,"b":[true,null]}`, ""},
		{`{"password":"p","n":{"secret":["s1",""]},"key":7,"a":1}`, `{"password":"***","n":{"secret":["***",""]},"key":"***","a":1}`, "/password /n/secret/0 /key"},
		{`{"u":"https://u:p@h/?token=t","header_map":{"x/y":"s"}}`, `{"u":"https://***@h/?token=***","header_map":{"x/y":"***"}}`, "/u /header_map/x~1y"},
		{`{"mine":"s","t":"{\"mine\":\"s\"}","p":"{\"a\":1}"}`, `{"mine":"***","t":"***","p":"{\"a\":1}"}`, "/mine /t"},
		{`{"password_max_days":90,"password_updated":"2026-01-02T03:04:05Z","password":"p"}`, `{"password_max_days":90,"password_updated":"2026-01-02T03:04:05Z","password":"***"}`, "/password"},
		{`{"user_permissions":{"ResetPassword":"read"},"ResetPassword":"p"}`, `{"user_permissions":{"ResetPassword":"read"},"ResetPassword":"***"}`, "/ResetPassword"},
		{`"x"`, `"x"`, ""},
	} {
		got, hidden, err := audit.Mask([]byte(c.text), []string{"Mine"})
		if err != nil || string(got) != c.want || strings.Join(hidden, " ") != c.hidden {
			t.Errorf("%s: %s %v %v", c.text, got, hidden, err)
		}
	}
	if _, _, err := audit.Mask([]byte("{"), nil); err == nil {
		t.Error("what is no document is masked")
	}
}

// FuzzMask masks any text: masking again changes nothing, and no value of a secret member is
// left.
func FuzzMask(f *testing.F) {
	f.Add(`{"secret":"abcdefgh","a":["{\"token\":\"x\"}"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		once, _, err := audit.Mask(fmt.Appendf(nil, `{"a":%s,"secret":"Zq9Zq9Zq9"}`, text), nil)
		if err != nil {
			return
		}
		twice, _, err := audit.Mask(once, nil)
		if err != nil || string(once) != string(twice) || strings.Contains(text, "Zq9") == false && strings.Contains(string(once), "Zq9Zq9Zq9") {
			t.Errorf("%s, then %s, %v", once, twice, err)
		}
	})
}
