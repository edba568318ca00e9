package app_test

import (
	"io"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestBookkeeping: when a key was last used is written down, and the audit trail, which is about
// what people change, tells nothing of it.
func TestBookkeeping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := bubbled(t, io.Discard)
		found := func(pattern, text string) string {
			t.Helper()
			m := regexp.MustCompile(pattern).FindStringSubmatch(text)
			if m == nil {
				t.Fatalf("no %s in %s", pattern, text)
			}
			return m[1]
		}
		_, made := fetch(t, a, "POST", "/api/service-accounts", "admin", `{"name":"deploy","user_permissions":{"apis":"read"}}`)
		account := "/api/service-accounts/" + found(`"Meta":"([^"]+)"`, made)
		_, key := fetch(t, a, "POST", account+"/keys", "admin", `{"name":"first"}`)
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/api/apis", nil)
		r.Header.Set("Authorization", found(`"key":"([^"]+)"`, key))
		w := httptest.NewRecorder()
		if a.ServeHTTP(w, r); w.Code != 200 {
			t.Fatal(w.Code, w.Body)
		}
		time.Sleep(5 * time.Minute)
		if _, now := fetch(t, a, "GET", account, "admin", ""); strings.Contains(now, `"last_used":null`) {
			t.Fatal("the use is not written down:", now)
		}
		if err := a.Trail().Fold(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, trail := fetch(t, a, "GET", "/api/audit-logs?p=-1", "admin", ""); !strings.Contains(trail, "Create a service account") || strings.Contains(trail, ".used") {
			t.Error(trail)
		}
	})
}
