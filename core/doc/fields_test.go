package doc_test

import (
	"encoding/json"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

func TestFields(t *testing.T) {
	f := doc.InOrder(map[string]any{"a": 1, "b": "<&>", "c": doc.InOrder(map[string]any{"z": nil, "y": []int{}}, "z"), "d": true}, "c", "none", "b", "c")
	text, err := json.Marshal(f)
	if want := `{"c":{"z":null,"y":[]},"b":"\u003c\u0026\u003e","a":1,"d":true}`; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	if f.Get("a") != 1 || f.Get("none") != nil {
		t.Error("members are not found by name")
	}
	if text, err := json.Marshal(doc.InOrder(nil)); err != nil || string(text) != "{}" {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := json.Marshal(doc.Fields{{Name: "f", Value: func() {}}}); err == nil {
		t.Error("a function was encoded")
	}
}
