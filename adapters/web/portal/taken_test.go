package portal_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestTakenPaths checks that an admin gets an error when a content page is put at an address
// that the portal itself uses, but not when another field is changed.
func TestTakenPaths(t *testing.T) {
	w := newWorld(t)
	const why = "Path is an address of the portal itself"
	send := func(method, path, body string) (int, string) {
		req, err := http.NewRequest(method, w.server.URL+path, strings.NewReader(body))
		must(t, err)
		req.Header.Set("Authorization", w.token)
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		must(t, err)
		return resp.StatusCode, string(text)
	}
	for _, path := range []string{"/blog", "auth/password/login/", "/admin/help", "/assets/a.css", "/portal/catalogue-products/x"} {
		if status, text := send("POST", "/portal-api/pages", `{"Title":"x","Path":"`+path+`"}`); status != 422 || !strings.Contains(text, why) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, text := send("POST", "/portal-api/pages", `{"Title":"x","Path":"/blog/about"}`); status != 201 {
		t.Error(status, text)
	}
	if status, text := send("PUT", "/portal-api/pages/1", `{"Path":"/blog"}`); status != 422 || !strings.Contains(text, why) {
		t.Error(status, text)
	}
	if status, text := send("PUT", "/portal-api/pages/1", `{"Title":"y"}`); status != 200 {
		t.Error(status, text)
	}
}
