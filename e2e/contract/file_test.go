package contract_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// groups are the tags of the file whose operations the service implements so far.
var groups = map[string]bool{
	"APIs": true, "Streams APIs": true, "OAS APIs": true, "MCP Proxies": true, "MigrateOAS": true, "Assets": true, "Webhooks": true, "Policies": true,
	"Schemas": true, "System": true, "Proxy": true, "Client IdPs": true, "Keys": true, "Basic Authentication": true, "Organisation Notifications": true, "Analytics": true,
}

// portalGroups are the tags of the portal's file that are complete. Implemented
// operations of other tags are compared as well.
var portalGroups = map[string]bool{"Tags": true, "Organisations": true, "Teams": true, "Portal configuration": true, "Catalogues": true, "Catalogue audiences": true, "Providers": true, "Webhooks": true, "Plans": true, "Products": true, "API documentation for API Products": true, "Tutorials for API Products": true, "OAuth2.0 providers": true, "Pages and content": true, "Posts": true, "Themes": true, "Access requests": true, "Users": true, "Custom Attributes": true, "Applications and credentials": true, "SSO Profiles": true}

// elsewhere are operations with such a tag that belong to a group which is not
// implemented yet.
var elsewhere = map[string]string{"DELETE /api/cache/jwks/{}": "certificates and JWKS cache"}

// described is an operation of a file.
type described struct {
	route  string // "GET /api/apis/{}"
	portal bool
	op     *openapi3.Operation
}

var placeholders = regexp.MustCompile(`\{[^}]*\}`)

// route identifies an operation without the names of its placeholders.
func route(method, path string) string {
	return method + " " + placeholders.ReplaceAllString(path, "{}")
}

// loadFile reads the published files: their operations by route, of the groups only. It
// returns nil when GATEHOUSE_CONTRACT_DIR is not set.
func loadFile(t *testing.T, table *service) map[string]*described {
	t.Helper()
	dir := os.Getenv("GATEHOUSE_CONTRACT_DIR")
	if dir == "" {
		return nil
	}
	out, there := map[string]*described{}, map[string]bool{}
	for _, o := range table.Operations() {
		there[route(o.Method, o.Path)] = o.Surface == operation.Portal
	}
	for _, f := range []struct {
		name, below string
		groups      map[string]bool
	}{{"dashboard-openapi.yml", "", groups}, {"portal-openapi.yaml", portal.Prefix, portalGroups}} {
		text, err := os.ReadFile(filepath.Join(dir, "data", f.name))
		if err != nil {
			t.Fatal(err)
		}
		file, err := openapi3.NewLoader().LoadFromData(text)
		if err != nil {
			t.Fatal(err)
		}
		for path, item := range file.Paths.Map() {
			for method, op := range item.Operations() {
				d := &described{route: route(method, f.below+path), portal: f.below != "", op: op}
				if _, later := elsewhere[d.route]; there[d.route] || len(op.Tags) > 0 && f.groups[op.Tags[0]] && !later {
					out[d.route] = d
				}
			}
		}
	}
	if len(out) < 65 {
		t.Fatalf("the files have %d operations of our groups only", len(out))
	}
	return out
}

// values returns the file's values for a parameter.
func (d *described) values(name string) (out []string) {
	p := d.op.Parameters.GetByInAndName("query", name)
	if p == nil || p.Schema == nil {
		return nil
	}
	for _, v := range append(p.Schema.Value.Enum, p.Example) {
		if v != nil {
			out = append(out, fmt.Sprint(v))
		}
	}
	return out
}

// body generates a body that follows the file's schema, or returns nil.
func (d *described) body(rng *rand.Rand) []byte {
	if d.op.RequestBody == nil {
		return nil
	}
	media := d.op.RequestBody.Value.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		return nil
	}
	text, err := json.Marshal(generate(media.Schema.Value, rng, 0))
	if err != nil {
		return nil
	}
	return text
}

// violation is a difference between an answer and the file.
type violation struct {
	status   int
	location string // a JSON pointer into the answer, "status" or "media type"
	reason   string
}

// check checks an answer against the file.
func (d *described) check(a answer) []violation {
	response := d.op.Responses.Status(a.status)
	if d.portal && response == nil && a.status == http.StatusCreated { // the portal answers 201 for created records: docs/wire/portal.md#answers
		response = d.op.Responses.Status(http.StatusOK)
	}
	if response == nil || response.Value == nil {
		return []violation{{a.status, "status", "the file does not list it"}}
	}
	if len(response.Value.Content) == 0 {
		return nil // the file does not describe the body
	}
	mediaType, _, _ := mime.ParseMediaType(a.mediaType)
	media := response.Value.Content[mediaType]
	if media == nil {
		return []violation{{a.status, "media type", mediaType}}
	}
	if media.Schema == nil || mediaType == "application/octet-stream" {
		return nil
	}
	text, err := a.json()
	var v any
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		return []violation{{a.status, "", err.Error()}}
	}
	err = media.Schema.Value.VisitJSON(v, openapi3.VisitAsResponse(), openapi3.MultiErrors())
	return violations(a.status, err)
}

// violations flattens the errors of the validator.
func violations(status int, err error) (out []violation) {
	if err == nil {
		return nil
	}
	if many, ok := errors.AsType[openapi3.MultiError](err); ok {
		for _, e := range many {
			out = append(out, violations(status, e)...)
		}
		return out
	}
	one, ok := errors.AsType[*openapi3.SchemaError](err)
	if !ok {
		return []violation{{status, "", err.Error()}}
	}
	return []violation{{status, "/" + strings.Join(one.JSONPointer(), "/"), one.SchemaField + ": " + one.Reason}}
}
