package shape_test

import (
	"encoding/json"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/shape"
)

func TestSchema(t *testing.T) {
	var tree shape.Type
	shape.Define(&tree, shape.Object(shape.Members("name", shape.String), shape.Members("below", shape.List(shape.Ref(&tree)))))
	const text = `{"type":["string","null"]}`
	for want, of := range map[string]shape.Type{
		text:                          shape.String,
		`{"type":"string"}`:           shape.Duration,
		`{"type":["boolean","null"]}`: shape.Bool,
		`{"type":["integer","null"]}`: shape.Int,
		`{"type":["number","null"]}`:  shape.Float,
		`{}`:                          shape.Any,
		`{"anyOf":[` + text + `,{}]}`: shape.Either(shape.String, shape.Raw),
		`{"items":` + text + `,"type":["array","null"]}`:                                             shape.List(shape.String),
		`{"additionalProperties":` + text + `,"type":["object","null"]}`:                             shape.Map(shape.String),
		`{"properties":{"z":` + text + `,"a":{"type":["integer","null"]}},"type":["object","null"]}`: shape.Object(shape.Members("z", shape.String), shape.Members("a", shape.IntOf(8))),
		`{"properties":{"name":` + text + `,"below":{"items":{"properties":{"name":` + text + `,"below":{"items":{},"type":["array","null"]}},"type":["object","null"]},"type":["array","null"]}},"type":["object","null"]}`: tree,
	} {
		if got, err := json.Marshal(of.Schema()); err != nil || string(got) != want {
			t.Errorf("%s is described as\n%s, want\n%s", of, got, want)
		}
	}
}
