package serve

import (
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"
)

// profiles is the path of profiles (docs/wire/portal.md#settings).
const profiles = "/debug/pprof/"

// profiled adds profiles of the process to a handler, only for callers on the same
// machine: profiles show what is in memory, and take a processor for as long as the
// caller wants.
func profiled(h http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(profiles, pprof.Index)
	mux.HandleFunc(profiles+"cmdline", pprof.Cmdline)
	mux.HandleFunc(profiles+"profile", pprof.Profile)
	mux.HandleFunc(profiles+"symbol", pprof.Symbol)
	mux.HandleFunc(profiles+"trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, profiles) {
			h.ServeHTTP(w, r)
			return
		}
		at, err := netip.ParseAddrPort(r.RemoteAddr)
		// A proxy on this machine forwards requests of others.
		if err != nil || !at.Addr().Unmap().IsLoopback() || r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != "" {
			http.Error(w, "profiles are for callers on the same machine", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
