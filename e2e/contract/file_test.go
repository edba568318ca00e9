package contract_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"mime"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// groups are the tags of the file that the service implements so far.
var groups = map[string]bool{
	"APIs": true, "Streams APIs": true, "OAS APIs": true, "MCP Proxies": true, "MigrateOAS": true, "Assets": true, "Webhooks": true, "Policies": true,
	"Schemas": true, "System": true, "Proxy": true, "Client IdPs": true, "Organisation Notifications": true,
}

// elsewhere are operations with such a tag that belong to a group which is not
// there yet.
var elsewhere = map[string]string{"DELETE /api/cache/jwks/{}": "certificates and JWKS cache"}

// described is an operation of the file.
type described struct {
	route string // "GET /api/apis/{}"
	op    *openapi3.Operation
}

var placeholders = regexp.MustCompile(`\{[^}]*\}`)

// route names an operation whatever its placeholders are called.
func route(method, path string) string {
	return method + " " + placeholders.ReplaceAllString(path, "{}")
}

// loadFile reads the published file: its operations by route, those of the groups
// only. It returns nil when GATEHOUSE_CONTRACT_DIR is not set.
func loadFile(t *testing.T) map[string]*described {
	t.Helper()
	dir := os.Getenv("GATEHOUSE_CONTRACT_DIR")
	if dir == "" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "data", "dashboard-openapi.yml"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*described{}
	for path, item := range file.Paths.Map() {
		for method, op := range item.Operations() {
			d := &described{route: route(method, path), op: op}
			if _, later := elsewhere[d.route]; len(op.Tags) > 0 && groups[op.Tags[0]] && !later {
				out[d.route] = d
			}
		}
	}
	if len(out) < 50 {
		t.Fatalf("the file has %d operations of our groups only", len(out))
	}
	return out
}

// values are those that the file gives for a parameter.
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

// body makes one that follows the file's schema, or returns nil.
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

// violation is a departure of an answer from the file.
type violation struct {
	status   int
	location string // a JSON pointer into the answer, "status" or "media type"
	reason   string
}

// check holds an answer against the file.
func (d *described) check(a answer) []violation {
	response := d.op.Responses.Status(a.status)
	if response == nil || response.Value == nil {
		return []violation{{a.status, "status", "the file does not list it"}}
	}
	if len(response.Value.Content) == 0 {
		return nil // the file says nothing of the body
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

// violations flattens what the validator says.
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
