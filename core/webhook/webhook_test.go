package webhook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/shape/shapetest"
	"github.com/gatehouse-io/gatehouse/core/webhook"
)

func draft(t testing.TB, text string) webhook.Draft {
	t.Helper()
	var d webhook.Draft
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestNew states that a record has only known members: decoders that ignore case would take
// the server's members in another spelling for the right ones.
func TestNew(t *testing.T) {
	for in, want := range map[string]string{
		`{"method":"POST","target_path":"https://h.example/x"}`: `{"id":"i","org_id":"o","webhook_id":"","name":"","method":"POST",` +
			`"target_path":"https://h.example/x","template_path":"","header_map":{},"event_timeout":0,"api_model":{}}`,
		`{"zeta":1.50e1,"id":"mine","org_id":"theirs","name":"n","method":"GET","target_path":"http://h","header_map":{"B":"2","a":"1"},"event_timeout":5,"api_model":{"x":[]},"webhook_id":"w","template_path":"t","alpha":{"b":1,"a":2}}`: `{"id":"i","org_id":"o","webhook_id":"w","name":"n","method":"GET",` +
			`"target_path":"http://h","template_path":"t","header_map":{"B":"2","a":"1"},"event_timeout":5,"api_model":{"x":[]}}`,
		`{"method":"DELETE","target_path":"http://h:1/?a=b","name":null,"header_map":null,"event_timeout":null,"api_model":null}`: `{"id":"i","org_id":"o","webhook_id":"","name":"","method":"DELETE",` +
			`"target_path":"http://h:1/?a=b","template_path":"","header_map":{},"event_timeout":0,"api_model":{}}`,
	} {
		h, err := webhook.New("i", "o", draft(t, in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		text, err := json.Marshal(h)
		if err != nil || string(text) != want {
			t.Errorf("%s became\n%s, want\n%s, %v", in, text, want, err)
		}
		again, err := webhook.Load([]byte(strings.TrimSuffix(string(text), "}") + `,"ORG_ID":"theirs","Id":"mine"}`))
		if second, _ := again.AppendJSON(nil); err != nil || string(second) != want {
			t.Errorf("loaded as %s, %v", second, err)
		}
	}
}

// TestSpelling checks that no known member in another letter case is accepted.
func TestSpelling(t *testing.T) {
	n := 0
	for c := range shapetest.Misspelt(webhook.Names) {
		n++
		var d webhook.Draft
		if err := json.Unmarshal([]byte(c.Text), &d); err == nil || !strings.HasPrefix(err.Error(), c.Path+" must be spelled ") {
			t.Errorf("%s: %v", c.Text, err)
		}
	}
	if n < 20 {
		t.Errorf("%d spellings", n)
	}
}

func TestInvalid(t *testing.T) {
	for in, field := range map[string]string{
		`{}`:                          "method",
		`{"target_path":"https://h"}`: "method",
		`{"method":"post","target_path":"https://h"}`:                  "method",
		`{"method":"HEAD","target_path":"https://h"}`:                  "method",
		`{"method":"POST"}`:                                            "target_path",
		`{"method":"POST","target_path":"/hooks"}`:                     "target_path",
		`{"method":"POST","target_path":"h.example"}`:                  "target_path",
		`{"method":"POST","target_path":"//h"}`:                        "target_path",
		`{"method":"POST","target_path":"ftp://h"}`:                    "target_path",
		`{"method":"POST","target_path":"http://:1"}`:                  "target_path",
		`{"method":"POST","target_path":"http://h:99999"}`:             "target_path",
		`{"method":"POST","target_path":"http://h","name":"a\u202eb"}`: "name",
		`{"method":"POST","target_path":"http://h\u0000"}`:             "target_path",
		`{"method":"POST","target_path":"http://h","header_map":{"a":"` + strings.Repeat("x", webhook.MaxBytes) + `"}}`: "header_map",
	} {
		_, err := webhook.New("i", "o", draft(t, in))
		f, _ := errors.AsType[*fault.Error](err)
		if f == nil || f.Kind != fault.Invalid || f.Code != webhook.CodeInvalid || f.Field != field {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// TestWrongTypes: members have the types of the gateway's event handler, since a wrong type
// would make a whole feed invalid.
func TestWrongTypes(t *testing.T) {
	for in, field := range map[string]string{
		`{"name":7}`: "name", `{"method":{}}`: "method", `{"target_path":[]}`: "target_path", `{"template_path":true}`: "template_path",
		`{"webhook_id":1}`: "webhook_id", `{"header_map":[]}`: "header_map", `{"header_map":{"a":1}}`: "header_map.a", `{"header_map":{"a":null}}`: "header_map.a",
		`{"event_timeout":"5"}`: "event_timeout", `{"event_timeout":1.5}`: "event_timeout", `{"event_timeout":1e3}`: "event_timeout",
	} {
		var d webhook.Draft
		err := json.Unmarshal([]byte(in), &d)
		if f, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok || f.Field != field {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, in := range []string{`[]`, `null`, `"x"`, `{"api_model":[]}`} {
		var d webhook.Draft
		if json.Unmarshal([]byte(in), &d) == nil {
			t.Errorf("%s is a draft", in)
		}
	}
}

// TestReplace: members that are absent from a replacement become empty.
func TestReplace(t *testing.T) {
	h, err := webhook.New("i", "o", draft(t, `{"name":"n","webhook_id":"w","method":"POST","target_path":"http://h","header_map":{"a":"b"},"more":1}`))
	if err != nil {
		t.Fatal(err)
	}
	after, err := h.Replace(draft(t, `{"method":"PUT","target_path":"http://g"}`))
	if text, _ := after.AppendJSON(nil); err != nil || string(text) != `{"id":"i","org_id":"o","webhook_id":"","name":"","method":"PUT","target_path":"http://g",`+
		`"template_path":"","header_map":{},"event_timeout":0,"api_model":{}}` {
		t.Errorf("%s, %v", text, err)
	}
	if h.Name != "n" || h.WebhookID != "w" {
		t.Error("the webhook before has changed")
	}
}

func ExampleHandler() {
	h, err := webhook.New("5f00000000000000000000e1", "o", webhook.Draft{Name: "hook1", Method: "POST", TargetPath: "https://hooks.example/auth", EventTimeout: 10})
	fmt.Println(string(webhook.Handler(h, nil).JSON()), err)
	// Output:
	// {"id":"5f00000000000000000000e1","name":"hook1","disabled":false,"method":"POST","target_path":"https://hooks.example/auth","template_path":"","header_map":{},"event_timeout":10} <nil>
}

// FuzzDraft: a decoded draft is stored and read again unchanged, and the handler made from it
// has the gateway's types.
func FuzzDraft(f *testing.F) {
	f.Add(`{"method":"POST","target_path":"https://h","header_map":{"a":"b"},"x":{"y":[1.0]}}`)
	f.Add(`{"method":"POST","target_path":"https://h","event_timeout":9223372036854775807,"name":"\ud800"}`)
	f.Add(`{"header_map":{"":"","":"x"},"api_model":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var d webhook.Draft
		if json.Unmarshal([]byte(text), &d) != nil {
			return
		}
		h, err := webhook.New("i", "o", d)
		if err != nil {
			return
		}
		first, err := h.AppendJSON(nil)
		if err != nil || doc.Check(first, 0) != nil {
			t.Fatalf("%s: %v", first, err)
		}
		again, err := webhook.Load(first)
		if err != nil {
			t.Fatal(err)
		}
		if second, _ := again.AppendJSON(nil); string(second) != string(first) {
			t.Errorf("%s\nloaded as\n%s", first, second)
		}
		var meta struct {
			ID, Name, Method string
			Disabled         bool
			Target           string            `json:"target_path"`
			Template         string            `json:"template_path"`
			Headers          map[string]string `json:"header_map"`
			Timeout          int64             `json:"event_timeout"`
		}
		if err := json.Unmarshal(webhook.Handler(h, nil).JSON(), &meta); err != nil || meta.Target == "" || !strings.HasPrefix(meta.Target, "http") {
			t.Errorf("%s: %v", webhook.Handler(h, nil).JSON(), err)
		}
	})
}
