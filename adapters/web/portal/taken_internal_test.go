package portal

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/page"
)

// TestTakenAddresses checks that no content page can have the address of another page: it would
// never be shown.
func TestTakenAddresses(t *testing.T) {
	for _, list := range pages {
		for pattern := range list {
			method, path, _ := strings.Cut(pattern, " ")
			if method != http.MethodGet {
				continue
			}
			for part := range strings.SplitSeq(path, "/") {
				if strings.HasPrefix(part, "{") {
					path = strings.Replace(path, part, "any", 1)
				}
			}
			if !page.Taken(path) {
				t.Errorf("a content page may have the address %s", path)
			}
		}
	}
	for _, prefix := range append([]string{strings.TrimSuffix(assetPrefix, "/"), "/viewers"}, notPages...) {
		if !page.Taken(prefix) || !page.Taken(prefix+"/a/b") {
			t.Errorf("a content page may have an address at %s", prefix)
		}
	}
	for _, path := range []string{"/", "/about-us", "/apis", "/liveness", "/portal", "/portal/about", "/blog/about", "/auth", "/portal/private/help"} {
		if page.Taken(path) {
			t.Errorf("no content page may have the address %s", path)
		}
	}
}
