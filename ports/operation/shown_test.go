package operation_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/redact"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Secrets in a path are found by position, even if they are short or equal to other parts of
// the path.
func TestShownPath(t *testing.T) {
	for _, c := range []struct {
		path, raw, want string
		tail            bool
	}{
		{path: "/api/things/{id}", raw: "/api/things/a", want: "/api/things/a"},
		{path: "/api/things/{key}", raw: "/api/things/a", want: "/api/things/***"},
		{path: "/api/things/{key}/", raw: "/api/things/api", want: "/api/things/***"},
		{path: "/api/{id}/{token}/x", raw: "/api/a/a/x", want: "/api/a/***/x"},
		{path: "/api/things/{key}", raw: "/api/things/a%2Fb/", want: "/api/things/***/"},
		{path: "/api/things/{key}", raw: "/api/things/", want: "/api/things/"},
		{path: "/api/things/{key}", raw: "/other", want: "/other"},
		{path: "/api/things/{key}", raw: "", want: ""},
		{path: "/api/things/{key}", raw: "/api/things/a/b/c", want: "/api/things/***", tail: true},
	} {
		call := &operation.Call{Spec: &operation.Spec{Path: c.path, Tail: c.tail}, RawPath: c.raw}
		if got := call.Shown(redact.Name); got != c.want {
			t.Errorf("%s as %s: %q, not %q", c.raw, c.path, got, c.want)
		}
	}
}
