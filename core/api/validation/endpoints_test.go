package validation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

// TestEndpoints: paths must be short, and so must their classic form, which repeats each path
// with every setting of every operation.
func TestEndpoints(t *testing.T) {
	item, settings := doc.NewObject(), doc.NewObject()
	for _, method := range []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"} {
		item.Put(doc.NewString("o"), method, "operationId")
	}
	for i := range 16 {
		settings.Set(fmt.Sprint("s", i), doc.NewObject())
	}
	for _, c := range []struct {
		paths, length int
		want          string
	}{
		{128, 4096, ""},
		{129, 4096, "paths: are too long: with the settings of their operations they would take more than 64 MiB"},
		{1, 4097, "must not be longer than 4096 characters"},
	} {
		d := doc.NewObject()
		d.Put(settings, "x-tyk-api-gateway", "middleware", "operations", "o")
		for i := range c.paths {
			d.Put(item, "paths", fmt.Sprintf("/%0*d", c.length-1, i))
		}
		var said []string
		for _, p := range validation.Document(d, false) {
			said = append(said, p.String())
		}
		if got := strings.Join(said, "|"); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%d paths of %d: %.200s", c.paths, c.length, got)
		}
	}
}

// TestSharedEndpoints: paths that share an item by reference repeat the settings of its
// operations in the classic form; 300 KB would become gigabytes.
func TestSharedEndpoints(t *testing.T) {
	for _, c := range []struct {
		paths, body int
		refused     bool
	}{{600, 100_000, false}, {700, 100_000, true}, {1, 1 << 20, false}, {10_000, 1 << 20, true}} {
		d := doc.NewObject()
		d.Put(doc.NewString("o"), "paths", "/u", "get", "operationId")
		for i := range c.paths {
			d.Put(doc.NewString("#/paths/~1u"), "paths", fmt.Sprint("/v", i), "$ref")
		}
		d.Put(doc.NewString(strings.Repeat("x", c.body)), "x-tyk-api-gateway", "middleware", "operations", "o", "transformRequestBody", "body")
		problems := validation.Document(d, false)
		if got := len(problems) == 1 && strings.Contains(problems[0].String(), "64 MiB"); got != c.refused || len(problems) > 1 {
			t.Errorf("%d paths with %d bytes: %v", c.paths, c.body, problems)
		}
	}
}

// TestManyExchanges: the audiences of operations for token exchange are searched once, not for
// each scheme.
func TestManyExchanges(t *testing.T) {
	growth.Linear(t, 200, func(n int) func() {
		d, entry := doc.NewObject(), doc.NewObject()
		entry.Put(doc.NewBool(true), "tokenExchange", "enabled")
		entry.Put(doc.NewArray(doc.NewObject()), "tokenExchange", "providers")
		for i := range n {
			name := fmt.Sprint("s", i)
			d.Put(doc.NewString("oauth2"), "components", "securitySchemes", name, "type")
			d.Put(entry, "x-tyk-api-gateway", "server", "authentication", "securitySchemes", name)
			d.Put(doc.NewBool(true), "x-tyk-api-gateway", "middleware", "operations", name, "exchange", "enabled")
		}
		return func() { validation.Document(d, false) }
	})
}
