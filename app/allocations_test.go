package app_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestAllocationsOfARead bounds what a small read allocates, authentication included: every call
// pays for what is added to this path.
func TestAllocationsOfARead(t *testing.T) {
	a := service(t, nobodyWatches())
	fetch(t, a, "POST", "/api/clientidps", "admin", `{"client_idp_id":"corp","name":"Corp","issuer":"https://corp.example","jwks_uri":"https://corp.example/jwks"}`)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/clientidps/corp", http.NoBody)
	r.Header.Set(callers["admin"][0], callers["admin"][1])
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	const most = 80
	if n := testing.AllocsPerRun(200, func() { a.ServeHTTP(discard{http.Header{}}, r) }); n > most {
		t.Errorf("%.0f allocations, at most %d", n, most)
	}
}

// discard drops an answer.
type discard struct{ header http.Header }

// Header implements http.ResponseWriter.
func (d discard) Header() http.Header { return d.header }

// Write implements http.ResponseWriter.
func (discard) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader implements http.ResponseWriter.
func (discard) WriteHeader(int) {}
