package guard_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// The attribution of commits is bounded, and has no credential from a field with a
// secret name or from the userinfo of a URL.
func TestAttribution(t *testing.T) {
	for _, c := range []struct{ path, query, want string }{
		{"/api/x", "", "/api/x"},
		{"/api/x", "p=1&name=a", "/api/x?p=1&name=a"},
		{"/api/x", "q=%zz&b=a%20b&a=x;y", "/api/x?q=%zz&b=a%20b&a=x;y"},
		{"/api/x", "api_key=s3cret&Token=t&mine=m&%6Dine=m", "/api/x?api_key=***&Token=***&mine=***&%6Dine=***"},
		{"/api/x", "url=https%3A%2F%2Fu%3Ap%40h%2F%3Ftoken%3Ds3cret", "/api/x?url=https%3A%2F%2F***%40h%2F%3Ftoken%3D***"},
		{"/api/x/s3cret", "", "/api/x/***"},
		{"/api/x/a", "", "/api/x/***"},
		{"/api/" + strings.Repeat("x", 3000), "", "/api/" + strings.Repeat("x", 1019)},
	} {
		query, _ := url.ParseQuery(c.query)
		call := &operation.Call{Spec: &operation.Spec{ID: "x.put", Method: "PUT", Path: "/api/x/{access_token}", Intent: access.Write, Status: 200, Redact: []string{"mine"}},
			RawPath: c.path, Path: map[string]string{"access_token": "s3cret"}, RawQuery: c.query, Query: query, Remote: "[::ffff:192.0.2.1]:77", RequestID: strings.Repeat("r", 500)}
		by := guard.Attribution(call)
		if by.URL != c.want || by.From != "192.0.2.1" || len(by.Request) != 128 {
			t.Errorf("%s?%s: %+v", c.path, c.query, by)
		}
		call.RawQuery = "" // of a call within this process
		if by := guard.Attribution(call); query.Has("name") && by.URL != "/api/x?name=a&p=1" {
			t.Errorf("%s?%s: %+v", c.path, c.query, by)
		}
		call.Spec.Intent = access.Read
		if by := guard.Attribution(call); by.URL != "" || by.Operation != "x.put" {
			t.Errorf("a read says more than who: %+v", by)
		}
	}
}
