package app_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/audit"
	record "github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// TestPortalErasure states that the audit trail of a portal never contains personal data,
// so that it can stay when a person is erased, and that nothing else is left. Detailed
// recording does not change that.
func TestPortalErasure(t *testing.T) {
	for _, detailed := range []bool{false, true} {
		t.Run(fmt.Sprintf("detailed=%t", detailed), func(t *testing.T) { erasure(t, detailed) })
	}
}

func erasure(t *testing.T, detailed bool) {
	keys, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		t.Fatal(err)
	}
	a := service(t, nobodyWatches(), append(portalOptions(), app.WithAudit(audit.Settings{Signer: keys, Detailed: detailed}))...)
	running(t, a)
	call := func(method, path, body string, want int) string {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Authorization", callers["portal-admin"][1])
		w := httptest.NewRecorder()
		if a.Portal().ServeHTTP(w, r); w.Code != want {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	call("POST", "/portal-api/bootstrap", `{"username":"admin@example.com","password":"secret","first_name":"Rosalind"}`, 200)
	call("POST", "/portal-api/extended_attributes/1/custom-attributes", `{"Name":"Street","Identifier":"street","Type":1}`, 201)
	call("POST", "/portal-api/users", `{"Email":"lovelace@example.com","First":"Augusta","Last":"Byron","CustomAttributes":[{"Identifier":"street","Value":"Marylebone"}]}`, 201)
	call("PUT", "/portal-api/users/2", `{"Email":"king@example.com","First":"Adaline"}`, 200)
	call("PUT", "/portal-api/users/2/custom-attributes/1", `{"Value":"Ockham"}`, 200)
	call("POST", "/portal/api/register", `{"Email":"babbage@example.com","First":"Charles","Password":"secret"}`, 200)
	if archive := call("GET", "/portal-api/users/2/archive", "", 200); !strings.Contains(archive, "king@") || !strings.Contains(archive, "Ockham") || strings.Contains(archive, "Token\": \"e") {
		t.Error(archive)
	}
	for _, id := range []string{"2", "3"} {
		call("DELETE", "/portal-api/users/"+id, "", 200)
	}
	if left := call("GET", "/portal-api/users", "", 200); strings.Contains(left, "king@") || strings.Contains(left, "babbage@") {
		t.Error(left)
	}
	scope, err := tenant.Of("portal:default")
	if err != nil {
		t.Fatal(err)
	}
	n, dumped := 0, 0
	if err := a.Trail().Newest(t.Context(), scope, func(r record.Record) bool {
		n++
		if r.RequestDump != "" && r.ResponseDump != "" {
			dumped++
		}
		text, err := json.Marshal(r)
		for _, word := range []string{"lovelace", "Augusta", "Byron", "Marylebone", "king@", "Adaline", "Ockham", "babbage", "Charles", "admin@", "Rosalind"} {
			if err != nil || strings.Contains(string(text), word) {
				t.Errorf("%s: %s %v", word, text, err)
			}
		}
		return true
	}); err != nil || n < 8 || (dumped > 0) != detailed {
		t.Error(n, dumped, err)
	}
}
