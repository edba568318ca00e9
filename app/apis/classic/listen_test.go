package classic_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
)

// TestNoListenPath: a classic definition without a listen path gets one from its API
// ID, and keeps the stored one in a replacement. An empty one is refused.
func TestNoListenPath(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	const member = `"listen_path":"/bare/",`
	bare := apistest.Classic("bare", "Bare", "/bare/")
	if !strings.Contains(bare, member) {
		t.Fatal(bare)
	}
	none := strings.Replace(bare, member, "", 1)
	path := func(id, want string) {
		t.Helper()
		if got := w.Node("admin", "/apis/"+id).Get("api_definition", "proxy", "listen_path").Text(); got != want {
			t.Errorf("%s: the listen path is %q, not %q", id, got, want)
		}
	}
	w.Done("admin", "POST", "/apis", none)
	path("bare", "/bare/")
	w.Done("admin", "PUT", "/apis/bare", strings.Replace(bare, member, `"listen_path":"/other/",`, 1))
	w.Done("admin", "PUT", "/apis/bare", none)
	path("bare", "/other/")
	w.Done("admin", "POST", "/apis", strings.Replace(strings.ReplaceAll(none, "bare", "null"), `"proxy":{`, `"proxy":{"listen_path":null,`, 1))
	path("null", "/null/")
	for _, text := range []string{`"listen_path":"",`, `"listen_path":"other/",`} {
		if a := w.Ask("admin", "POST", "/apis", strings.Replace(strings.ReplaceAll(bare, `"bare"`, `"empty"`), member, text, 1)); a.Code != 400 || !strings.Contains(a.Body.String(), "Listen path must start with") {
			t.Errorf("%s: %d %s", text, a.Code, a.Body)
		}
	}
}
