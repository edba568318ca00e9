package policy_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/policy"
)

// TestDraftDecodes: a draft is an object and keeps its text.
func TestDraftDecodes(t *testing.T) {
	const written = `{"z":1.50,"name":"n","_id":"5F0000000000000000000001"}`
	var d policy.Draft
	if err := json.Unmarshal([]byte(written), &d); err != nil {
		t.Fatal(err)
	}
	if have, err := json.Marshal(d); err != nil || string(have) != written || string(d.JSON()) != written || d.ID() != "5f0000000000000000000001" {
		t.Errorf("%s, %s, %v", have, d.ID(), err)
	}
	for _, other := range []string{`[]`, `null`, `"x"`, `5`} {
		if err := new(policy.Draft).UnmarshalJSON([]byte(other)); err == nil {
			t.Errorf("%s is a draft", other)
		}
	}
}

// TestComplete: both forms of access rights give the same, completing twice changes nothing,
// and a draft that a write refuses stays unchanged.
func TestComplete(t *testing.T) {
	asMap := draft(t, `{"name":"n","access_rights":{"a":{"api_id":"a","versions":["v1"]}}}`).Complete()
	asList := draft(t, `{"name":"n","access_rights_array":[{"api_id":"a","versions":["v1"]}]}`).Complete()
	beside := draft(t, `{"name":"n","access_rights":{},"access_rights_array":[{"api_id":"a","versions":["v1"]}]}`)
	if !slices.Equal(beside.APIs(), []string{"a"}) {
		t.Errorf("%q", beside.APIs())
	}
	for _, d := range []policy.Draft{asMap, asList, beside.Complete()} {
		var have struct {
			Rights map[string]any `json:"access_rights"`
			List   []any          `json:"access_rights_array"`
		}
		if err := json.Unmarshal(d.JSON(), &have); err != nil || len(have.Rights) != 1 || len(have.List) != 1 {
			t.Errorf("%s, %v", d.JSON(), err)
		}
		if again := d.Complete(); string(again.JSON()) != string(d.JSON()) {
			t.Errorf("%s, then %s", d.JSON(), again.JSON())
		}
		if !slices.Equal(d.APIs(), []string{"a"}) {
			t.Errorf("%q", d.APIs())
		}
	}
	const refused = `{"name":"n","access_rights_array":[{"versions":[]}]}`
	if d := draft(t, refused); string(d.Complete().JSON()) != refused {
		t.Errorf("%s", d.Complete().JSON())
	}
}

// FuzzComplete: a draft with any content is completed to a document, completing twice changes
// nothing, and the draft itself stays unchanged.
func FuzzComplete(f *testing.F) {
	f.Add(`{"access_rights":{"a":5,"b":null,"c":"x","d":[1]}}`)
	f.Add(`{"access_rights":5,"access_rights_array":[5]}`)
	f.Add(`{"access_rights":null,"access_rights_array":[{"api_id":"a"},{"api_id":"a","x":1}]}`)
	f.Add(`{"access_rights":{"a":{"api_id":7}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := policy.NewDraft([]byte(text))
		if err != nil {
			return
		}
		before := string(d.JSON())
		once := d.Complete()
		if !json.Valid(once.JSON()) || string(d.JSON()) != before {
			t.Fatalf("%s became %s, the draft %s", text, once.JSON(), d.JSON())
		}
		if twice := once.Complete(); string(twice.JSON()) != string(once.JSON()) {
			t.Fatalf("%s, then %s", once.JSON(), twice.JSON())
		}
	})
}

// TestMarshal: encoding/json writes the same as the appenders, and a list of views has one for
// each policy, in order.
func TestMarshal(t *testing.T) {
	p, q := make1(t, `{"name":"p"}`), make1(t, `{"name":"q"}`)
	if have, err := json.Marshal(p); err != nil || string(have) != text(t, p) {
		t.Errorf("%s, %v", have, err)
	}
	views := policy.Views([]policy.Policy{p, q})
	if len(views) != 2 {
		t.Fatalf("%d views", len(views))
	}
	for i, want := range []string{view(t, p), view(t, q)} {
		if have, err := json.Marshal(views[i]); err != nil || string(have) != want {
			t.Errorf("%s, %v", have, err)
		}
	}
	if none := policy.Views(nil); none == nil || len(none) != 0 {
		t.Error("a list of none is not an empty list")
	}
}

// TestSchema: each member that reads always show is described, and a draft requires only a
// name.
func TestSchema(t *testing.T) {
	var read map[string]any
	if err := json.Unmarshal([]byte(view(t, make1(t, `{"name":"n"}`))), &read); err != nil {
		t.Fatal(err)
	}
	for _, schema := range []map[string]any{policy.Draft{}.Schema(), policy.View{}.Schema()} {
		described, err := json.Marshal(schema["properties"])
		if err != nil {
			t.Fatal(err)
		}
		var properties map[string]any
		if err := json.Unmarshal(described, &properties); err != nil {
			t.Fatal(err)
		}
		for _, name := range schema["required"].([]string) {
			if _, ok := read[name]; !ok {
				t.Errorf("%s is said to be always there", name)
			}
		}
		for _, name := range []string{"name", "rate", "access_rights", "tags", "partitions"} {
			if properties[name] == nil {
				t.Errorf("%s is not described", name)
			}
		}
	}
	if required := (policy.Draft{}).Schema()["required"].([]string); !slices.Equal(required, []string{"name"}) {
		t.Errorf("a draft needs %q", required)
	}
}
