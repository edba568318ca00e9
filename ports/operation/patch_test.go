package operation_test

import (
	"context"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// patched is a row that returns the patched document.
func patched() operation.Operation {
	const document = `{"name":"old","n":1.50,"tags":["a","b"],"deep":{"x":1}}`
	fn := func(_ context.Context, in struct {
		Patch operation.Patch `body:""`
	}) (string, error) {
		out, err := in.Patch.Apply([]byte(document))
		return string(out), err
	}
	return group(operation.PATCH("patch", "/x", "Patch", fn, operation.Example(draft{}, "")))[0]
}

func TestPatch(t *testing.T) {
	o := patched()
	for _, c := range []struct{ mediaType, body, want, code, field string }{
		{"", `{"name":"new","tags":null,"deep":{"y":2}}`, `{"name":"new","n":1.50,"deep":{"x":1,"y":2}}`, "", ""},
		{"application/json", `{"n":null}`, `{"name":"old","tags":["a","b"],"deep":{"x":1}}`, "", ""},
		{"application/merge-patch+json; charset=utf-8", `{}`, `{"name":"old","n":1.50,"tags":["a","b"],"deep":{"x":1}}`, "", ""},
		{"application/x-www-form-urlencoded", `{"n":2}`, `{"name":"old","n":2,"tags":["a","b"],"deep":{"x":1}}`, "", ""},
		{"Application/JSON-Patch+json", `[{"op":"test","path":"/n","value":1.5},{"op":"remove","path":"/tags/0"}]`, `{"name":"old","n":1.50,"tags":["b"],"deep":{"x":1}}`, "", ""},
		{operation.JSONPatch, `[]`, `{"name":"old","n":1.50,"tags":["a","b"],"deep":{"x":1}}`, "", ""},
		{operation.JSONPatch, `[{"op":"test","path":"/n","value":2}]`, "", operation.CodePatchTest, "n"},
		{operation.JSONPatch, `[{"op":"remove","path":"/tags/7"}]`, "", operation.CodePatch, "tags/7"},
		{operation.JSONPatch, `[{"op":"replace","path":"","value":[]}]`, "", operation.CodePatch, ""},
		{operation.JSONPatch, `{"n":2}`, "", operation.CodeMalformed, ""},
		{operation.MergePatch, `[]`, "", operation.CodeMalformed, ""},
		{"", `7`, "", operation.CodeMalformed, ""},
		{"", `{`, "", operation.CodeMalformed, ""},
		{operation.JSONPatch, ` `, "", operation.CodeEmptyBody, ""},
	} {
		out, err := o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Header: map[string]string{"Content-Type": c.mediaType}, Body: []byte(c.body)})
		f, _ := err.(*fault.Error) //nolint:errorlint // the fault itself
		switch {
		case c.code == "" && (err != nil || out != c.want):
			t.Errorf("%s %s: %v, %v; want %s", c.mediaType, c.body, out, err, c.want)
		case c.code != "" && (f == nil || f.Code != c.code || f.Field != c.field):
			t.Errorf("%s %s: %v", c.mediaType, c.body, err)
		}
	}
	if !(operation.Patch{}).IsZero() {
		t.Error("the zero Patch is one")
	}
}

// A patched document may not nest deeper than a body.
func TestPatchDepth(t *testing.T) {
	text := `1`
	for range 200 {
		text = `{"a":` + text + `}`
	}
	o := patched()
	_, err := o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Body: []byte(text)})
	if fault.CodeOf(err) != operation.CodePatch {
		t.Error(err)
	}
}

func FuzzPatch(f *testing.F) {
	f.Add(true, `[{"op":"add","path":"/a","value":1}]`)
	f.Add(false, `{"name":{"x":null}}`)
	o := patched()
	f.Fuzz(func(t *testing.T, steps bool, body string) {
		header := map[string]string{}
		if steps {
			header["Content-Type"] = operation.JSONPatch
		}
		out, err := o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Header: header, Body: []byte(body)})
		if text, _ := out.(string); err == nil && (doc.Check([]byte(text), 0) != nil || !doc.IsObject([]byte(text))) {
			t.Errorf("%s: %s", body, text)
		}
		if k := fault.KindOf(err); err != nil && k != fault.Invalid && k != fault.Conflict {
			t.Errorf("%s: %v", body, err)
		}
	})
}
