package serve

import (
	"net/http"
	"strings"

	"github.com/rs/cors"
)

// consolesElsewhere allows consoles of other origins to call the API with an access
// key. Browsers send no cookies with such calls, so a session works only on pages of
// this service.
func consolesElsewhere(origins []string, h http.Handler) http.Handler {
	if len(origins) == 0 {
		return h
	}
	shared := cors.New(cors.Options{
		AllowedOrigins: origins, OptionsSuccessStatus: http.StatusNoContent,
		AllowedMethods: []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowedHeaders: []string{"Accept", "Authorization", "Content-Type", "If-Match", "If-None-Match"},
		ExposedHeaders: []string{"ETag", "X-Request-Id"},
	}).Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/hello" {
			shared.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}
