package webhook_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/webhook"
)

// TestLoad states that a record is read by its exact names, that encoding/json decodes it to
// the same value, and that encoding it is the inverse.
func TestLoad(t *testing.T) {
	const stored = `{"id":"i","org_id":"o","webhook_id":"w","name":"n","method":"GET","target_path":"http://h","template_path":"t",` +
		`"header_map":{"B":"2"},"event_timeout":5,"api_model":{"x":1}}`
	for text, want := range map[string]string{
		stored: stored,
		`{"ID":"x","Org_Id":"y","id":"i","org_id":"o","unknown":1}`: `{"id":"i","org_id":"o","webhook_id":"","name":"","method":"","target_path":"","template_path":"","header_map":{},"event_timeout":0,"api_model":{}}`,
	} {
		h, err := webhook.Load([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		have, err := h.AppendJSON(nil)
		if err != nil || string(have) != want {
			t.Errorf("%s became %s, %v", text, have, err)
		}
		var decoded webhook.Hook
		if err := json.Unmarshal([]byte(text), &decoded); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if again, err := decoded.AppendJSON(nil); err != nil || string(again) != want {
			t.Errorf("%s was decoded as %s, %v", text, again, err)
		}
	}
	for _, text := range []string{``, `[]`, `{"id":5}`, `{"org_id":[]}`, `{"header_map":{"a":1}}`, `{"header_map":[]}`, `{"event_timeout":"5"}`} {
		if h, err := webhook.Load([]byte(text)); err == nil {
			t.Errorf("%s is %+v", text, h)
		}
	}
}

// TestSchemas states that the API description has all members of records, and that it requires
// the members without which a draft is refused.
func TestSchemas(t *testing.T) {
	h, err := webhook.New("i", "o", draft(t, `{"method":"GET","target_path":"http://h"}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := h.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	var record map[string]any
	if err := json.Unmarshal(text, &record); err != nil {
		t.Fatal(err)
	}
	properties := h.Schema()["properties"].(doc.Fields)
	for name := range record {
		if properties.Get(name) == nil || !slices.Contains(h.Schema()["required"].([]string), name) {
			t.Errorf("the description of a record has no %s", name)
		}
	}
	if len(properties) != len(record) {
		t.Errorf("a record has %d members, its description %d", len(record), len(properties))
	}
	for _, name := range (webhook.Draft{}).Schema()["required"].([]string) {
		all := `{"method":"GET","target_path":"http://h"}`
		without := strings.NewReplacer(`"`+name+`"`, `"x"`).Replace(all)
		if _, err := webhook.New("i", "o", draft(t, without)); err == nil {
			t.Errorf("%s is said to be required, and may be absent", name)
		}
	}
}
