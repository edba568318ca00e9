package asset_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/asset"
)

// TestSpelling: members of an asset are refused in another letter case, and unknown members
// are ignored.
func TestSpelling(t *testing.T) {
	for text, problem := range map[string]string{
		`{"Kind":"oas-template"}`: "must be spelled kind", `{"ID":"x"}`: "must be spelled id", "{\"\u212aind\":\"x\"}": "must be spelled kind", `{"other":1}`: "",
	} {
		var d asset.Draft
		err := json.Unmarshal([]byte(text), &d)
		if problem == "" && err != nil || problem != "" && (err == nil || !strings.Contains(err.Error(), problem)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestMarshal: encoding/json writes the same as the appender, except for white space in the
// data.
func TestMarshal(t *testing.T) {
	a, err := asset.New("i", "o", now, draft(t, `{"kind":"oas-template","name":"n","data":{"z":1.0e2,"a":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	marshalled, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if appended, err := a.AppendJSON(nil); err != nil || string(appended) != string(marshalled) {
		t.Errorf("%s and %s, %v", appended, marshalled, err)
	}
}
