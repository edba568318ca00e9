package http_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/http/contracttest"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// rehearsals is a table of rows that support dry runs, with all kinds of outputs.
func rehearsals() []operation.Operation {
	type one struct {
		Name string `json:"name"`
	}
	dry := operation.Rehearsable(nil)
	return operation.Group{Surface: operation.Probe, Name: "things", Path: "/things", Tag: "Things", Style: operation.Style{Word: "success"}}.Rows(
		operation.PUT("put", "", "Put", func(_ context.Context, in struct {
			Draft one `body:""`
		}) (operation.Entity[one], error) {
			return operation.Entity[one]{Value: in.Draft, Tag: "1"}, nil
		}, operation.Public(), dry, operation.Example(one{"a"}, one{"a"})),
		operation.DELETE("delete", "", "Delete", func(context.Context, struct{}) (operation.Receipt, error) {
			return operation.Receipt{Message: "deleted"}, nil
		}, operation.Public(), operation.Status(204), dry),
		operation.PATCH("patch", "", "Patch", func(_ context.Context, in struct {
			Patch operation.Patch `body:""`
		}) (json.RawMessage, error) {
			return in.Patch.Apply([]byte(`{"name":"old"}`))
		}, operation.Public(), operation.Status(202), dry, operation.Example(map[string]any{"name": "x"}, one{"x"}),
			operation.Needs(access.Assets, access.Read, "templateID")),
	)
}

func TestRehearsals(t *testing.T) {
	h, err := httpadapter.Handler(rehearsals(), httpadapter.Config{Guard: func(next operation.Handler) operation.Handler { return next }})
	if err != nil {
		t.Fatal(err)
	}
	text, err := httpadapter.Document(rehearsals(), "", "1")
	if err != nil {
		t.Fatal(err)
	}
	h = contracttest.Wrap(t, h, text) // every answer must match the description
	const nothing = `{"Status":"OK","Message":"dry run: nothing was stored","Meta":{"changes":[],"references":[]}}`
	for _, c := range []struct {
		method, query, mediaType, body string
		status                         int
		want                           string
	}{
		{"PUT", "", "", `{"name":"a"}`, 200, `{"name":"a"}`},
		{"PUT", "?dry_run=true", "", `{"name":"a"}`, 200, nothing},
		{"PUT", "?dry_run=true", "", `{"name":1}`, 400, `{"Status":"Error","Message":"name must be a string, not number","Meta":null}`},
		{"PUT", "?dry_run=2", "", `{"name":"a"}`, 400, `{"Status":"Error","Message":"query parameter dry_run must be true or false","Meta":null}`},
		{"DELETE", "", "", "", 204, ""},
		{"DELETE", "?dry_run=true", "", "", 200, nothing},
		{"PATCH", "", operation.MergePatch, `{"name":"new"}`, 202, `{"name":"new"}`},
		{"PATCH", "", operation.JSONPatch, `[{"op":"add","path":"/n","value":1}]`, 202, `{"name":"old","n":1}`},
		{"PATCH", "?dry_run=true", operation.JSONPatch, `[]`, 200, nothing},
		{"PATCH", "?dry_run=true", operation.JSONPatch, `[{"op":"test","path":"/name","value":"x"}]`, 409,
			`{"Status":"Error","Message":"operation 0 (test \"/name\"): the value is another one","Meta":null}`},
	} {
		r := httptest.NewRequest(c.method, "/things"+c.query, strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.mediaType)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || w.Body.String() != c.want {
			t.Errorf("%s %s %s: %d %s", c.method, c.query, c.body, w.Code, w.Body)
		}
	}
}

// TestFailedTestsAreDescribed: the description has the status with which a patch is answered whose test fails.
func TestFailedTestsAreDescribed(t *testing.T) {
	row := operation.Operation{Body: reflect.TypeFor[operation.Patch]()}
	if n := httpadapter.StatusOf(&row, operation.CodePatchTest); n != 409 {
		t.Errorf("described as %d", n)
	}
}

// The rows and their description follow from the table.
func TestRehearsalsAreDescribed(t *testing.T) {
	text, err := httpadapter.Document(rehearsals(), "", "1")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Paths map[string]map[string]struct {
			Description string
			Parameters  []json.RawMessage
			Rehearsable bool `json:"x-rehearsable"`
			RequestBody struct{ Content map[string]any }
			Responses   map[string]any
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for method, statuses := range map[string][]string{"put": {"200"}, "delete": {"200", "204"}, "patch": {"200", "202", "409"}} {
		o := d.Paths["/things"][method]
		if refers := func(p json.RawMessage) bool { return string(p) == `{"$ref":"#/components/parameters/dry_run"}` }; !slices.ContainsFunc(o.Parameters, refers) || !o.Rehearsable {
			t.Errorf("%s: no parameter %s", method, operation.DryRun)
		}
		for _, s := range statuses {
			if o.Responses[s] == nil {
				t.Errorf("%s: no answer %s", method, s)
			}
		}
	}
	patch := d.Paths["/things"]["patch"]
	for _, mediaType := range []string{"application/json", operation.MergePatch, operation.JSONPatch} {
		if patch.RequestBody.Content[mediaType] == nil {
			t.Errorf("no body %s", mediaType)
		}
	}
	if !strings.Contains(patch.Description, "Also needs `api_assets`, to read, when `templateID` is given.") {
		t.Error(patch.Description)
	}
}
