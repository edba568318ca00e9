package app_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/audit"
)

// TestUnknownPathsAreAudited: below /api each request of a known caller is a record, also one
// that no operation takes; its address is as it was sent, without what may be a secret.
func TestUnknownPathsAreAudited(t *testing.T) {
	keys, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		t.Fatal(err)
	}
	a := service(t, nobodyWatches(), app.WithAudit(audit.Settings{Signer: keys, Reads: true}))
	for _, c := range []struct {
		as, method, path string
		want             int
	}{
		{"admin", "GET", "/api/none/at?zeta=1&q=%zz&api_key=s3cret", 404}, {"admin", "PATCH", "/api/keys/s3cret", 405}, {"admin", "DELETE", "/api/apis?b=1&a=x;y", 405},
		{"admin", "GET", "/api/apis?zeta=1&p=1&q=a%20b", 200}, {"", "GET", "/api/stranger", 404}, {"admin", "DELETE", "/api/keys//s3cret", 404}, {"super-admin", "POST", "/admin/none", 404}, {"admin", "GET", "/elsewhere", 404},
	} {
		if code, text := fetch(t, a, c.method, c.path, c.as, ""); code != c.want {
			t.Fatalf("%s %s: %d %s", c.method, c.path, code, text)
		}
	}
	_, text := fetch(t, a, "GET", "/api/audit-logs?p=-1", "admin", "")
	var trail struct {
		Logs []struct {
			Action, Method, URL, Verdict string
			Status                       int
		} `json:"audit_logs"`
	}
	if err := json.Unmarshal([]byte(text), &trail); err != nil {
		t.Fatal(err, text)
	}
	var told []string
	for _, l := range trail.Logs {
		told = append(told, fmt.Sprint(l.Status, " ", l.Method, " ", l.URL, " ", l.Verdict, " ", l.Action))
	}
	for _, want := range []string{
		"404 GET /api/none/at?zeta=1&q=%zz&api_key=*** route.not_found Unknown path or method", "405 PATCH /api/keys/*** route.method Unknown path or method",
		"405 DELETE /api/apis?b=1&a=x;y route.method Unknown path or method", "200 GET /api/apis?zeta=1&p=1&q=a%20b allowed List APIs",
	} {
		if !slices.Contains(told, want) {
			t.Errorf("the trail does not tell %q", want)
		}
	}
	if text := strings.Join(told, "\n"); strings.Contains(text, "s3cret") || strings.Contains(text, "stranger") || strings.Contains(text, "elsewhere") || strings.Contains(text, "/admin/none") || t.Failed() {
		t.Error(text)
	}
}
