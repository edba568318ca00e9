package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/openapi"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// fixed has versions 3.0 and 3.1 of every variant.
type fixed struct{ err error }

func (f fixed) Schema(v openapi.Variant, version string) (json.RawMessage, error) {
	if f.err != nil {
		return nil, f.err
	}
	switch version {
	case "", "3.0", "3.1":
		return json.RawMessage(`{"title":"` + string(v) + version + `"}`), nil
	}
	return nil, openapi.ErrNoSchema
}

func call(t *testing.T, s fixed, path, query string) (string, error) {
	t.Helper()
	ops := (&Service{Schemas: s}).Operations()
	for i := range ops {
		if ops[i].Path != path {
			continue
		}
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		v, err := ops[i].Do(t.Context(), &operation.Call{Spec: &ops[i].Spec, Query: values})
		if err != nil {
			return "", err
		}
		mediaType, _, plain, _ := v.(operation.Stream).Stream()
		if mediaType != "application/json" {
			t.Error(mediaType)
		}
		return string(bytes.Join(plain, nil)), nil
	}
	t.Fatalf("no operation at %s", path)
	return "", nil
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct{ path, query, want string }{
		{"/api/schema", "", `{"status":"OK","message":"Schema retrieved","schema":{"title":"oas"}}`},
		{"/api/schemas/apidefs/oas", "oasVersion=3.1", `{"status":"OK","message":"Schema retrieved","schema":{"title":"oas3.1"}}`},
		{"/api/schemas/apidefs/oas", "pretty=0", "{\n  \"status\": \"OK\",\n  \"message\": \"Schema retrieved\",\n  \"schema\": {\n    \"title\": \"oas\"\n  }\n}"},
		{"/api/schemas/apidefs/streams-oas", "", `{"status":"OK","message":"Schema retrieved","schema":{"title":"streams"}}`},
		{"/api/schemas/apidefs", "oasVersion=3.0", `{"status":"OK","message":"Schemas retrieved","schemas":{"oas":{"title":"oas3.0"},"streamsOAS":{"title":"streams3.0"}}}`},
		{"/api/schemas/apidefs/mcp", "", `{"title":"mcp3.1"}`},
		{"/api/schemas/apidefs/mcp", "mcpVersion=3.0", `{"title":"mcp3.0"}`},
	} {
		if got, err := call(t, fixed{}, c.path, c.query); err != nil || got != c.want {
			t.Errorf("%s?%s: %s %v", c.path, c.query, got, err)
		}
	}
}

// TestUnknownVersion checks the response that existing clients expect
// (docs/wire/schemas.md#answers).
func TestUnknownVersion(t *testing.T) {
	ops := (&Service{Schemas: fixed{}}).Operations()
	for _, o := range ops {
		query := "oasVersion=9"
		if strings.HasSuffix(o.Path, "mcp") {
			query = "mcpVersion=9"
		}
		_, err := call(t, fixed{}, o.Path, query)
		if a := o.Style.Faults[fault.CodeOf(err)]; a.Status != 500 || a.Text != "Could not retrieve schema. schema not found for version." {
			t.Errorf("%s: %v: %+v", o.ID, err, a)
		}
		if !errors.Is(err, openapi.ErrNoSchema) {
			t.Errorf("%s: %v", o.ID, err)
		}
	}
}

func TestBrokenSource(t *testing.T) {
	broken := errors.New("broken")
	for _, path := range []string{"/api/schema", "/api/schemas/apidefs", "/api/schemas/apidefs/mcp"} {
		if _, err := call(t, fixed{broken}, path, ""); !errors.Is(err, broken) || fault.KindOf(err) != fault.Internal {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestOperations(t *testing.T) {
	ops := (&Service{}).Operations()
	if err := operation.Check(ops); err != nil {
		t.Error(err)
	}
	for _, o := range ops {
		want := access.AnyUser
		if o.ID == "schemas.mcp" {
			want = access.MCP
		}
		if o.Permission != want || o.Intent != access.Read {
			t.Errorf("%s: %s %s", o.ID, o.Permission, o.Intent)
		}
	}
}
